"""Lines of an export up to a budget: whole lines only, and the source is closed as soon as the budget is spent."""

from collections.abc import Generator, Iterator

from memadmin.retention import NOTHING, Omitted, RetentionNotice, format_retention_notice


class BoundedLines:
    """Iterate once; afterwards `omitted` tells whether there would have been more.

    max_items: rows, the header of a CSV file not counted; max_bytes: of UTF-8. None = no limit. The first line that
    does not fit is the probe: it proves that there is more, and ends the reading.
    """

    def __init__(
        self, lines: Iterator[str], *, max_items: int | None = None, max_bytes: int | None = None, header: bool = False
    ) -> None:
        self._lines, self._header = lines, header
        self.max_items, self.max_bytes = max_items, max_bytes
        self.rows = self.bytes = 0
        self.omitted: Omitted = NOTHING

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._lines):
            row = number > 0 or not self._header
            size = len(line.encode("utf-8", "replace"))
            too_many = row and self.max_items is not None and self.rows >= self.max_items
            if too_many or (self.max_bytes is not None and self.bytes + size > self.max_bytes):
                self.omitted = Omitted("at_least", 1)
                if isinstance(self._lines, Generator):
                    self._lines.close()  # and with it the database cursor behind it
                return
            self.rows += row
            self.bytes += size
            yield line

    def notice(self, scope: str) -> str:
        """What was left out and what to do about it; "" when everything is there."""
        if not self.omitted:
            return ""
        limit = self.max_items if self.max_items is not None else self.max_bytes or 0
        notice = RetentionNotice(scope, "head", "items", limit, self.rows, self.omitted)
        return format_retention_notice(
            notice, lambda about: f"Stopped after {about.kept:,}. Raise --max-items or --max-bytes, or name a --bank."
        )
