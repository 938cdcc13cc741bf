from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "memadmin.accounts"
    label = "accounts"
    verbose_name = "Accounts"
