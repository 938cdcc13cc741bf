"""Asking servers for words, several banks at a time. Threads talk to the servers; our database is the caller's."""

import re
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from typing import Any

from banks import connections
from banks.crypto import CannotDecrypt
from banks.hindsight import (
    DocumentRow,
    Fact,
    HindsightClient,
    HindsightError,
    NotAddressable,
    NotFound,
    Refused,
    Timeout,
    Unreachable,
)
from banks.models import Bank, Server
from memadmin.marking import literal_places, part_of
from memadmin.retention import head_of

AT_ONCE = 5  # banks of one server
THREADS = 20
CALL_SECONDS = 10.0
TURN_SECONDS = 20.0  # without an answer: then the caller hears that it still goes on
HITS = 5  # of each kind that are kept of a bank
TIMEOUTS = 3  # in a row, after which a server is left alone
LONGEST_ID = 2_000

KEY_REFUSED = "The server refuses our key."
KEY_LOST = "The key of this server cannot be read here."
NO_ANSWER = "The server does not answer."
TOO_SLOW = "The server did not answer in time."
LEFT_ALONE = "The server did not answer others in time, so it was not asked for more."
GONE = "It is not on its server any more."
NOT_ADDRESSABLE = "Its id cannot be asked for: no route of the server leads there."
NO_SEARCH = "The server answered something else than what was asked for: it does not know this search."


@dataclass
class Looked:
    """What one bank has. `failed`: why it could not be asked, else "". The numbers are those of the server."""

    failed: str = ""
    documents: list[dict[str, Any]] = field(default_factory=list)
    document_count: int = 0
    facts: list[dict[str, Any]] = field(default_factory=list)
    fact_count: int = 0

    @property
    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def any(self) -> bool:
        return bool(self.documents or self.facts or self.document_count or self.fact_count)


@dataclass
class _Asked:
    """One server while it is asked. `over`: why no more of its banks are asked, else ""."""

    server: Server
    waiting: deque[Bank]
    client: HindsightClient | None = None
    listed: frozenset[str] | None = None
    under_way: int = 0
    timeouts: int = 0
    over: str = ""


_Answer = tuple[Bank | None, "Looked | frozenset[str] | HindsightError"]


def ask(banks: Iterable[Bank], words: str) -> Generator[list[tuple[Bank, Looked]]]:
    """What has come, again and again until all banks are done with; [] where nothing came for a while.

    Whether a bank is there is read from the list of its server first: other calls answer for any id. To be closed when
    it is not read to its end.
    """
    servers: dict[int, _Asked] = {}
    for bank in banks:
        servers.setdefault(bank.server_id, _Asked(bank.server, deque())).waiting.append(bank)
    pool = ThreadPoolExecutor(max_workers=max(min(AT_ONCE * len(servers), THREADS), 1))
    pending: dict[Future[_Answer], _Asked] = {}
    try:
        yield [each for asked in servers.values() for each in _begin(pool, pending, asked)]
        while pending:
            done, _ = wait(pending, timeout=TURN_SECONDS, return_when=FIRST_COMPLETED)
            found = []
            for future in done:
                asked = pending.pop(future)
                found += _take(asked, *future.result())
                found += _go_on(pool, pending, asked, words)
            yield found
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for asked in servers.values():
            if asked.client is not None:
                asked.client.close()


def _begin(
    pool: ThreadPoolExecutor, pending: dict[Future[_Answer], _Asked], asked: _Asked
) -> list[tuple[Bank, Looked]]:
    if connections.paused_until(asked.server):
        asked.over = KEY_REFUSED if asked.server.health == Server.Health.REFUSED else NO_ANSWER
        return _give_up(asked)
    try:
        asked.client = connections.client_for(asked.server, within=CALL_SECONDS)
    except CannotDecrypt:
        asked.over = KEY_LOST
        return _give_up(asked)
    pending[pool.submit(_list, asked.client)] = asked
    return []


def _go_on(
    pool: ThreadPoolExecutor, pending: dict[Future[_Answer], _Asked], asked: _Asked, words: str
) -> list[tuple[Bank, Looked]]:
    if asked.over:
        return _give_up(asked)
    assert asked.client is not None
    gone = []
    while asked.waiting and asked.under_way < AT_ONCE:
        bank = asked.waiting.popleft()
        if asked.listed is not None and bank.bank_id not in asked.listed:
            gone.append((bank, Looked(GONE)))
            continue
        asked.under_way += 1
        pending[pool.submit(_look, asked.client, bank, words)] = asked
    return gone


