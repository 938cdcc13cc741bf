"""memadmin: the review desk for agent memory."""

__version__ = "0.1.0"
