from django.urls import path

from banks.views import log

app_name = "banks"

urlpatterns = [
    path("log/", log.write_list, name="write-list"),
]
