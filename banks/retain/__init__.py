"""Memories on their way into a bank: a queue of rows, sent in batches through the door.

    items = params.parse([{"content": "Ann moved to Lyon.", "context": "a talk"}, …])
    queued = enqueue(user=person, bank=bank, items=items, via=Write.Via.API)
    queued.message  # "2 memories queued."

`parse` raises `Refused`, which names every wrong field of every item (413 or 422); `enqueue` raises `BankClosed` and
`OtherRequest` (409), and stores all of the items or none. More about a request: `mode` and `project`
(banks.retain.scope), `session_id`, `document_tags`, `operation_id`. `plan` and `store` are its two halves. What becomes
of an item is on its row, `RetainItem.state`.
"""

from banks.retain.params import Item, Problem, Refused, parse
from banks.retain.queueing import BankClosed, OtherRequest, Planned, Queued, enqueue, plan, store

__all__ = [
    "BankClosed",
    "Item",
    "OtherRequest",
    "Planned",
    "Problem",
    "Queued",
    "Refused",
    "enqueue",
    "parse",
    "plan",
    "store",
]
