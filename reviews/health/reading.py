"""Reading the facts of a bank to be counted: all of them, or of very many a part that is spread over the whole list."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from banks.hindsight import HindsightClient, HindsightError
from banks.numbers.read import retired_count
from reviews.health.tally import Tally

PAGE = 500
MOST = 50_000  # facts that are read
SECONDS = 150.0
MOST_PAGES = 2_000
TOO_LONG = "Reading took too long, so it was stopped."
GOES_ROUND = "The server's list begins anew before it ends."


@dataclass(frozen=True)
class Told:
    """`total`: valid facts and observations as the server counts them; `stopped`: why not all that was wanted was read.

    `spread`: only some pages were to be read. `retired`, `waiting` (to be consolidated): None = the server did not say.
    """

    total: int
    retired: int | None
    waiting: int | None
    spread: bool = False
    stopped: str = ""


def read(client: HindsightClient, bank_id: str, tally: Tally, progress: Callable[[int, int], None]) -> Told:
    """Counts the bank's facts into `tally`. Raises HindsightError when not even the first page could be read."""
    stats = client.stats(bank_id)
    page = client.list_facts(bank_id, limit=PAGE)
    total = max(page.total, len(page.items))
    stride = max(total / MOST, 1.0)
    wanted, until, offset, stopped = min(total, MOST), time.monotonic() + SECONDS, 0, ""
    for _ in range(MOST_PAGES):
        items = page.items[:PAGE]
        new = tally.add(items)
        progress(min(tally.read, wanted), wanted)
        offset += math.ceil(len(items) * stride)
        if not items or offset >= page.total:
            break
        if not new:
            stopped = GOES_ROUND
        elif time.monotonic() > until:
            stopped = TOO_LONG
        if stopped:
            break
        try:
            page = client.list_facts(bank_id, limit=PAGE, offset=offset)
        except HindsightError as error:
            stopped = str(error)
            break
    else:
        stopped = TOO_LONG
    return Told(total, _retired(client, bank_id), stats.pending_consolidation, stride > 1, stopped)


def _retired(client: HindsightClient, bank_id: str) -> int | None:
    try:
        return retired_count(client, bank_id)
    except HindsightError:
        return None
