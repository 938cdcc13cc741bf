"""The auditor: compares what people were told, what the database says, what the log says, and what the bank holds.

It sees plain rows and knows nothing of how they came about; `evidence` collects them. Each sentence it returns is an
accusation; a round without any has lost nothing, doubled nothing, and left nothing unexplained.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.faults.people import Act

OPEN = {"queued", "sending", "unknown", "accepted", "retrying"}
NEEDS_A_PERSON = {"attention", "changed"}
VERDICTS = {"approve": "approved", "delete": "deleted", "edit": "edited", "undo": "reopened", "put-back": "reopened"}
STATES = {
    "approved": "approved",
    "deleted": "deleted",
    "edited": "pending",
    "reopened": "pending",
    "gone": "deleted",
}
RETAINS = {"edit", "put-back"}


@dataclass(frozen=True)
class Row:
    """One row of the write log."""

    pk: int
    kind: str
    via: str
    state: str
    document: str
    user: str = ""
    text: str | None = None  # what an edit or put-back sends
    error: str = ""
    operation: str = ""
    undo_of: int | None = None
    came_back: bool = False


@dataclass(frozen=True)
class Verdict:
    """One decision."""

    pk: int
    entry: int
    verdict: str
    via: str
    user: str
    version: int
    row: int | None


@dataclass(frozen=True)
class Entry:
    pk: int
    document: str
    state: str
    loaded: bool
    text: str | None
    waits: str = ""  # for what, when something is still to be done


@dataclass
class Evidence:
    acts: list[Act]
    verdicts: list[Verdict]
    rows: list[Row]
    entries: list[Entry]
    before: dict[str, str]  # text of each document at the beginning
    bank: dict[str, str | None]  # text of each document now, None = it is not there
    deleted: Counter[str]  # document → deletes that the server carried out
    operations: dict[str, str]  # operation id → document, of every retain that the server ever started
    strangers_changed: list[str] = field(default_factory=list)  # what else is different in the bank


@dataclass
class Findings:
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[str]:
        kinds = {"LOST": self.lost, "DOUBLED": self.doubled, "UNEXPLAINED": self.unexplained}
        return [f"{kind} {sentence}" for kind, sentences in kinds.items() for sentence in sentences]

    @property
    def figures(self) -> str:
        return f"{len(self.lost):5} {len(self.doubled):8} {len(self.unexplained):12}"


def judge(seen: Evidence) -> Findings:
    found = Findings()
    _people_were_told_the_truth(seen, found)
    _log_and_decisions_agree(seen, found)
    _everything_has_ended(seen, found)
    _bank_is_what_the_log_says(seen, found)
    _entries_are_what_was_decided(seen, found)
    found.unexplained += [f"somebody else's: {what}" for what in seen.strangers_changed]
    return found


def _people_were_told_the_truth(seen: Evidence, found: Findings) -> None:
    rows = {row.pk: row for row in seen.rows}
    taken: Counter[tuple[str, int, str, int]] = Counter()
    for verdict in seen.verdicts:
        if verdict.via == "person" and verdict.row in rows:
            kind = rows[verdict.row].kind
            taken[verdict.user, verdict.entry, kind, _version(kind, verdict.version)] += 1
    acts: dict[tuple[str, int, str, int], list[Act]] = defaultdict(list)
    kept = {(row.user, row.text) for row in seen.rows if row.kind == "edit"}
    for act in seen.acts:
        if act.kind == "edit" and act.done and (act.person, act.text) not in kept:
            found.lost.append(f"{_of(act)}: told that it is saved, and no row holds the text")
        acts[act.person, act.entry, act.kind, _version(act.kind, act.version)].append(act)
        strange = [answer for answer in act.answers if answer not in ("done", "refused", "cut")]
        found.unexplained += [f"{answer}: {_of(act)}" for answer in strange]
    for key in sorted(acts.keys() | taken.keys()):
        told = sum(act.done for act in acts[key])
        most = sum(act.done or act.cut for act in acts[key])
        if key[2] in ("approve", "delete", "edit"):  # the same button on the same card is one decision
            told, most = min(told, 1), min(most, 1)
        if taken[key] < told:
            found.lost.append(f"{key}: told {told} times that it is done, decided {taken[key]} times")
        elif taken[key] > most:
            (found.doubled if acts[key] else found.unexplained).append(
                f"{key}: decided {taken[key]} times, asked for {most} times"
            )


def _version(kind: str, version: int) -> int:
    """What is taken back or put back names a decision, not a version of the text."""
    return 0 if kind in ("undo", "put-back") else version


def _log_and_decisions_agree(seen: Evidence, found: Findings) -> None:
    rows = {row.pk: row for row in seen.rows}
    told = Counter(verdict.row for verdict in seen.verdicts if verdict.via == "person")
    for verdict in seen.verdicts:
        row = rows.get(verdict.row or 0)
        if verdict.via != "person":
            continue
        if row is None:
            found.lost.append(f"decision {verdict.pk} ({verdict.verdict}) has no row in the log")
        elif VERDICTS.get(row.kind) != verdict.verdict:
            found.unexplained.append(f"decision {verdict.pk} says {verdict.verdict}, its row {row.pk} says {row.kind}")
    for row in seen.rows:
        if row.via == "web" and told[row.pk] != 1:
            kind = found.doubled if told[row.pk] else found.unexplained
            kind.append(f"row {row.pk} ({row.kind}) has {told[row.pk]} decisions")
    _undos_took_back_what_was_meant(seen, found)


def _undos_took_back_what_was_meant(seen: Evidence, found: Findings) -> None:
    rows = {row.pk: row for row in seen.rows}
    for verdict in seen.verdicts:
        row = rows.get(verdict.row or 0)
        if row is None or row.kind != "undo":
            continue
        undone = rows.get(row.undo_of or 0)
        if undone is None or undone.user != verdict.user:
            whose = f"{undone.user}'s {undone.kind}" if undone else "nothing"
            found.unexplained.append(f"{verdict.user} took back {whose} (row {row.pk}), and meant an act of their own")


def _everything_has_ended(seen: Evidence, found: Findings) -> None:
    for row in seen.rows:
        if row.state in OPEN:
            found.lost.append(f"row {row.pk} ({row.kind} {row.document}) was never finished: {row.state}")
        if row.state in NEEDS_A_PERSON and not row.error:
            found.unexplained.append(f"row {row.pk} ({row.kind} {row.document}) needs a person and does not say why")


def _bank_is_what_the_log_says(seen: Evidence, found: Findings) -> None:
    by_document: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(seen.rows, key=lambda row: row.pk):
        by_document[row.document].append(row)
    for document, first in seen.before.items():
        possible: set[str | None] = {first}
        for row in by_document[document]:
            possible = _after(row, possible)
        if (holds := seen.bank.get(document)) not in possible:
            gone = holds is None or None not in possible
            (found.lost if gone else found.unexplained).append(
                f"{document}: the bank holds {_short(holds)}, the log says {_shorts(possible)}"
            )
        _each_delete_once(seen, found, document, by_document[document])
    _each_retain_once(seen, found)


def _each_delete_once(seen: Evidence, found: Findings, document: str, rows: list[Row]) -> None:
    done = sum(row.kind == "delete" and row.state == "done" for row in rows)
    unsure = sum(row.kind == "delete" and row.state in NEEDS_A_PERSON for row in rows)
    told = f"{document}: deleted {seen.deleted[document]} times for {done} finished rows"
    if seen.deleted[document] > done + unsure:
        found.doubled.append(told)
    if seen.deleted[document] < done:
        found.lost.append(told)


def _each_retain_once(seen: Evidence, found: Findings) -> None:
    wanted = {row.operation: row for row in seen.rows if row.kind in RETAINS}
    started = Counter(seen.operations.values())
    for operation, row in wanted.items():
        if row.state == "done" and operation not in seen.operations:
            found.lost.append(f"row {row.pk} ({row.kind} {row.document}) is done, and the server never heard of it")
    for operation, document in seen.operations.items():
        if operation not in wanted:
            found.unexplained.append(f"the server retained {document} ({operation}), and no row says so")
    for document, count in started.items():
        rows = sum(row.document == document for row in wanted.values())
        if count > rows:
            found.doubled.append(f"{document}: retained {count} times for {rows} rows")


def _after(row: Row, possible: set[str | None]) -> set[str | None]:
    """What the document may be after this row."""
    result: str | None
    if row.kind == "delete":
        result = None
    elif row.kind in RETAINS:
        result = row.text
    else:
        return possible
    if row.state == "done":
        return possible if row.came_back else {result}
    return possible | {result} if row.state in NEEDS_A_PERSON | OPEN else possible


def _entries_are_what_was_decided(seen: Evidence, found: Findings) -> None:
    latest: dict[int, Verdict] = {}
    for verdict in sorted(seen.verdicts, key=lambda verdict: verdict.pk):
        latest[verdict.entry] = verdict
    for entry in seen.entries:
        for accusation in _accuse(entry, latest.get(entry.pk), seen.bank.get(entry.document)):
            found.unexplained.append(f"entry {entry.pk} ({entry.document}): {accusation}")


def _accuse(entry: Entry, latest: Verdict | None, in_bank: str | None) -> Iterator[str]:
    wanted = STATES[latest.verdict] if latest else "pending"
    if entry.state != wanted:
        yield f"is {entry.state}, the latest decision says {wanted}"
    if entry.waits:
        yield f"still waits: {entry.waits}"
    if entry.state == "pending" and entry.loaded and entry.text != in_bank:
        yield f"shows {_short(entry.text)}, the bank holds {_short(in_bank)}"
    if entry.state == "pending" and not entry.loaded and in_bank is not None:
        yield "is in the bank and is not shown"


def _of(act: Act) -> str:
    return f"{act.person} {act.kind} entry {act.entry} version {act.version}"


def _short(text: str | None) -> str:
    return "nothing" if text is None else repr(text[:60])


def _shorts(texts: set[str | None]) -> str:
    return " or ".join(sorted(_short(text) for text in texts))
