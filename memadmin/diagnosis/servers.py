"""Registered servers and their banks: whether they answer, take our key, and agree about the time."""

from collections.abc import Iterator
from datetime import timedelta

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Count, Q

from banks import crypto
from banks.models import Bank, Server
from banks.services.probe import probe
from memadmin import bootstrap, rotation, words
from memadmin.diagnosis.finding import Finding, counted, error, warning

Health = Server.Health
NAMED = 20  # banks by name; the rest is counted
SKEW_SECONDS = 30.0

FIXES = {
    Health.UNREACHABLE: "Start it, or look at its address and at what lies between.",
    Health.REFUSED: "Give it the right key on its page, or set HINDSIGHT_API_KEY and run: memadmin adopt-environment",
    Health.DEGRADED: "Look at the server's own log.",
}


def environment() -> Iterator[Finding]:
    try:
        yield from (warning("environment", each.what, each.fix) for each in bootstrap.differences())
    except ImproperlyConfigured as problem:
        yield error("environment", str(problem), "Set HINDSIGHT_BASE_URL to http(s)://host:port.")


def _again(secret: str) -> str:
    anew = "memadmin reset-factor NAME" if secret in {"second factor", "recovery codes"} else "store the secret again"
    return f"Put that key back into MEMADMIN_ENCRYPTION_KEYS, or {anew}."


def keys() -> Iterator[Finding]:
    outcomes = rotation.rotate(dry_run=True)
    for each in outcomes:
        if each.outcome == rotation.LOST:
            what = f"The {each.secret} of {each.server} cannot be read: it was stored under a key that is not there."
            yield error("keys", what, _again(each.secret))
    if old := sum(each.outcome == rotation.WOULD_MOVE for each in outcomes):
        stored = counted(old, "secret is", "secrets are")
        yield warning("keys", f"{stored} stored under an older key than the first.", "memadmin rotate-keys")
    if unused := rotation.unused_keys():
        named = ", ".join(map(str, unused))
        yield warning("keys", f"Encryption key {named} opens nothing.", "Remove it, where no backup needs it.")


def answers() -> Iterator[Finding]:
    servers = list(Server.objects.all())
    if not servers:
        yield error("servers", "No Hindsight server is registered.", "Set HINDSIGHT_BASE_URL: memadmin prepare")
    for server in servers:
        if server.api_key_encrypted and crypto.key_of(server.api_key_encrypted) is None:
            continue  # said above, and not the server's fault
        told = probe(server)
        if told.health != Health.OK:
            level = "warning" if told.health == Health.DEGRADED else "error"
            yield Finding("servers", level, f"{server}: {told.text or told.health.label}", FIXES.get(told.health, ""))
        if server.writes_paused:
            yield warning("servers", f"{server}: writes are paused.", "Decisions wait until they are resumed.")
        yield from _clock(server, told.clock_ahead)


def _clock(server: Server, ahead: float | None) -> Iterator[Finding]:
    if ahead is None or abs(ahead) < SKEW_SECONDS:
        return
    off = f"{words.span(timedelta(seconds=ahead))} {'ahead of' if ahead > 0 else 'behind'} ours"
    what = f"The clock of {server} is {off}: new documents are settled too late or too soon."
    yield warning("servers", what, "Let both machines follow a time server (NTP).")


def banks() -> Iterator[Finding]:
    rows = Bank.objects.filter(Q(gone_since__isnull=False) | ~Q(poll_error="")).select_related("server")
    waiting = Count("entries", filter=Q(entries__state="pending"))
    troubled = list(rows.annotate(waiting=waiting).order_by("server", "bank_id")[: NAMED + 1])
    for bank in troubled[:NAMED]:
        name = f"Bank {bank.bank_id[:100]} on {bank.server}"
        if bank.gone_since:
            held = counted(bank.waiting, "pending memory is", "pending memories are")
            what = f"{name} is not in the server's list since {bank.gone_since:%Y-%m-%d %H:%M} UTC; {held} kept."
            yield warning("banks", what, "If it should be there, restore it on the server: it is found again.")
        else:
            what = f"{name} cannot be looked at for new documents: {bank.poll_error}"
            yield warning("banks", what, "Look at the server; it is tried again by itself. Imports do not need it.")
    if len(troubled) > NAMED:
        yield warning("banks", "More banks are in trouble than are named here.", "See /banks/")
