"""JSON as the standard has it, in text that every database can store."""

import json
import re
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser

# NUL, and halves of a character: written as escapes in JSON, refused by PostgreSQL and by UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class StrictParser(Parser):
    def parse_body(self, request: HttpRequest) -> Any:
        """Raises ValueError for anything that is no JSON, such as NaN, and RecursionError for what is too deep."""
        return clean(json.loads(request.body.decode("utf-8"), parse_constant=_refuse))


def clean(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [clean(each) for each in value]
    if isinstance(value, dict):
        return {clean(name): clean(each) for name, each in value.items()}
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
