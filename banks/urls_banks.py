"""Banks; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import banks, members

urlpatterns: list[URLPattern] = [
    path("banks/", banks.bank_list, name="bank-list"),
    path("banks/<int:pk>/policy/", banks.bank_policy, name="bank-policy"),
    path("banks/<int:pk>/members/", members.bank_members, name="bank-members"),
    path("banks/<int:pk>/members/add/", members.bank_member_add, name="bank-member-add"),
]
