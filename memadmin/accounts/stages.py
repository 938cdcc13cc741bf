"""What is asked of who signs in, after the password, the link or the company: the code of a second factor."""

from typing import Any

from allauth.account.stages import LoginStage
from django.http import HttpResponse
from django.shortcuts import redirect

from memadmin.accounts import factor


class CodeStage(LoginStage):
    key = "mfa_authenticate"
    urlname = "mfa_authenticate"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        person: Any = self.login.user
        if person is None or not factor.has_one(person):
            return None, True
        return redirect(self.urlname), True
