"""Servers; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import members, servers

urlpatterns: list[URLPattern] = [
    path("servers/", servers.server_list, name="server-list"),
    path("servers/new/", servers.server_new, name="server-new"),
    path("servers/<int:pk>/", servers.server_detail, name="server-detail"),
    path("servers/<int:pk>/edit/", servers.server_edit, name="server-edit"),
    path("servers/<int:pk>/key/", servers.server_key, name="server-key"),
    path("servers/<int:pk>/ask/", servers.server_ask, name="server-ask"),
    path("servers/<int:pk>/pause/", servers.server_pause, name="server-pause"),
    path("servers/<int:pk>/resume/", servers.server_resume, name="server-resume"),
    path("servers/<int:pk>/remove/", servers.server_remove, name="server-remove"),
    path("servers/<int:pk>/members/", members.server_members, name="server-members"),
    path("servers/<int:pk>/members/add/", members.server_member_add, name="server-member-add"),
]
