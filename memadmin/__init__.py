"""memadmin: the review desk for agent memory."""

__version__ = "0.1.0"

from memadmin.celery import app as celery_app

__all__ = ["__version__", "celery_app"]
