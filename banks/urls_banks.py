"""Banks; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import banks, directives, members, person, transfer, webhooks

urlpatterns: list[URLPattern] = [
    path("banks/", banks.bank_list, name="bank-list"),
    path("banks/refresh/", banks.bank_refresh, name="bank-refresh"),
    path("banks/<int:pk>/", banks.bank_detail, name="bank-detail"),
    path("banks/<int:pk>/policy/", banks.bank_policy, name="bank-policy"),
    path("banks/<int:pk>/person/", person.bank_person, name="bank-person"),
    path("banks/<int:pk>/person/clear/", person.bank_person_clear, name="bank-person-clear"),
    path("banks/<int:pk>/directives/", directives.directive_list, name="directive-list"),
    path("banks/<int:pk>/directives/add/", directives.directive_add, name="directive-add"),
    path("banks/<int:pk>/directives/edit/", directives.directive_edit, name="directive-edit"),
    path("banks/<int:pk>/directives/switch/", directives.directive_switch, name="directive-switch"),
    path("banks/<int:pk>/directives/delete/", directives.directive_delete, name="directive-delete"),
    path("banks/<int:pk>/export/", transfer.bank_export, name="bank-export"),
    path("banks/<int:pk>/export/file/", transfer.bank_export_file, name="bank-export-file"),
    path("banks/<int:pk>/import/", transfer.bank_import, name="bank-import"),
    path("banks/<int:pk>/import/plan/", transfer.bank_import_plan, name="bank-import-plan"),
    path("banks/<int:pk>/import/begin/", transfer.bank_import_begin, name="bank-import-begin"),
    path("banks/<int:pk>/clone/", transfer.bank_clone, name="bank-clone"),
    path("banks/<int:pk>/webhook/", webhooks.bank_webhook, name="bank-webhook"),
    path("banks/<int:pk>/webhook/register/", webhooks.bank_webhook_register, name="bank-webhook-register"),
    path("banks/<int:pk>/webhook/remove/", webhooks.bank_webhook_remove, name="bank-webhook-remove"),
    # Without a slash at its end: whoever calls it follows no redirect.
    path("hooks/hindsight/<slug:token>", webhooks.webhook_receive, name="webhook-receive"),
    path("banks/<int:pk>/members/", members.bank_members, name="bank-members"),
    path("banks/<int:pk>/members/add/", members.bank_member_add, name="bank-member-add"),
]
