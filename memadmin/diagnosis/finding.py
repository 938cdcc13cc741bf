from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    area: str  # settings, files, database, broker, workers, environment, keys, servers, banks, writes, reviews, queue
    level: str  # "error": something does not work; "warning": something should be looked at
    what: str  # what is wrong, and why
    fix: str


def error(area: str, what: str, fix: str) -> Finding:
    return Finding(area, "error", what, fix)


def warning(area: str, what: str, fix: str) -> Finding:
    return Finding(area, "warning", what, fix)


def counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
