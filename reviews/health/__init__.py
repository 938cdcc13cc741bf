"""How the facts of a bank are in all: counted by a worker on request, kept with the facts behind each number."""
