"""Saving a key of the tool's configuration on this machine: an operator's act, with a row in the list of changes."""

from pathlib import Path

from django.core.exceptions import PermissionDenied
from django.db import transaction

from banks.models import AdminEvent
from banks.services import events
from memadmin.accounts.models import User
from reviews.agentconfig import files
from reviews.agentconfig.keys import KEYS
from reviews.agentconfig.layers import Place, shown_of


def save(*, actor: User, place: Place, folder: Path, name: str, value: str | None, seen: str) -> None:
    """`value` None takes the key out. `seen`: of the file that was on screen. Raises Refusal: nothing was changed."""
    if not actor.is_superuser or folder not in files.folders():
        raise PermissionDenied("These files are an operator's, where memadmin runs on the machine they are on.")
    old, new = files.save(place=place, folder=folder, name=name, value=value, seen=seen)
    after = {"file": str(files.path_of(place, folder))}
    if new is not None:
        after[name] = shown_of(KEYS[name], new)
    with transaction.atomic():
        events.record(
            what=AdminEvent.What.AGENT_FILE,
            actor=actor,
            before={} if old is None else {name: shown_of(KEYS[name], old)},
            after=after,
        )
