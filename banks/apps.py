from django.apps import AppConfig


class BanksConfig(AppConfig):
    name = "banks"

    def ready(self) -> None:
        from banks import (  # noqa: F401  checks, and kinds
            checks,
            directive_kinds,
            fact_kinds,
            held_kinds,
            imported_kinds,
            kinds,
            making_kinds,
            model_kinds,
            operation_kinds,
            reprocess_kind,
            tags_kind,
        )
        from banks.blocks import frozen  # noqa: F401  its kind of job
        from banks.blocks import trials as block_trials  # noqa: F401  its kind of job
        from banks.config import kind as config_kind  # noqa: F401  more of them
        from banks.files import kind  # noqa: F401
        from banks.mental import acts as mental  # noqa: F401  what follows a write
        from banks.mental import trials  # noqa: F401  its kind of job
        from banks.numbers import job  # noqa: F401  its kind of job
        from banks.operations import acts  # noqa: F401  its kind of job
        from banks.recall import recalling, reflecting  # noqa: F401  their kinds of job
        from banks.retain import batch  # noqa: F401  another kind
        from banks.seeds import policy  # noqa: F401  a kind of job, and what follows a write
        from banks.services import ask, bank_search, dry_runs  # noqa: F401  bring their kinds of job
        from banks.transfer import exporting, importing  # noqa: F401  their kinds of job
        from banks.transfer import kinds as transfer_kinds  # noqa: F401  another kind
        from banks.webhooks import kinds as webhook_kinds  # noqa: F401  two more
        from banks.whole import kinds as whole_kinds  # noqa: F401  the last
