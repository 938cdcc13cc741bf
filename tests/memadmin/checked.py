"""Asking one part of `memadmin check`, and a server that says what a test wants."""

from collections.abc import Callable, Iterator

from banks.models import Server
from banks.services.probe import Told
from memadmin.diagnosis import Finding


def said(look: Callable[[], Iterator[Finding]]) -> list[str]:
    """ "level: what" of each finding; each has something to do beside it."""
    findings = list(look())
    assert all(finding.fix for finding in findings)
    return [f"{finding.level}: {finding.what}" for finding in findings]


def telling(told: Told) -> Callable[..., Told]:
    def probe(server: Server) -> Told:
        return told

    return probe


FINE = Told(Server.Health.OK, "")
