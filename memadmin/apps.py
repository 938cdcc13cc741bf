from django.apps import AppConfig


class MemadminConfig(AppConfig):
    name = "memadmin"

    def ready(self) -> None:
        from memadmin import checks  # noqa: F401  registers the system checks
