"""Why a decision was not taken. In each of these cases nothing was changed and nothing was sent."""

from datetime import datetime

from reviews.models import Decision, ReviewEntry


class NotDecided(Exception):
    """Base: the act was refused and everything is as it was. `str()` is for people."""


class Conflict(NotDecided):
    """Somebody was faster, or the text on screen is no longer the text here.

    entry: as it is now; decision: the winner's, None when no decision but the text changed.
    """

    def __init__(self, entry: ReviewEntry, decision: Decision | None) -> None:
        self.entry, self.decision = entry, decision
        super().__init__(self.sentence)

    @property
    def winner(self) -> str:
        if self.decision is None:
            return ""
        return self.decision.user_name or self.decision.get_decided_via_display()

    @property
    def action(self) -> str:
        return self.decision.get_verdict_display() if self.decision else ""

    @property
    def at(self) -> datetime | None:
        return self.decision.at if self.decision else None

    @property
    def text_changed(self) -> bool:
        """Nobody decided; the memory itself was written again, or loaded anew, since it was shown."""
        return self.decision is None

    @property
    def sentence(self) -> str:
        if self.decision is None:
            return "This memory was written again since it was shown to you. Nothing was changed."
        return f"{self.winner} {self.action} this memory before you. Nothing was changed by you."


class NotLoaded(NotDecided):
    """Its text is not here, so nobody can have read it."""

    def __init__(self, entry: ReviewEntry) -> None:
        self.entry = entry
        super().__init__("The text of this memory is not loaded, so it cannot be decided on. Load it first.")


class Unread(NotDecided):
    """A text too long to be shown at once, of which something was never on this person's screen.

    length: characters; missing: numbers of the parts, of `parts`.
    """

    def __init__(self, entry: ReviewEntry, length: int, missing: list[int], parts: int) -> None:
        self.entry, self.missing = entry, missing
        what = f"Show all {length:,} characters first"
        if parts > 1:
            what = f"Open its {parts} parts first; {len(missing)} of them you have not seen"
        super().__init__(f"Only the beginning and the end of this memory were shown. {what}. Nothing was approved.")


class OwnText(NotDecided):
    """The bank's policy wants another person than who wrote the text."""

    def __init__(self) -> None:
        super().__init__(
            "You wrote this text, or edited it, and another person has to approve it in this bank. Nothing was changed."
        )


class AlreadyVouched(NotDecided):
    """One of two approvals is this person's own, so that another person's is missing."""

    def __init__(self) -> None:
        super().__init__("Your approval counts already, as one of two. Another person has to approve it too.")


class FactRefused(NotDecided):
    """This cannot be done to this fact; `str()` says why, and nothing was sent."""


class FactTaken(FactRefused):
    """Somebody was faster, or the fact is another one now."""


class TooLate(NotDecided):
    """What was to be taken back has already happened; `str()` says what can be done instead."""


class Blank(NotDecided):
    """A memory without a visible character cannot be stored; delete it instead."""

    def __init__(self) -> None:
        super().__init__("The text is empty. Nothing was sent; to remove this memory, delete it.")


class TooLarge(NotDecided):
    """The text is longer than this installation takes. Sizes in bytes."""

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            f"The text has {size:,} bytes and the limit is {limit:,}. Nothing was sent and your text is kept here."
        )
