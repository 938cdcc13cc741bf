from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest

MISMATCH = "Name and password do not match."


class ClosedSignupAdapter(DefaultAccountAdapter):
    """People are added by an operator or an admin; nobody signs up by themselves."""

    # One text, whether or not the name exists.
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": MISMATCH,
        "email_password_mismatch": MISMATCH,
        "too_many_login_attempts": "Too many tries. Wait five minutes, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Not the same form once more: who has just chosen a password wants to work."""
        return str(settings.LOGIN_REDIRECT_URL)
