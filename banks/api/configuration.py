"""Endpoint: how a bank is set. The only one for which a server is asked while the program waits, as the page does."""

import json
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from banks.api.asking import Ambiguous, asker, bank_named
from banks.api.routes import Text
from banks.config.drift import Drift, drifts
from banks.config.seen import Seen, read
from banks.models import Bank, Role

router = Router(tags=["banks"])


class SettingOut(Schema):
    """`value`: as it holds for the bank, in JSON. `own`: set on this bank, else inherited from its server."""

    name: str
    value: Any
    own: bool


class MissionOut(Schema):
    """`text`: as the server has it. `policy`: as the bank's policy wants it, "" where it says nothing. `written`: as it
    was last written from here, null where it never was, or was given back to be inherited. `drifted`: it is not as we
    wrote it, or not as the policy wants it."""

    name: str
    text: str
    policy: str
    written: str | None
    drifted: bool

    @classmethod
    def of(cls, drift: Drift) -> "MissionOut":
        return cls(
            name=drift.name,
            text=drift.server,
            policy=drift.expected,
            written=drift.ours.text if drift.ours else None,
            drifted=drift.moved or drift.off_policy,
        )


class ConfigOut(Schema):
    """`settings` and `missions` by name; null where the server could not be read, and `unread` says why."""

    bank: str
    server: str
    settings: list[SettingOut] | None
    missions: list[MissionOut] | None
    unread: str

    @classmethod
    def of(cls, bank: Bank, seen: Seen | None, why: str) -> "ConfigOut":
        settings = missions = None
        if seen is not None:
            values = {**seen.overrides, **seen.values}
            settings = [_setting(name, values[name], own=name in seen.overrides) for name in sorted(values)]
            missions = sorted((MissionOut.of(each) for each in drifts(bank, seen)), key=lambda each: each.name)
        return cls(bank=bank.bank_id, server=bank.server.name, settings=settings, missions=missions, unread=why)


@router.get(
    "/banks/config",
    response={200: ConfigOut, 409: Ambiguous},
    operation_id="bank_config",
    summary="How a bank is set: for its admins, and read from its server within five seconds",
)
def bank_config(request: HttpRequest, bank: Text, server: Text = "") -> ConfigOut:
    found = bank_named(asker(request), bank, server, Role.ADMIN)
    reading = read(found)
    return ConfigOut.of(found, reading.seen, reading.why)


def _setting(name: str, value: Any, *, own: bool) -> SettingOut:
    return SettingOut(name=name, value=json.loads(json.dumps(value, sort_keys=True)), own=own)
