"""Session files for tests, as agents write them."""

import io
import json
from typing import Any

from banks.transcripts import Session, read


def as_file(*records: Any) -> bytes:
    return b"".join((json.dumps(each) if isinstance(each, dict) else each).encode() + b"\n" for each in records)


def read_all(*records: Any, format_: str = "") -> Session:
    return read(io.BytesIO(as_file(*records)), format_)


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


def header(name: str = "s-1", **values: Any) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": name, "timestamp": "2026-08-19T10:00:00.000Z", "cwd": "/p", **values}


def pi(name: str, parent: str | None, role: str, content: Any, **values: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": name,
        "parentId": parent,
        "timestamp": "2026-08-19T10:00:05.000Z",
        **values,
        "message": {"role": role, "content": content},
    }


def claude(name: str, parent: str | None, role: str, content: Any, **values: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, **({"id": values.pop("whole")} if "whole" in values else {})}
    return {
        "type": role,
        "uuid": name,
        "parentUuid": parent,
        "sessionId": "c-1",
        "isSidechain": False,
        "timestamp": "2026-08-19T10:00:05.000Z",
        "message": message,
        **values,
    }


def plain(role: str, content: Any, **values: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **values}


def talk(turns: int, **values: Any) -> list[dict[str, Any]]:
    """Turns of a plain session, a minute apart: "question 1", "answer 1", …"""
    return [
        plain(role, f"{word} {turn}", session_id="t-1", timestamp=f"2026-08-19T10:{turn:02}:0{second}Z", **values)
        for turn in range(1, turns + 1)
        for role, word, second in (("user", "question", 0), ("assistant", "answer", 5))
    ]
