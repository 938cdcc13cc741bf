"""Seeds and mental models; included by `banks.urls`, in its namespace. A model's own id travels in query or body."""

from django.urls import URLPattern, path

from banks.views import blocks, model_acts, model_trials, models, seeding, seeds

urlpatterns: list[URLPattern] = [
    path("models/", seeds.seed_list, name="seed-list"),
    path("models/new/", seeds.seed_new, name="seed-new"),
    path("models/import/", seeds.seed_import, name="seed-import"),
    path("models/export/", seeds.seed_export, name="seed-export"),
    path("models/<int:pk>/", seeds.seed_edit, name="seed-edit"),
    path("models/<int:pk>/remove/", seeds.seed_remove, name="seed-remove"),
    path("models/agents-file/", blocks.agents_file, name="agents-file"),
    path("models/told/<int:pk>/", blocks.agents_told, name="agents-told"),
    path("models/seed/", seeding.seeding_new, name="seeding-new"),
    path("models/seedings/<int:pk>/", seeding.seeding_detail, name="seeding-detail"),
    path("models/seedings/<int:pk>/create/", seeding.seeding_create, name="seeding-create"),
    path("models/trials/<int:pk>/", model_trials.model_trial, name="model-trial"),
    path("banks/<int:pk>/models/", models.model_list, name="bank-model-list"),
    path("banks/<int:pk>/models/show/", models.model_detail, name="bank-model-detail"),
    path("banks/<int:pk>/models/evidence/", models.model_evidence, name="bank-model-evidence"),
    path("banks/<int:pk>/models/history/", models.model_history, name="bank-model-history"),
    path("banks/<int:pk>/models/block/", blocks.model_block, name="bank-model-block"),
    path("banks/<int:pk>/models/try/", model_trials.model_try, name="bank-model-try"),
    path("banks/<int:pk>/models/refresh/", model_acts.model_refresh, name="bank-model-refresh"),
    path("banks/<int:pk>/models/refresh-all/", model_acts.model_refresh_all, name="bank-model-refresh-all"),
    path("banks/<int:pk>/models/delete/", model_acts.model_delete, name="bank-model-delete"),
    path("banks/<int:pk>/models/pin/", model_acts.model_pin, name="bank-model-pin"),
    path("banks/<int:pk>/models/unpin/", model_acts.model_unpin, name="bank-model-unpin"),
    path("log/<int:pk>/put-model-back/", model_acts.model_put_back, name="write-put-model-back"),
]
