"""A real PostgreSQL and a real Redis for the suite: temporary, on unix sockets, ended with the command they were for.

`python -m tests.services run -- COMMAND` runs the command beside them. See `servers` for what the command is told.
"""
