"""The block of a bank's mental models as an agent gets it now: the bank's texts, or those that are pinned."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from banks.blocks import models, readings
from banks.blocks.models import Block, Summary
from banks.hindsight import HindsightClient
from banks.mental.acts import texts_of
from banks.models import Bank

MOST_CHARS = 16_000  # where nothing is said
LARGEST = 200_000
MOST_MODELS = 1_000  # that a server lists at once
READING = "mental-models"  # its name

WHY = {
    "": "",
    "no-models": "The bank has no mental model with a text, or none that these tags see.",
    "limit-too-small": f"A block needs a limit of at least {models.MINIMUM:,} characters.",
}


@dataclass(frozen=True)
class ModelsBlock:
    """`hidden`: models that the tags do not see; `unwritten`: those without a text; `unlisted`: those behind the first
    thousand. `unread`: why the bank could not be read just now; the block is of `at` then."""

    block: Block
    at: datetime
    age: int
    unread: str
    hidden: int
    unwritten: int
    unlisted: int

    @property
    def why(self) -> str:
        return WHY[self.block.reason]


def block_of(
    bank: Bank, *, most: int = MOST_CHARS, tags: Sequence[str] = (), fresh: timedelta = readings.FRESH
) -> ModelsBlock:
    """With `tags`, only models without any and those that share one. Raises Unread where nothing is known."""
    found = readings.read(bank, READING, lambda client: _listed(client, bank), fresh=fresh)
    rows, total = found.told
    pinned = texts_of(bank)
    seen = [row for row in rows if not tags or not row[3] or set(tags) & set(row[3])]
    summaries = [Summary(key, name, pinned.get(key, text)) for key, name, text, _ in seen]
    unwritten = sum(not (each.text or "").strip() for each in summaries)
    return ModelsBlock(
        models.render(summaries, most),
        found.at,
        found.age,
        found.unread,
        hidden=len(rows) - len(seen),
        unwritten=unwritten,
        unlisted=max(total - len(rows), 0),
    )


Row = tuple[str, str, str | None, list[str]]


def _listed(client: HindsightClient, bank: Bank) -> tuple[list[Row], int]:
    """[(id, name, text, tags)], and how many there are in all."""
    page = client.first_mental_models(bank.bank_id, most=MOST_MODELS, detail="content")
    return [(each.id, each.name, each.content, each.tags) for each in page.items], page.total
