from django.urls import path

from memadmin.accounts import views

app_name = "accounts"

urlpatterns = [
    path("link/<str:token>/", views.link, name="link"),
]
