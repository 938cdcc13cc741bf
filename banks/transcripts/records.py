"""The records of each format, one at a time: what of it is said, what is skipped and why, how records hang together.

None of the formats is promised by who writes it: what is not known is skipped and counted by its name.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from banks.transcripts.messages import ROLES, moment, text_of

LONGEST_ID = 200
# How lines begin that Claude Code writes in a person's name when a command of its own was run.
_COMMANDS = ("<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-")
_CLEARED = "<command-name>/clear</command-name>"
_SESSION_NAMES = ("session_id", "sessionId", "session")
_UNKNOWN = "records of an unknown kind"


@dataclass(slots=True)
class Record:
    """A line that was understood. `role` "" = nothing was said in it: then `why` names what it is, in the plural."""

    line: int
    id: str = ""
    parent: str | None = None
    role: str = ""
    text: str = ""
    at: datetime | None = None
    why: str = ""
    clears: bool = False  # what was said before does not belong to this conversation any more
    aside: bool = False  # it hangs at the tree, and the conversation does not end in it
    whole: str = ""  # parts of one message have this in common
    session: str = ""
    started: datetime | None = None


def of_pi(line: int, record: dict[str, Any]) -> Record:
    kind = word(record.get("type"))
    if kind == "session":
        return Record(line, session=word(record.get("id")), started=moment(record.get("timestamp")))
    at = moment(record.get("timestamp"))
    found = Record(line, id=word(record.get("id")), parent=_parent(record.get("parentId")), at=at)
    message = record.get("message")
    if kind == "reset_boundary":
        found.clears, found.why = True, "clear markers"
    elif kind != "message" or not isinstance(message, dict):
        found.why = f"{kind} entries" if kind else _UNKNOWN
    else:
        _say(found, message, record.get("timestamp") or message.get("timestamp"))
    return found


def of_claude(line: int, record: dict[str, Any]) -> Record:
    kind, message = word(record.get("type")), record.get("message")
    at = moment(record.get("timestamp"))
    parent = _parent(record.get("parentUuid")) or _parent(record.get("logicalParentUuid"))
    found = Record(line, id=word(record.get("uuid")), parent=parent, at=at, session=word(record.get("sessionId")))
    found.aside = record.get("isSidechain") is True or kind not in ROLES
    if kind not in ROLES or not isinstance(message, dict):
        found.why = f"{kind} records" if kind else _UNKNOWN
    elif record.get("isSidechain") is True:
        found.why = "messages of subagents"
    elif record.get("isCompactSummary") is True:
        found.why = "summaries of what was said"
    elif record.get("isMeta") is True or record.get("isVisibleInTranscriptOnly") is True:
        found.why = "notes of the agent's own"
    else:
        _say(found, message, record.get("timestamp"))
        found.whole = word(message.get("id")) if kind == "assistant" else ""
        if kind == "user" and found.text.lstrip().startswith(_COMMANDS):
            found.clears = _CLEARED in found.text
            found.role, found.text, found.why = "", "", "clear markers" if found.clears else "commands"
    return found


def of_plain(line: int, record: dict[str, Any]) -> Record:
    session = next((name for key in _SESSION_NAMES if (name := word(record.get(key)))), "")
    found = Record(line, session=session)
    _say(found, record, record.get("timestamp") or record.get("ts") or record.get("created_at"))
    return found


def word(value: Any) -> str:
    """An id or a name as the file has it; "" for what is none."""
    if not isinstance(value, str) or len(value) > LONGEST_ID:
        return ""
    return value if value.isprintable() else ""


def _parent(value: Any) -> str | None:
    return word(value) or None


def _say(found: Record, message: dict[str, Any], at: Any) -> None:
    role = word(message.get("role"))
    found.at = moment(at)
    if role not in ROLES:
        found.why = f"{role} messages" if role else _UNKNOWN
        return
    found.text = text_of(message.get("content"))
    if found.text:
        found.role = role
    else:
        found.why = "messages without text (calls, results, thinking, images)"
