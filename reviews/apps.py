from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"

    def ready(self) -> None:
        from reviews import after_write  # noqa: F401  tells the door what happens after writes of documents
        from reviews.importing import assign, job  # noqa: F401  bring their kinds of jobs
        from reviews.services import look_back  # noqa: F401  the same
