from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.core import context
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone

from memadmin.accounts import factor, limits
from memadmin.accounts.models import User

MISMATCH = "Name and password do not match."
HELP = "A one-time link works at once: whoever runs memadmin can make one, or unlock the name."
FRESH_SECONDS = 300


class ClosedSignupAdapter(DefaultAccountAdapter):
    """People are added by an operator or an admin; nobody signs up by themselves."""

    # One text, whether or not the name exists.
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": MISMATCH,
        "email_password_mismatch": MISMATCH,
        "too_many_login_attempts": "Too many tries. Wait some minutes, then try again.",
        "incorrect_password": "That is not your password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Every look at a password is counted first, here and where a page asks for it once more."""
        name = credentials.get("username") or credentials.get("email") or ""
        try:
            taken = limits.take(name=name, address=self.get_client_ip(request))
        except limits.TooMany as refused:
            raise ValidationError(f"{refused} {HELP}" if refused.name else str(refused)) from refused
        person = super().authenticate(request, **credentials)
        if not isinstance(person, User):
            return None
        limits.forgive(taken)
        return person

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Counted above, where it does not rest on the cache."""

    def get_login_stages(self) -> list[str]:
        """Our own: allauth's would load everything for keys that we do not offer."""
        return ["memadmin.accounts.stages.CodeStage"]

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """The second factor first, where there is one: a password alone does not change it."""
        return list(reversed(super().get_reauthentication_methods(user)))

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Not of who has just signed in, nor of who has nothing to be asked for (they came by a link). Where there is a
        second factor, only having shown that counts."""
        request = context.request
        if not get_reauthentication_flows(request.user):
            return False
        records = get_authentication_records(request, request.user)
        if factor.has_one(request.user):
            records = [record for record in records if record["method"] == "mfa"]
        latest = max((record["at"] for record in records), default=0.0)
        return bool(latest < timezone.now().timestamp() - FRESH_SECONDS)

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        """Where the session at the company goes on, the next page says so."""
        to = super().get_logout_redirect_url(request)
        person: Any = request.user
        records = get_authentication_records(request, person)
        return f"{to}?left=company" if any(record["method"] == "socialaccount" for record in records) else str(to)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Not the same form once more: who has just chosen a password wants to work."""
        return str(settings.LOGIN_REDIRECT_URL)
