"""The parts of allauth that we offer, under the names that allauth expects. There is no sign-up."""

from allauth.account import views
from django.conf import settings
from django.urls import URLPattern, path

from memadmin.accounts import views_factor

urlpatterns: list[URLPattern] = [
    path("login/", views.login, name="account_login"),
    path("logout/", views.logout, name="account_logout"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("password/change/", views.password_change, name="account_change_password"),
    path("password/set/", views.password_set, name="account_set_password"),
    path("code/", views_factor.code_at_sign_in, name="mfa_authenticate"),
    path("again/", views.reauthenticate, name="account_reauthenticate"),
    path("again/code/", views_factor.code_again, name="mfa_reauthenticate"),
]

if settings.OIDC_ISSUER:
    from memadmin.accounts import views_company

    urlpatterns += [
        path("company/", views_company.start, name="company_start"),
        path("company/join/", views_company.join, name="company_join"),
        path(
            "company/callback/",
            views_company.callback,
            {"provider_id": settings.OIDC_ID},
            name="openid_connect_callback",
        ),
    ]
