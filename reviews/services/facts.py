"""What a person does to the facts of a document: retire with a reason, restore, change the text.

Each takes what was on screen: {fact id: sha256 of its text}. Observations are made from facts and are never called.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import Http404

from banks import access, writes
from banks.fact_kinds import seen_hash
from banks.models import Blob, Role, Write
from banks.selectors_facts import still_retired
from memadmin.accounts.models import User
from reviews.access import get_entry
from reviews.errors import Blank, FactRefused, FactTaken, TooLarge, TooLate
from reviews.models import FactDecision, Reapplication, ReviewEntry
from reviews.services.extraction import EXTRACTING
from reviews.services.recording import hold
from reviews.text import has_visible_text, normalise_newlines

Seen = Mapping[str, str]
MOST_EXTRACTIONS = 50
LONGEST_REASON = 1_000
REPLACED = "All facts of this document are being extracted again. Nothing was sent; act on the new ones."


def retire(*, user: User, entry_id: int, seen: Seen, reason: str, via: Write.Via = Write.Via.WEB) -> Write:
    """The bank forgets these facts and keeps them: they can be restored. A reason is a must; it stays with the fact."""
    entry, facts = _facts_of(user, entry_id, seen)
    reason = checked_reason(reason)
    if all(facts[fact_id]["state"] == "invalidated" for fact_id in seen):
        raise FactRefused("It is retired already.")
    return _record(entry, "retire", user=user, via=via, seen=seen, params={"reason": reason})


def restore(*, user: User, entry_id: int, seen: Seen, via: Write.Via = Write.Via.WEB) -> Write:
    """Brings retired facts of a document back, in the order given."""
    entry, facts = _facts_of(user, entry_id, seen)
    if all(facts[fact_id]["state"] == "valid" for fact_id in seen):
        raise FactRefused("It is not retired.")
    return _record(entry, "restore", user=user, via=via, seen=seen)


def edit(
    *, user: User, entry_id: int, fact_id: str, text_hash: str, new_text: str, via: Write.Via = Write.Via.WEB
) -> Write | None:
    """Another text for one fact; None = nothing changed, no call. The old text stays in the row: servers keep none."""
    seen = {fact_id: text_hash}
    entry, facts = _facts_of(user, entry_id, seen)
    fact = facts[fact_id]
    if (text := changed_text(new_text, fact)) is None:
        return None
    texts = {"request": Blob.objects.store(text), "before": Blob.objects.store(fact["text"])}
    return _record(entry, "edit-fact", user=user, via=via, seen=seen, **texts)


def checked_reason(reason: str) -> str:
    reason = " ".join(reason.replace("\x00", " ").split())
    if not has_visible_text(reason):
        raise FactRefused("Say why it is retired: others will want to know. Nothing was retired.")
    if len(reason) > LONGEST_REASON:
        raise FactRefused(f"A reason has at most {LONGEST_REASON:,} characters. Nothing was retired.")
    return reason


def changed_text(new_text: str, fact: Mapping[str, Any]) -> str | None:
    """What a form has sent as the text to store, None when it is the one that the fact has."""
    text = normalise_newlines(new_text, fact["text"]).encode("utf-8", "replace").decode("utf-8")
    if text == fact["text"]:
        return None
    if fact["state"] == "invalidated":
        raise FactRefused("It is retired. Restore it first, then change it.")
    if not has_visible_text(text):
        raise Blank
    if (size := len(text.encode())) > settings.MAX_TEXT_BYTES:
        raise TooLarge(size, settings.MAX_TEXT_BYTES)
    return text


def restore_row(*, user: User, write_id: int, via: Write.Via = Write.Via.WEB) -> list[Write]:
    """Brings back the facts of a retire row, in its order and under the ids they have now.

    One row for each document, so that each waits in the slot of its own; a refusal stops the rest of its row alone.
    """
    row = Write.objects.select_related("bank__server").filter(pk=write_id).first()
    if row is None:
        raise Http404("No such row.")
    access.require(user, row.bank, Role.REVIEWER)
    if row.kind != "retire":
        raise TooLate("There is nothing to restore on this row.")
    if row.is_open:
        raise TooLate("It is not retired yet. When that is done, restore it.")
    if not row.outcome.get("retired"):
        raise TooLate("Nothing was retired by this row.")
    with transaction.atomic():
        hold(row)
        if not (still := still_retired([row])[row.pk]):
            raise TooLate(_restored_by(row))
        now = dict(zip(still, current_ids(row, still), strict=True))
        if _applied_just_now(row, list(now.values())):
            raise TooLate("Its facts were extracted anew and are just being applied again. When that is done, restore.")
        groups = _by_document(row, now)
        return [
            writes.record(
                kind="restore",
                bank=row.bank,
                via=via,
                actor=user,
                document_id=document_id,
                fact_ids=[now[fact_id] for fact_id in named],
                facts_before=row.facts_before,
                params={"answers": named} if len(groups) > 1 else {},
                undo_of=row,
            )
            for document_id, named in groups
        ]


def _restored_by(row: Write) -> str:
    answers = row.undone_by.filter(kind="restore", state__in=[*Write.OPEN, Write.State.DONE]).order_by("-pk")
    if (earlier := answers.first()) is not None:
        return f"It {'is being' if earlier.is_open else 'was'} restored already, by row {earlier.pk}."
    return "Its facts were restored already, by later rows that name them."


def _by_document(row: Write, now: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """(document, ids in the row), in the order of their first facts.

    A line of an agent's log names facts and no document. Where no decision tells it, the fact is a group of its own:
    the door finds its document, and may not find the same one for two.
    """
    if row.document_id:
        return [(row.document_id, list(now))]
    decisions = FactDecision.objects.filter(bank=row.bank_id, fact_id__in=now.values()).exclude(document_id="")
    documents = dict(decisions.values_list("fact_id", "document_id"))
    groups: dict[tuple[str, str], list[str]] = {}
    for named, fact_id in now.items():
        document_id = documents.get(fact_id, "")
        groups.setdefault((document_id, "" if document_id else fact_id), []).append(named)
    return [(document_id, named) for (document_id, _), named in groups.items()]


def _applied_just_now(row: Write, fact_ids: Sequence[str]) -> bool:
    """Whether a row that retires them again, under new ids, is under way: it would come after the restore."""
    sent = Reapplication.objects.filter(
        decision__bank=row.bank_id, replaces__in=fact_ids, state=Reapplication.State.SENT, write__state__in=Write.OPEN
    )
    return sent.exists()


def current_ids(row: Write, fact_ids: Sequence[str]) -> list[str]:
    """The ids that the facts of a row have now: each new extraction gave them others."""
    now = moved_since([(row.bank_id, fact_id) for fact_id in fact_ids])
    return [now[row.bank_id, fact_id] for fact_id in fact_ids]


def moved_since(facts: Collection[tuple[int, str]]) -> dict[tuple[int, str], str]:
    """{(bank, fact id): its id now}, of facts to which a decision was applied again after a new extraction."""
    now = {each: each[1] for each in facts}
    banks: set[int] = {bank for bank, _ in now}
    for _ in range(MOST_EXTRACTIONS):
        rows = Reapplication.objects.filter(
            decision__bank__in=banks, replaces__in=set(now.values()), state=Reapplication.State.DONE
        )
        found = rows.values_list("decision__bank_id", "replaces", "fact_id")
        moved = {(int(bank), old): new for bank, old, new in found}
        later = {each: moved.get((each[0], current), current) for each, current in now.items()}
        if later == now:
            break
        now = later
    return now


def _facts_of(user: User, entry_id: int, seen: Seen) -> tuple[ReviewEntry, dict[str, dict[str, Any]]]:
    """The entry and its facts as they were loaded. Raises FactRefused for none, unknown ones and observations."""
    entry = get_entry(user, entry_id, Role.REVIEWER)
    if entry.facts is None or entry.facts.erased:
        raise FactRefused("The facts of this memory are not loaded. Load it first.")
    facts = {row["id"]: row for row in json.loads(entry.facts.text)}
    if not seen or any(fact_id not in facts for fact_id in seen):
        raise FactRefused("This fact is not here any more; the list on screen was older. Look at it again.")
    if any(digest and digest != seen_hash(facts[fact_id]["text"]) for fact_id, digest in seen.items()):
        raise FactTaken("The fact says something else than it did on screen. Nothing was sent; look at it again.")
    if any(facts[fact_id]["type"] == "observation" for fact_id in seen):
        raise FactRefused("An observation is made from facts and follows them: retire or change those.")
    return entry, facts


def _record(entry: ReviewEntry, kind: str, *, user: User, via: Write.Via, seen: Seen, **more: Any) -> Write:
    params = {"seen": dict(seen), **more.pop("params", {})}
    with transaction.atomic():
        take(entry, seen)
        return writes.record(
            kind=kind,
            bank=entry.bank,
            via=via,
            actor=user,
            document_id=entry.document_id,
            fact_ids=list(seen),
            facts_before=entry.facts,
            params=params,
            **more,
        )


def take(entry: ReviewEntry, seen: Collection[str]) -> None:
    """Of several who act on a fact at once one wins: the others meet its open row here.

    To be called in the transaction that stores the row. `seen`: the ids of the facts.
    """
    same = ReviewEntry.objects.filter(pk=entry.pk, facts=entry.facts_id)
    if not same.update(facts=entry.facts_id):  # holds the entry until the row is stored
        raise FactTaken("The facts were read from the bank again meanwhile. Nothing was sent; look again.")
    refuse_taken(entry.bank_id, entry.document_hash, seen)


def refuse_taken(bank_id: int, document_hash: str, seen: Collection[str]) -> None:
    """Raises FactTaken when another write of one of these facts, or of all facts of their document, is under way."""
    under_way = Write.objects.filter(bank=bank_id, document_hash=document_hash, state__in=Write.OPEN)
    for write in under_way.only("kind", "fact_ids", "actor_name", "via"):
        if write.kind in EXTRACTING:
            raise FactTaken(REPLACED)
        if not set(write.fact_ids).isdisjoint(seen):
            who = write.actor_name or write.get_via_display()
            raise FactTaken(f"{who} was faster: “{write.kind}” of this fact is under way. Nothing of yours was sent.")
