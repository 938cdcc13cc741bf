"""Loading what is due, one after the other, in the sweep itself.

A message for each entry and each sweep would queue up faster than they are worked on, and an import behind them waits
for all. A sweep that is still at work when the next one begins is a second pair of hands.
"""

import logging
import random
import time

from reviews.services import load

logger = logging.getLogger(__name__)

SLICE = 15.0  # seconds, after which others get the worker
BATCH = 50


def run(*, seconds: float = SLICE) -> int:
    """Loads until nothing is due or the time is over. Safe to run several times at once; returns how many it tried."""
    over = time.monotonic() + seconds
    tried = 0
    while entry_ids := load.due(limit=BATCH):
        random.shuffle(entry_ids)  # two at once rarely reach for the same one
        for entry_id in entry_ids:
            if time.monotonic() > over:
                return tried
            _load(entry_id)
            tried += 1
    return tried


def _load(entry_id: int) -> None:
    """A fault of ours with one entry must not keep the others waiting; its claim keeps it from coming again at once."""
    try:
        load.load(entry_id)
    except Exception:
        logger.exception("entry %s could not be loaded", entry_id)
