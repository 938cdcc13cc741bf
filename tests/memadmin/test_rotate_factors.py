"""`memadmin rotate-keys` and `check` know the secrets of second factors too."""

import json
from io import StringIO
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import LazySettings
from django.core.management import call_command

from banks import crypto
from memadmin import rotation
from memadmin.diagnosis.servers import keys
from tests.conftest import People

OLD, NEW = "the old key", "the new key"


@pytest.fixture
def factor(people: People, settings: LazySettings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    settings.ENCRYPTION_KEYS = [OLD]
    TOTP.activate(people.reviewer, "JBSWY3DPEHPK3PXP")
    RecoveryCodes.activate(people.reviewer)


def test_both_move_under_the_first_key(factor: None, settings: LazySettings) -> None:
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    out = StringIO()
    call_command("rotate_keys", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert [(each["server"], each["secret"], each["outcome"]) for each in told["secrets"]] == [
        ("mira", "second factor", rotation.MOVED),
        ("mira", "recovery codes", rotation.MOVED),
    ]
    assert told["unused_keys"] == [2]
    settings.ENCRYPTION_KEYS = [NEW]
    assert crypto.decrypt(Authenticator.objects.get(type="totp").data["secret"]) == "JBSWY3DPEHPK3PXP"


def test_a_code_that_is_used_meanwhile_stays_used(
    factor: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    codes = Authenticator.objects.get(type="recovery_codes")
    encrypt = crypto.encrypt

    def use_one(secret: str) -> str:
        monkeypatch.setattr(crypto, "encrypt", encrypt)
        Authenticator.objects.filter(pk=codes.pk).update(data={**codes.data, "used_mask": 1})
        return encrypt(secret)

    monkeypatch.setattr(crypto, "encrypt", use_one)
    rotation.rotate()
    codes.refresh_from_db()
    assert (codes.data["used_mask"], crypto.key_of(codes.data["seed"])) == (1, 0)


def test_what_no_key_opens_is_named_by_check(factor: None, settings: LazySettings) -> None:
    settings.ENCRYPTION_KEYS = [NEW]
    found = [(each.what, each.fix) for each in keys()]
    assert "The second factor of mira cannot be read" in found[0][0]
    assert "memadmin reset-factor" in found[0][1]
    assert "The recovery codes of mira cannot be read" in found[1][0]
