from django.apps import AppConfig


class BanksConfig(AppConfig):
    name = "banks"

    def ready(self) -> None:
        from banks import checks, fact_kinds, imported_kinds, kinds, reprocess_kind  # noqa: F401  checks, and kinds
        from banks.retain import batch  # noqa: F401  another kind
        from banks.services import ask  # noqa: F401  brings its kind of job
