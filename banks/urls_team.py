"""The team, its roles and its API tokens; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import account, groups, members, team, tokens

urlpatterns: list[URLPattern] = [
    path("members/<int:pk>/role/", members.member_role, name="member-role"),
    path("members/<int:pk>/remove/", members.member_remove, name="member-remove"),
    path("banks/<int:pk>/members/group/", groups.bank_group_add, name="bank-group-add"),
    path("servers/<int:pk>/members/group/", groups.server_group_add, name="server-group-add"),
    path("groups/roles/<int:pk>/role/", groups.role_change, name="group-role"),
    path("groups/roles/<int:pk>/remove/", groups.role_take, name="group-role-remove"),
    path("groups/people/<int:pk>/remove/", groups.member_remove, name="group-member-remove"),
    path("team/", team.person_list, name="person-list"),
    path("team/invite/", team.person_new, name="person-new"),
    path("team/groups/", groups.group_list, name="group-list"),
    path("groups/<int:pk>/", groups.group_detail, name="group-detail"),
    path("groups/<int:pk>/rename/", groups.group_rename, name="group-rename"),
    path("groups/<int:pk>/remove/", groups.group_remove, name="group-remove"),
    path("groups/<int:pk>/add/", groups.group_add, name="group-add"),
    path("settings/account/", account.account, name="account"),
    path("team/changes/", team.event_list, name="event-list"),
    path("team/tokens/", tokens.token_list_all, name="token-list-all"),
    path("settings/tokens/", tokens.token_list, name="token-list"),
    path("settings/tokens/<int:pk>/revoke/", tokens.token_revoke, name="token-revoke"),
    path("team/<int:pk>/", team.person_detail, name="person-detail"),
    path("team/<int:pk>/close/", team.person_close, name="person-close"),
    path("team/<int:pk>/reopen/", team.person_reopen, name="person-reopen"),
    path("team/<int:pk>/operator/", team.person_operator, name="person-operator"),
    path("team/<int:pk>/operator/end/", team.person_operator_end, name="person-operator-end"),
    path("team/<int:pk>/identity/end/", team.person_identity_end, name="person-identity-end"),
    path("team/<int:pk>/unlock/", team.person_unlock, name="person-unlock"),
    path("team/<int:pk>/factor/reset/", team.person_factor_reset, name="person-factor-reset"),
    path("team/<int:pk>/invite/", team.person_invite, name="person-invite"),
]
