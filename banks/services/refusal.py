"""What the services about servers, members and policies answer when they do nothing."""

import hashlib
import json
from typing import Any


class Refusal(Exception):
    """Nothing was changed; str() says why, and what to do. `field`: the form's field it is about, or ""."""

    def __init__(self, text: str, *, field: str = "") -> None:
        super().__init__(text)
        self.field = field


class ChangedMeanwhile(Refusal):
    """Somebody else changed it after it was shown."""


def fingerprint(values: dict[str, Any]) -> str:
    """Stands for the values that a form showed: what is saved must have been decided on them."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]


def differences(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What changes, before and after."""
    names = [name for name in new if new[name] != old[name]]
    return {name: old[name] for name in names}, {name: new[name] for name in names}
