from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"

    def ready(self) -> None:
        from reviews import after_policy, after_write, pages  # noqa: F401  what banks is to know of us
        from reviews.bulk import deciding, undoing  # noqa: F401  bring their kinds of jobs
        from reviews.curation import archive, elsewhere  # noqa: F401  the same
        from reviews.health import job as _health  # noqa: F401  the same
        from reviews.importing import assign, job, log_job  # noqa: F401  the same
        from reviews.services import held_entries, look_back  # noqa: F401  a hook of banks, and the same
