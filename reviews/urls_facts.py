from django.urls import path

from reviews.views import bank_facts, extraction, facts, retired

urlpatterns = [
    path("reviews/<int:pk>/facts/", facts.fact_list, name="fact-list"),
    path("reviews/<int:pk>/facts/retire/", facts.fact_retire, name="fact-retire"),
    path("reviews/<int:pk>/facts/restore/", facts.fact_restore, name="fact-restore"),
    path("reviews/<int:pk>/facts/edit/", facts.fact_edit, name="fact-edit"),
    path("reviews/<int:pk>/extract/", extraction.entry_extract, name="entry-extract"),
    path("banks/<int:pk>/facts/", bank_facts.bank_fact_list, name="bank-facts"),
    path("banks/<int:pk>/facts/retire/", bank_facts.bank_fact_retire, name="bank-fact-retire"),
    path("banks/<int:pk>/facts/restore/", bank_facts.bank_fact_restore, name="bank-fact-restore"),
    path("banks/<int:pk>/facts/edit/", bank_facts.bank_fact_edit, name="bank-fact-edit"),
    path("banks/<int:pk>/facts/impact/", bank_facts.bank_fact_impact, name="bank-fact-impact"),
    path("banks/<int:pk>/facts/sources/", bank_facts.bank_fact_sources, name="bank-fact-sources"),
    path("facts/questions/<int:pk>/apply/", facts.question_apply, name="question-apply"),
    path("facts/questions/<int:pk>/let-go/", facts.question_let_go, name="question-let-go"),
    path("facts/retired/", retired.retired_list, name="retired-list"),
    path("facts/retired/export/", retired.retired_export_file, name="retired-export"),
    path("facts/retired/restore/", retired.retired_restore_picked, name="retired-restore-picked"),
    path("facts/retired/restore-all/", retired.retired_restore_all, name="retired-restore-all"),
    path("facts/retired/look/<int:pk>/", retired.retired_look, name="retired-look"),
    path("facts/retired/<int:pk>/restore/", retired.retired_restore, name="retired-restore"),
    path("facts/retired/<int:pk>/let-go/", retired.retired_let_go, name="retired-let-go"),
    path("facts/retired/jobs/<int:pk>/", retired.retired_job, name="retired-job"),
    path("facts/retired/jobs/<int:pk>/stop/", retired.retired_stop, name="retired-stop"),
    path("facts/retired/jobs/<int:pk>/undo/", retired.retired_undo, name="retired-undo"),
    path("log/<int:pk>/restore/", facts.write_restore, name="write-restore"),
]
