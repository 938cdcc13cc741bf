"""What the endpoints of this app take and give. Fields mean what they mean in Hindsight, or on our pages."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema

from banks.files.selectors import state_of
from banks.files.taking import KIND
from banks.models import ApiToken, Bank, Role, Write
from banks.selectors_operations import said
from memadmin.accounts.models import User
from memadmin.retention import NOTHING, RetainedItems, first_of, head_of

FACTS_GIVEN, TEXT_GIVEN = 200, 2_000  # of one row; its page has all


class TokenOut(Schema):
    """`banks`: their ids at most, null = every bank that its owner may see."""

    name: str
    prefix: str
    role: str
    banks: list[str] | None
    expires: datetime


class MeOut(Schema):
    person: str
    username: str
    token: TokenOut

    @classmethod
    def of(cls, user: User) -> "MeOut":
        token: ApiToken = user.token
        banks = None if token.all_banks else sorted(token.banks.values_list("bank_id", flat=True))
        said = TokenOut(
            name=token.name, prefix=token.prefix, role=Role(token.role).label, banks=banks, expires=token.expires
        )
        return cls(person=user.display_name, username=user.username, token=said)


class BankOut(Schema):
    """`role`: what this token may do there, now. Counts are what the server said at `counted_at`."""

    bank: str
    server: str
    name: str
    role: str
    documents: int | None
    facts: int | None
    retired: int | None
    counted_at: datetime | None
    gone: bool

    @classmethod
    def of(cls, bank: Bank, role: Role) -> "BankOut":
        return cls(
            bank=bank.bank_id,
            server=bank.server.name,
            name=bank.name,
            role=role.label,
            documents=bank.document_count,
            facts=bank.fact_count,
            retired=bank.retired_count,
            counted_at=bank.counted_at,
            gone=bank.gone_since is not None,
        )


class BankPageOut(Schema):
    """`next` is the `cursor` of the page behind; null when there is none."""

    banks: list[BankOut]
    next: str | None


class RowOut(Schema):
    """A row of the write log. `group`: that of one action on several things."""

    id: int
    kind: str
    state: str
    bank: str
    server: str
    document_id: str
    who: str
    token: str | None
    via: str
    group: UUID | None
    occurred_at: datetime
    finished_at: datetime | None
    error: str

    @classmethod
    def _values(cls, write: Write) -> dict[str, Any]:
        return {
            "id": write.pk,
            "kind": write.kind,
            "state": write.state,
            "bank": write.bank.bank_id,
            "server": write.bank.server.name,
            "document_id": write.document_id,
            "who": write.actor_name,
            "token": write.token.name if write.token else None,
            "via": write.via,
            "group": write.group,
            "occurred_at": write.occurred_at,
            "finished_at": write.finished,
            "error": head_of(write.error_text, TEXT_GIVEN).text,
        }

    @classmethod
    def of(cls, write: Write) -> "RowOut":
        return cls(**cls._values(write))


class LogPageOut(Schema):
    """Newest first. `next` is the `cursor` of the page behind; null when there is none."""

    rows: list[RowOut]
    next: str | None


class FactOut(Schema):
    """`result`: changed, already (it was so before), refused, waiting or untried; `why`: the bank's or our words."""

    id: str
    result: str
    why: str


class WriteOut(RowOut):
    """`open`: it has not ended, and nobody is needed. `said`: what the server did, of an act on an operation. `facts`
    is empty where the row is not about single facts; `facts_omitted` counts those left out. `stage`: how far a file is,
    in words of ours; empty for other rows."""

    open: bool
    said: str
    stage: str
    operation_id: UUID
    reason: str
    attempts: int
    facts: list[FactOut]
    facts_omitted: int

    @classmethod
    def in_full(cls, write: Write) -> "WriteOut":
        facts = _facts_of(write)
        return cls(
            **cls._values(write),
            open=write.is_open,
            said=head_of(said(write), TEXT_GIVEN).text,
            operation_id=write.operation_id,
            reason=head_of(str(write.params.get("reason", "")), TEXT_GIVEN).text,
            stage=state_of(write).word if write.kind == KIND else "",
            attempts=write.attempts,
            facts=facts.items,
            facts_omitted=facts.omitted.count or 0 if facts.omitted != NOTHING else 0,
        )


PAST = {"retire": "retired", "restore": "restored", "edit-fact": "edited"}


def _facts_of(write: Write) -> RetainedItems[FactOut]:
    past = PAST.get(write.kind)
    return first_of((_fact(write, each, past) for each in write.fact_ids if past), FACTS_GIVEN)


def _fact(write: Write, fact_id: str, past: str) -> FactOut:
    outcome = write.outcome
    if fact_id in outcome.get(past, []):
        result, why = "changed", ""
    elif fact_id in outcome.get("not_called", []):
        result, why = "already", ""
    elif fact_id in outcome.get("refused", {}):
        result, why = "refused", str(outcome["refused"][fact_id])
    else:
        result, why = ("waiting" if write.is_open else "untried"), ""
    return FactOut(id=fact_id, result=result, why=why)
