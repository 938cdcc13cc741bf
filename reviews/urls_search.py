"""Search; included by `reviews.urls`, in its namespace."""

from django.urls import URLPattern, path

from reviews.views import bank_search, search

urlpatterns: list[URLPattern] = [
    path("search/", search.search, name="search"),
    path("search/ask/", bank_search.search_ask, name="search-ask"),
    path("search/asked/<int:pk>/", bank_search.search_asked, name="search-asked"),
    path("search/asked/<int:pk>/stop/", bank_search.search_stop, name="search-stop"),
]
