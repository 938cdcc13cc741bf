"""Whether somebody is still writing a document, by the clock of its server."""

from datetime import datetime, timedelta

from banks.hindsight import DocumentRow, HindsightClient
from banks.models import Bank

# Smaller differences between the server's clock and ours are within what its answers can tell.
CLOCKS_AGREE = timedelta(minutes=1)
MOST_AHEAD = 365 * 86_400.0  # seconds
# What claims to be written later than that was not: its time says nothing.
ABSURD = timedelta(days=1)


def server_time(client: HindsightClient, ours: datetime) -> datetime:
    """What the server's clock showed at this moment of ours, as its latest answer tells."""
    ahead = timedelta(seconds=min(max(client.clock_ahead or 0.0, -MOST_AHEAD), MOST_AHEAD))
    return ours if abs(ahead) <= CLOCKS_AGREE else ours + ahead


def is_quiet(row: DocumentRow, bank: Bank, now: datetime) -> bool:
    """Whether nobody wrote it for the settle time; `now` by the server's clock. No sensible time: it does not wait."""
    if row.updated_at is None or row.updated_at > now + ABSURD:
        return True
    return row.updated_at <= now - bank.settle_time