def _give_up(asked: _Asked) -> list[tuple[Bank, Looked]]:
    left = [(bank, Looked(asked.over)) for bank in asked.waiting]
    asked.waiting.clear()
    return left


def _take(
    asked: _Asked, bank: Bank | None, told: Looked | frozenset[str] | HindsightError
) -> list[tuple[Bank, Looked]]:
    """Of an answer, what is found; what it says of the server is noted."""
    if isinstance(told, frozenset):
        asked.listed = told
        connections.note_answer(asked.server)
        return []
    asked.under_way -= bank is not None
    if isinstance(told, HindsightError):
        _note(asked, told, whole=bank is None)
        return [(bank, Looked(_why(told)))] if bank is not None else []
    asked.timeouts = 0
    assert bank is not None
    return [(bank, told)]


def _note(asked: _Asked, error: HindsightError, *, whole: bool) -> None:
    """`whole`: it was the list of banks, without which no bank is asked."""
    asked.timeouts = asked.timeouts + 1 if isinstance(error, Timeout) else 0
    if isinstance(error, Unreachable):
        connections.note_failure(asked.server)
        asked.over = NO_ANSWER
    elif isinstance(error, Refused):
        connections.note_refusal(asked.server, error)
        asked.over = KEY_REFUSED
    elif whole:
        asked.over = _why(error)
    elif asked.timeouts >= TIMEOUTS:
        asked.over = LEFT_ALONE


def _why(error: HindsightError) -> str:
    if isinstance(error, NotFound) and error.what == "bank":
        return GONE
    known = {Refused: KEY_REFUSED, Unreachable: NO_ANSWER, Timeout: TOO_SLOW, NotAddressable: NOT_ADDRESSABLE}
    said = f"The server answered {error.status}: {error.detail}" if error.status else error.detail
    return known.get(type(error)) or said


# In threads: nothing here may touch our database.


def _list(client: HindsightClient) -> _Answer:
    try:
        return None, frozenset(row.bank_id for row in client.list_banks())
    except HindsightError as error:
        return None, error


def _look(client: HindsightClient, bank: Bank, words: str) -> _Answer:
    try:
        documents = client.list_documents(bank.bank_id, q=words, limit=HITS)
        # In the list of facts these are wildcards; in that of documents they are not.
        facts = client.list_facts(bank.bank_id, q=re.sub(r"([\\%_])", r"\\\1", words), limit=HITS)
    except HindsightError as error:
        return bank, error
    if "q" in (*documents.ignored_params, *facts.ignored_params) or _is_another_answer(facts.items, words):
        return bank, Looked(NO_SEARCH)
    return bank, Looked(
        documents=[_document(row, words) for row in documents.items[:HITS]],
        document_count=documents.total,
        facts=[_fact(fact, words) for fact in facts.items[:HITS]],
        fact_count=facts.total,
    )


def _is_another_answer(facts: list[Fact], words: str) -> bool:
    folded = words.casefold()
    return bool(facts) and not any(folded in f"{fact.text}\n{fact.context}".casefold() for fact in facts)


def _document(row: DocumentRow, words: str) -> dict[str, Any]:
    return {
        "id": row.id[:LONGEST_ID],
        "in_id": bool(literal_places(row.id, words)),
        "facts": row.fact_count,
        "at": row.updated_at.isoformat() if row.updated_at else "",
    }


def _fact(fact: Fact, words: str) -> dict[str, Any]:
    """Of a long text only what a page shows is kept here."""
    in_text = literal_places(fact.text, words)
    text, places = (fact.text, in_text) if in_text else (fact.context, literal_places(fact.context, words))
    part = part_of(text, places)
    at = fact.mentioned_at or fact.updated_at
    return {
        "id": fact.id[:100],
        "type": fact.type[:40],
        "text": text[part.start : part.end] if places else head_of(fact.text, 260).text,
        "cut": [part.start > 0, part.end < len(text)],
        "in_context": bool(places) and not in_text,
        "document": fact.document_id[:LONGEST_ID],
        "at": at.isoformat() if at else "",
    }
