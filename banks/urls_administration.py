"""What admins do to a bank itself and to how it is set; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import configuration, whole

urlpatterns: list[URLPattern] = [
    path("banks/new/", whole.bank_new, name="bank-new"),
    path("banks/<int:pk>/configuration/", configuration.bank_config, name="bank-config"),
    path("banks/<int:pk>/configuration/mission/", configuration.bank_mission, name="bank-config-mission"),
    path("banks/<int:pk>/configuration/copy/", configuration.bank_config_copy, name="bank-config-copy"),
    path("banks/<int:pk>/configuration/export/", whole.bank_export, name="bank-config-export"),
    path("banks/<int:pk>/rename/", whole.bank_rename, name="bank-rename"),
    path("banks/<int:pk>/delete/", whole.bank_delete, name="bank-delete"),
    path("banks/<int:pk>/delete/undo/", whole.bank_keep, name="bank-keep"),
]
