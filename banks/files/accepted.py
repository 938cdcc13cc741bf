"""Which files are taken: told by the ends of their names and, where they are archives, by what they would unpack to.

A server's converters trust what they are given, so what would fill their memory is refused here.
"""

import struct
import zipfile
from typing import IO

TAKEN = {
    "documents": ("pdf", "docx", "doc", "pptx", "ppt", "xlsx", "xls"),
    "images": ("jpg", "jpeg", "png", "gif", "bmp", "tif", "tiff", "webp"),
    "audio": ("mp3", "wav", "flac", "m4a", "ogg"),
    "text": ("txt", "md", "markdown", "rst", "html", "htm", "csv", "tsv", "json", "jsonl", "yaml", "yml", "xml", "log"),
}
ENDINGS = frozenset(ending for family in TAKEN.values() for ending in family)
ARCHIVES = frozenset({"docx", "pptx", "xlsx"})  # of parts, each packed

MOST_UNPACKED = 1024**3  # bytes of all parts
MOST_TIMES, PLAIN_UNPACKED = 200, 64 * 1024**2  # how many times its size a large one may become
MOST_DIRECTORY = 2 * 1024**2  # bytes of the list of parts

_PACKED = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_BROKEN = (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, EOFError, struct.error)


def ending_of(name: str) -> str:
    """In lower case; "" for none."""
    return name.rpartition(".")[2].lower() if "." in name.strip(".") else ""


def why_not_named(name: str) -> str:
    """Why no file of this name is taken, "" when it is."""
    ending = ending_of(name)
    if ending in ENDINGS:
        return ""
    said = f"Files that end in .{ending[:20]} are not taken." if ending else "Its name has no ending, such as .pdf."
    return f"{said} Taken are {', '.join(sorted(ENDINGS))}."


def why_not_inside(stream: IO[bytes], name: str, size: int) -> str:
    """Why a file with these bytes is not taken, "" when it is. Reads its beginning, of an archive its list of parts."""
    packed = stream.read(4) in _PACKED
    if ending_of(name) not in ARCHIVES:
        return "It is an archive, whatever its name says: send what is in it." if packed else ""
    if not packed:
        return f"It is damaged, or no .{ending_of(name)} file: it cannot be opened."
    try:
        with zipfile.ZipFile(_Bounded(stream)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except _BROKEN:
        return f"It is damaged, or no .{ending_of(name)} file: its list of parts cannot be read."
    if unpacked > MOST_UNPACKED or unpacked > max(PLAIN_UNPACKED, MOST_TIMES * size):
        return f"It would become {unpacked / 1024**2:,.0f} MB when it is unpacked, which could stop the server."
    return ""


class _Bounded:
    """A stream that reads no more at once than a list of parts may have: an archive may claim any size for its own."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(MOST_DIRECTORY + 1 if size < 0 else min(size, MOST_DIRECTORY + 1))
        if len(data) > MOST_DIRECTORY:
            raise zipfile.BadZipFile("too large a list of parts")
        return data
