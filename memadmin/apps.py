from django.apps import AppConfig


class MemadminConfig(AppConfig):
    name = "memadmin"

    def ready(self) -> None:
        # Registers the system checks, and makes our Celery application the one that tasks belong to. Not in
        # `memadmin/__init__`: the supervisor needs neither.
        from memadmin import celery, checks  # noqa: F401
