from django.apps import AppConfig


class BanksConfig(AppConfig):
    name = "banks"

    def ready(self) -> None:
        from banks import checks, fact_kinds, kinds, reprocess_kind  # noqa: F401  system checks and the door's kinds
        from banks.services import ask  # noqa: F401  brings its kind of job
