"""The configuration of the agents' tool (`hindsight.json`): which file wins for each key, and how it is saved."""
