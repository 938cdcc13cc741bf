"""The recall desk; included by `reviews.urls`, in its namespace."""

from django.urls import URLPattern, path

from reviews.views import recall, recall_checks, recall_facts, reflect

urlpatterns: list[URLPattern] = [
    path("banks/<int:pk>/recall/", recall.bank_recall, name="bank-recall"),
    path("banks/<int:pk>/reflect/", reflect.bank_reflect, name="bank-reflect"),
    path("recall/queries/<int:pk>/", recall.recall_query, name="recall-query"),
    path("recall/queries/<int:pk>/save/", recall.recall_save, name="recall-save"),
    path("recall/queries/<int:pk>/retire/", recall_facts.recall_fact_retire, name="recall-fact-retire"),
    path("recall/queries/<int:pk>/restore/", recall_facts.recall_fact_restore, name="recall-fact-restore"),
    path("recall/queries/<int:pk>/edit/", recall_facts.recall_fact_edit, name="recall-fact-edit"),
    path("recall/reflections/<int:pk>/", reflect.recall_reflection, name="recall-reflection"),
    path("recall/checks/", recall_checks.recall_check_list, name="recall-check-list"),
    path("recall/checks/<int:pk>/", recall_checks.recall_check, name="recall-check"),
    path("recall/checks/<int:pk>/ask/", recall_checks.recall_check_ask, name="recall-check-ask"),
    path("recall/checks/<int:pk>/drop/", recall_checks.recall_check_drop, name="recall-check-drop"),
    path("recall/checks/<int:pk>/remove/", recall_checks.recall_check_remove, name="recall-check-remove"),
]
