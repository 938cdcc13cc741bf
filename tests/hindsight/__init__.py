"""A real Hindsight server for the contract tests: its own environment, PostgreSQL, a stand-in for the model, the API.

`python -m tests.hindsight up` starts it and leaves it running, `down` stops it.
"""
