from django.urls import URLPattern, URLResolver, path

from reviews.views import overview, queue

app_name = "reviews"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("reviews/", queue.entry_list, name="entry-list"),
]
