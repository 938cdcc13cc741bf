"""Sessions of agents as text for a bank: what a person and an agent said to each other, and nothing else.

    session = read(stream)                    # pi, Claude Code, or plain role/content JSON Lines
    built = build(session, Plan(mode=FULL))   # the documents, each with its id, its turns and its text

Pure: no Django, no bank. Nothing a file holds raises; what was left out is counted and listed on the session. `build`
raises `NotBuilt` with a sentence for people.
"""

from banks.transcripts.messages import Message, strip_blocks
from banks.transcripts.reading import CLAUDE, FORMATS, LONGEST_LINE, PI, PLAIN, Session, read
from banks.transcripts.windows import FULL, LAST, MODES, Document, NotBuilt, Plan, build

__all__ = [
    "CLAUDE",
    "FORMATS",
    "FULL",
    "LAST",
    "LONGEST_LINE",
    "MODES",
    "PI",
    "PLAIN",
    "Document",
    "Message",
    "NotBuilt",
    "Plan",
    "Session",
    "build",
    "read",
    "strip_blocks",
]
