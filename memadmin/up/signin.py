"""A sign-in link is for the person at the terminal: a log or a pipe gets only the name of a private file."""

import os
from pathlib import Path

LINK_FILE = "sign-in-link.txt"


def hand_over(url: str, data_dir: Path, *, terminal: bool) -> dict[str, str]:
    """{"link": url} for a terminal, else {"link_file": path} of a fresh file with mode 0600."""
    if terminal:
        return {"link": url}
    path = data_dir / LINK_FILE
    path.unlink(missing_ok=True)  # never write into a file that somebody else opened before
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(f"{url}\n")
    return {"link_file": str(path)}
