"""The kind of write that changes how a bank is set: only what was asked, only over what was seen, and read back."""

import json
import re
from collections.abc import Mapping
from typing import Any

from banks.config.fields import same, text_of
from banks.hindsight import HindsightClient, Invalid
from banks.models import Bank, Blob, Role, Write
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, Stuck, register
from banks.writes.kind import config_slot

KIND = "config"
NO_BANK = (
    "This bank is not on its server. Nothing was sent, since that would have created an empty bank of that name. "
    "Create the bank first, or discard this."
)
ERASED = "Our copy of what was asked for was erased, so nothing was sent. Discard this."
REFUSED = "The server refused {}, and changed nothing. It said: {}"
MOVED = "Somebody else changed {} since it was shown to you. Nothing was changed; look at it and decide again."
NOT_KEPT = "The server said yes and did not keep {}. What it did keep is shown on the page of the configuration."
DIFFERS = "No answer came, and {} is now neither what it was nor what was asked for. Look at it and decide again."


@register
class Configure(Kind):
    """`request`: {setting: value} as JSON, null = inherit again; `before`: what the bank had of its own of them."""

    name, glyph, verb, past, tone = KIND, "◎", "configure", "configured", "none"
    role = Role.ADMIN

    def slot(self, *, bank: Bank, **about: object) -> str:
        return config_slot(bank)

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        if not client.has_bank(write.bank.bank_id):
            return Stuck(NO_BANK)
        asked, before = settings_in(write.request), settings_in(write.before)
        if asked is None or before is None:
            return Stuck(ERASED)
        now = client.bank_config(write.bank.bank_id).overrides
        wanted = _differing(asked, now)
        if not wanted:
            return Done({"already": sorted(asked)})
        if moved := [name for name in wanted if not same(now.get(name), before.get(name))]:
            raise ChangedSinceDecided(MOVED.format(", ".join(moved)), {"moved": moved})
        write.outcome = {**write.outcome, "answered": False, "had": sorted(now)}
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        asked = settings_in(write.request)
        if asked is None:
            return Stuck(ERASED)
        try:
            client.patch_config(write.bank.bank_id, asked)
        except Invalid as refused:
            names = named_in(refused.detail, asked)
            return Stuck(REFUSED.format(", ".join(names), refused.detail), {"refused": names})
        return Accepted({"answered": True})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | Stuck:
        asked, before = settings_in(write.request), settings_in(write.before)
        if asked is None or before is None:
            return Stuck(ERASED)
        now = client.bank_config(write.bank.bank_id).overrides
        lost = _differing(asked, now)
        if not lost:
            return Done(_told(write, asked, now))
        if write.outcome.get("answered"):
            return Stuck(NOT_KEPT.format(", ".join(lost)), {"not_kept": lost})
        if all(same(now.get(name), before.get(name)) for name in lost):
            return NotDone()
        return Stuck(DIFFERS.format(", ".join(lost)))

    def readable(self, text: str) -> str:
        """Setting by setting, a mission with its own lines."""
        return "\n".join(_said(name, value) for name, value in sorted(json.loads(text).items()))


def settings_in(blob: Blob | None) -> dict[str, Any] | None:
    """None when the text was erased."""
    if blob is None or blob.erased is not None:
        return None
    found: dict[str, Any] = json.loads(blob.text)
    return found


def named_in(said: str, asked: Mapping[str, Any]) -> list[str]:
    """Which of the settings a refusal names; all of them when it names none.

    By its first sentence: the next may list what could have been set instead.
    """
    words = set(re.findall(r"\w+", said.split(". ")[0]))
    return sorted(words & asked.keys()) or sorted(asked)


def _said(name: str, value: Any) -> str:
    if value is None:
        return f"{name}: (inherited)"
    text = text_of(value)
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _differing(asked: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Of a bank's own settings, those that are not as asked. None = not its own."""
    return sorted(name for name, value in asked.items() if not same(now.get(name), value))


def _told(write: Write, asked: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    told = {
        "set": sorted(name for name, value in asked.items() if value is not None),
        "inherited": sorted(name for name, value in asked.items() if value is None),
        "vanished": sorted(set(write.outcome.get("had", [])) - now.keys() - asked.keys()),
    }
    return {name: names for name, names in told.items() if names}
