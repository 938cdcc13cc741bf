"""The lines of a log file. Pure: memadmin reads them, here they are only told apart."""

import hashlib
import io

from memadmin.jsonlines import read_lines
from memadmin.syncing.queue import Line

LONGEST_LINE = 4 * 1024 * 1024  # bytes, as memadmin takes them


def read(data: bytes, begin: int) -> list[Line]:
    """`begin`: what ends behind it is new."""
    return [
        Line(hashlib.sha256(raw.data).digest(), raw.offset, end, end > begin)
        for raw in read_lines(io.BytesIO(data), LONGEST_LINE)
        if (end := raw.offset + raw.size) and raw.data.strip()
    ]
