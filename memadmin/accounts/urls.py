from django.urls import path

from memadmin.accounts import views, views_factor

app_name = "accounts"

urlpatterns = [
    path("link/<str:token>/", views.link, name="link"),
    path("second-factor/", views_factor.factor_detail, name="factor-detail"),
    path("second-factor/add/", views_factor.factor_add, name="factor-add"),
    path("second-factor/picture.svg", views_factor.factor_qr, name="factor-qr"),
    path("second-factor/codes/", views_factor.factor_codes, name="factor-codes"),
    path("second-factor/remove/", views_factor.factor_remove, name="factor-remove"),
]
