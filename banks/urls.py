from django.urls import URLPattern, path

from banks.urls_administration import urlpatterns as administration
from banks.urls_banks import urlpatterns as banks
from banks.urls_models import urlpatterns as models
from banks.urls_operations import urlpatterns as operations
from banks.urls_retain import urlpatterns as retain
from banks.urls_servers import urlpatterns as servers
from banks.urls_team import urlpatterns as team
from banks.views import log, prompts

app_name = "banks"

urlpatterns: list[URLPattern] = [
    path("log/", log.write_list, name="write-list"),
    path("log/export.jsonl", log.write_export, {"as_": "jsonl"}, name="write-export-jsonl"),
    path("log/export.csv", log.write_export, {"as_": "csv"}, name="write-export-csv"),
    path("log/<int:pk>/", log.write_detail, name="write-detail"),
    path("log/<int:pk>/retry/", log.write_retry, name="write-retry"),
    path("log/<int:pk>/discard/", log.write_discard, name="write-discard"),
    path("log/<int:pk>/prompt/", prompts.write_prompt, name="write-prompt"),
    *administration,
    *banks,
    *models,
    *operations,
    *retain,
    *servers,
    *team,
]
