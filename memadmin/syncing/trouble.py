"""What stops a sync. Each says what is wrong, and what to do."""


class Trouble(Exception):
    """`again_in`: seconds which the server asked to wait. `lasts`: only a person can end it."""

    def __init__(self, told: str, *, status: int = 0, again_in: float = 0, lasts: bool = False) -> None:
        super().__init__(told)
        self.status, self.again_in, self.lasts = status, again_in, lasts


class FileTrouble(Trouble):
    """A file that cannot be read or written. The others go on."""
