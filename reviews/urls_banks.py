"""Pages of a bank that lead into its reviews; included by `reviews.urls`, in its namespace."""

from django.urls import path

from reviews.views import bank_documents, bank_entities, bank_health

urlpatterns = [
    path("banks/<int:pk>/documents/", bank_documents.bank_document_list, name="bank-documents"),
    path("banks/<int:pk>/documents/document/", bank_documents.bank_document, name="bank-document"),
    path("banks/<int:pk>/documents/document/tags/", bank_documents.bank_document_tags, name="bank-document-tags"),
    path("banks/<int:pk>/documents/document/card/", bank_documents.bank_document_card, name="bank-document-card"),
    path("banks/<int:pk>/entities/", bank_entities.bank_entity_list, name="bank-entities"),
    path("banks/<int:pk>/entities/entity/", bank_entities.bank_entity, name="bank-entity"),
    path("banks/<int:pk>/health/", bank_health.bank_health, name="bank-health"),
    path("banks/<int:pk>/health/count/", bank_health.bank_health_start, name="bank-health-start"),
    path("banks/<int:pk>/health/facts/", bank_health.bank_health_facts, name="bank-health-facts"),
]
