"""The team, its roles and its API tokens; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import members, team, tokens

urlpatterns: list[URLPattern] = [
    path("members/<int:pk>/role/", members.member_role, name="member-role"),
    path("members/<int:pk>/remove/", members.member_remove, name="member-remove"),
    path("team/", team.person_list, name="person-list"),
    path("team/changes/", team.event_list, name="event-list"),
    path("team/tokens/", tokens.token_list_all, name="token-list-all"),
    path("settings/tokens/", tokens.token_list, name="token-list"),
    path("settings/tokens/<int:pk>/revoke/", tokens.token_revoke, name="token-revoke"),
    path("team/<int:pk>/", team.person_detail, name="person-detail"),
    path("team/<int:pk>/close/", team.person_close, name="person-close"),
    path("team/<int:pk>/reopen/", team.person_reopen, name="person-reopen"),
    path("team/<int:pk>/invite/", team.person_invite, name="person-invite"),
]
