"""Where a project's memories go: one bank for all, one per project, or one for all with a tag per project.

The words and the rules are those of the agents that write into the same banks, so that both find each other's.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404

from banks import access, naming
from banks.models import Bank, RetainLabel, Role
from banks.retain.params import Problem, Refused

GLOBAL, PER_PROJECT, TAGGED = "global", "per-project", "per-project-tagged"
MODES = (GLOBAL, PER_PROJECT, TAGGED)
TAG = "project:"
NAMELESS = "unknown"
LONGEST_PROJECT, LONGEST_LABEL = 1_000, 300
SHOWN = 3  # other projects of a label that are named

_SEPARATORS = re.compile(r"[/\\]+")


@dataclass(frozen=True, slots=True)
class Scoped:
    """The bank that is meant, the tags that the scope adds, and what the writer should know."""

    bank: Bank
    tags: Sequence[str] = ()
    project: str = ""
    label: str = ""
    notes: Sequence[str] = ()


def label_of(project: str) -> str:
    """The last name of a path, in lower case; anything else of it stays as it is. "unknown" where there is none."""
    names = [name for name in _SEPARATORS.split(project.strip()) if name not in ("", ".", "..")]
    return names[-1].lower()[:LONGEST_LABEL] if names else NAMELESS


def resolve(*, user: Any, bank: Bank, mode: str, project: str) -> Scoped:
    """Raises Refused, and 404 where the project's bank does not exist for this person: none is ever created."""
    if mode not in MODES:
        raise Refused([Problem(None, "scope", f"One of {', '.join(MODES)}.")])
    if len(project) > LONGEST_PROJECT:
        raise Refused([Problem(None, "project", f"At most {LONGEST_PROJECT:,} characters.", too_large=True)])
    project = project.replace("\0", "").encode("utf-8", "replace").decode()
    if mode == GLOBAL:
        return Scoped(bank, project=project)
    if bank.personal:
        raise Refused([Problem(None, "scope", "This is a person's bank: no project's memories go there.")])
    label = label_of(project)
    if mode == PER_PROJECT:
        return Scoped(_bank_of(user, bank, label), project=project, label=label)
    return Scoped(bank, [f"{TAG}{label}"], project, label)


def note_label(scoped: Scoped) -> list[str]:
    """Remembers the project under its label, and says which others have it. Belongs into the request's transaction."""
    if not scoped.label:
        return []
    own, digest = _identity(scoped)
    rows = _known(scoped)
    if digest not in rows:
        new = RetainLabel(bank=scoped.bank, label=scoped.label, project_hash=digest, project=own)
        RetainLabel.objects.bulk_create([new], ignore_conflicts=True)
    return _shared(scoped, rows, digest)


def shared_label(scoped: Scoped) -> list[str]:
    """Which other projects have the label, without remembering this one."""
    return _shared(scoped, _known(scoped), _identity(scoped)[1]) if scoped.label else []


def _identity(scoped: Scoped) -> tuple[str, str]:
    own = _SEPARATORS.sub("/", scoped.project.strip()).rstrip("/")
    return own, hashlib.sha256(own.encode()).hexdigest()


def _known(scoped: Scoped) -> dict[str, str]:
    """{hash: project} of the first projects with this label."""
    of_label = RetainLabel.objects.filter(bank=scoped.bank, label=scoped.label)
    return dict(of_label.order_by("pk").values_list("project_hash", "project")[: SHOWN + 2])


def _shared(scoped: Scoped, known: dict[str, str], digest: str) -> list[str]:
    others = [project or "a project without a name" for key, project in known.items() if key != digest][:SHOWN]
    return [f"“{scoped.label}” is also the label of {', '.join(others)}: they share these memories."] if others else []


def _bank_of(user: Any, bank: Bank, label: str) -> Bank:
    wanted = f"{bank.bank_id}-{label}"
    found = naming.by_id(Bank.objects.select_related("server").filter(server=bank.server_id), wanted).first()
    if found is None or access.role_on(user, found) is None:
        raise Http404(f"There is no bank {wanted} on this server. Nothing was stored, and none was created.")
    access.require(user, found, Role.REVIEWER)
    if found.personal:
        raise Refused([Problem(None, "scope", "That is a person's bank: no project's memories go there.")])
    return found
