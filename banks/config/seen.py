"""What a page showed of a bank's configuration, carried by its form: a change is decided on that alone."""

import json
from dataclasses import dataclass
from typing import Any

from django.core import signing

from banks import connections
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightError, NotFound
from banks.models import Bank

CALL_SECONDS = 5.0
NOT_ASKED = "The server does not answer just now, so it was not asked."
GONE = "There is no such bank on its server."
UNADDRESSABLE = "No server can address this bank: its id has a slash."


@dataclass(frozen=True)
class Seen:
    """`values`: all settings as they hold for the bank; `overrides`: those that are its own."""

    values: dict[str, Any]
    overrides: dict[str, Any]

    def signed(self, bank: Bank) -> str:
        return signing.dumps([self.values, self.overrides], salt=_salt(bank), compress=True)

    @classmethod
    def unsigned(cls, bank: Bank, text: str) -> "Seen | None":
        """None for what no page of this bank has carried."""
        try:
            values, overrides = signing.loads(text, salt=_salt(bank))
        except (signing.BadSignature, ValueError):
            return None
        return cls(values, overrides)


@dataclass(frozen=True)
class Reading:
    """`seen` None = could not be read, and `why`."""

    seen: Seen | None
    why: str = ""


def read(bank: Bank) -> Reading:
    """Asks the server, within the time that a fragment may take. Creates nothing."""
    if not bank.addressable:
        return Reading(None, UNADDRESSABLE)
    if connections.paused_until(bank.server):
        return Reading(None, NOT_ASKED)
    try:
        with connections.talking_to(bank.server, within=CALL_SECONDS) as client:
            config = client.bank_config(bank.bank_id)
    except NotFound as error:
        return Reading(None, GONE if error.what == "bank" else str(error))
    except HindsightError as error:
        return Reading(None, str(error))
    except CannotDecrypt as error:
        return Reading(None, f"The stored key cannot be read: {error}.")
    return Reading(Seen(config.values, config.overrides))


def dump(values: dict[str, Any]) -> str:
    """Settings as the text of a blob: one to a line, always in the same order."""
    text = json.dumps(values, ensure_ascii=False, indent=2, sort_keys=True)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half a character, which a server may hold and no blob can
        return json.dumps(values, indent=2, sort_keys=True)
    return text


def _salt(bank: Bank) -> str:
    return f"banks.config.{bank.pk}"
