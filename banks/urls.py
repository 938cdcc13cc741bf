from django.urls import path

from banks.views import log

app_name = "banks"

urlpatterns = [
    path("log/", log.write_list, name="write-list"),
    path("log/<int:pk>/", log.write_detail, name="write-detail"),
    path("log/<int:pk>/retry/", log.write_retry, name="write-retry"),
    path("log/<int:pk>/discard/", log.write_discard, name="write-discard"),
]
