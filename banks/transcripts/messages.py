"""What was said: the text of a message, without the memories that an agent was given with it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

USER, ASSISTANT = "user", "assistant"
ROLES = (USER, ASSISTANT)
# What agents put before a prompt: recalled memories and models, and the two names that these had once. To retain them
# again would make a bank repeat itself.
BLOCKS = ("memories", "mental_models", "hindsight_memories", "relevant_memories")
_IN_MILLISECONDS = 100_000_000_000  # as seconds that would be the year 5138


@dataclass(frozen=True, slots=True)
class Message:
    """`text`: as it was written, but for memory blocks. `at`: when, where the file says so. `line`: of the file."""

    role: str
    text: str
    at: datetime | None
    line: int


def text_of(content: Any) -> str:
    """The text blocks of a content, one below the other; calls, results, thinking and images are no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str) and block["text"])


def strip_blocks(text: str) -> tuple[str, int]:
    """Without closed memory blocks, and how many there were. One that is not closed is text, and stays."""
    count = 0
    for name in BLOCKS:
        text, found = _without(text, f"<{name}>", f"</{name}>")
        count += found
    return text, count


def _without(text: str, opening: str, closing: str) -> tuple[str, int]:
    """Each block ends at the first closing tag. Linear, however often a tag is opened and never closed."""
    kept: list[str] = []
    end = 0
    while (start := text.find(opening, end)) >= 0:
        closed = text.find(closing, start + len(opening))
        if closed < 0:
            break
        kept.append(text[end:start])
        end = closed + len(closing)
    return "".join(kept) + text[end:], len(kept)


def says_something(text: str) -> bool:
    """A letter or a digit: "." and "…" are how people wake an agent, and are no turn."""
    return any(character.isalnum() for character in text)


def moment(value: Any) -> datetime | None:
    """ISO 8601, or seconds or milliseconds since 1970; None for anything else. Without an offset UTC is meant."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > _IN_MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
