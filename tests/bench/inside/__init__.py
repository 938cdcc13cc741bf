"""Called by name in a process with Django and a database of its own (tests.bench.world)."""
