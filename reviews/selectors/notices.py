"""What a mail tells: numbers and names of banks, never a memory, a document's id or anything secret."""

from dataclasses import dataclass
from datetime import datetime

from banks.recall.selectors import Lost
from banks.selectors import attention_count
from memadmin.accounts.models import User
from memadmin.counting import Count, counts_of
from memadmin.words import ago
from reviews.selectors.filters import Filters
from reviews.selectors.overview import BankRow, bank_rows
from reviews.selectors.queue import TAB_CAP, entries, pending_count

BANKS_NAMED = 20
LONGEST_NAME = 80


@dataclass(frozen=True)
class Summary:
    """What waits for this person now, by their rights now."""

    pending: Count
    soon: Count  # to be approved by time within 24 hours
    held: Count
    attention: Count  # writes that need a person
    oldest: datetime | None
    banks: list[BankRow]

    @property
    def is_empty(self) -> bool:
        return not (self.pending or self.held or self.attention)


def summary_for(user: User) -> Summary:
    """By a constant number of queries."""
    soon, held = counts_of([(entries(user, one), TAB_CAP) for one in (Filters(age="soon"), Filters(state="held"))])
    rows = bank_rows(user)
    return Summary(
        pending=pending_count(user),
        soon=soon,
        held=held,
        attention=attention_count(user),
        oldest=min((row.oldest for row in rows if row.oldest), default=None),
        banks=rows,
    )


def digest_lines(found: Summary) -> list[str]:
    lines = [f"{found.pending} pending, {found.soon} of them to be approved by time within 24 hours."]
    if found.oldest is not None:
        lines.append(f"The oldest came {ago(found.oldest)}.")
    if found.held:
        lines.append(f"{found.held} held: they are in no bank until somebody approves them.")
    if found.attention:
        lines.append(f"{found.attention} in the write log need a person.")
    named = [row for row in found.banks if row.pending or row.held]
    lines += ["", *(f"- {name_of(row)}: {row.pending} pending, {row.held} held" for row in named[:BANKS_NAMED])]
    return [*lines, *_left_out(len(named))]


def soon_lines(found: Summary) -> list[str]:
    named = [row for row in found.banks if row.soon]
    return [
        f"{found.soon} pending memories are approved by time within 24 hours, unless somebody decides sooner.",
        "",
        *(f"- {name_of(row)}: {row.soon}" for row in named[:BANKS_NAMED]),
        *_left_out(len(named)),
    ]


def lost_lines(lost: Lost, told: datetime | None) -> list[str]:
    """`told`: when it was said before; nothing is said again as long as no other fact went away."""
    if lost.newest is None or (told is not None and lost.newest <= told):
        return []
    facts = "1 fact that a saved query expects does" if lost.facts == 1 else f"{lost.facts} expected facts do"
    return [
        f"{facts} not come back any more.",
        "",
        *(f"- {plain_name(str(bank))}: {count}" for bank, count in lost.banks[:BANKS_NAMED]),
        *_left_out(len(lost.banks)),
    ]


def _left_out(count: int) -> list[str]:
    return [f"- and {count - BANKS_NAMED} more banks"] if count > BANKS_NAMED else []


def name_of(row: BankRow) -> str:
    """Foreign text on one line: nothing that ends a line, hides, or turns it around."""
    return plain_name(str(row.bank))


def plain_name(name: str) -> str:
    return "".join(character for character in name if character.isprintable())[:LONGEST_NAME] or "a bank"
