"""One style sheet and one script for the browser, joined from the several that are written when they are collected.

A page is then few requests, and each file carries its hash. Where nothing is collected, as in tests, the files
themselves are served: browsers take them as they are.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

STYLES = [f"css/{name}.css" for name in ("tokens", "base", "components", "screens", "narrow")]
SCRIPT = "js/main.js"
ALL_STYLES, ALL_SCRIPTS = "css/all.css", "js/all.js"

_IMPORT = re.compile(r'^import (?:\{ (?P<names>[\w, ]+) \} from )?"\./(?P<module>\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?P<what>(?:async )?function (?P<name>\w+))", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)

Read = Callable[[str], str]


def styles(read: Read) -> str:
    return "\n".join(read(name) for name in STYLES)


def script(read: Read) -> str:
    """Each module once, behind those that it imports, as a function that returns what it exports."""
    parts: dict[str, str] = {}
    _join("main", read, parts)
    return "\n".join(parts.values())


def _join(module: str, read: Read, parts: dict[str, str]) -> None:
    source = read(f"js/{module}.js")
    for found in _IMPORT.finditer(source):
        if found["module"] not in parts:
            _join(found["module"], read, parts)
    exported = ", ".join(found["name"] for found in _EXPORT.finditer(source))
    body = _EXPORT.sub(lambda found: found["what"], _IMPORT.sub(_taken, source))
    if left := _LEFT.search(body):
        raise ValueError(f"{module}.js cannot be joined: {left[0]}")
    parts[module] = f"const ${module} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def _taken(found: re.Match[str]) -> str:
    return f"const {{ {found['names']} }} = ${found['module']};" if found["names"] else ""


class JoinedStorage(CompressedManifestStaticFilesStorage):
    """What `collectstatic` fills."""

    joins = True

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        def read(name: str) -> str:
            storage, path = paths[name]
            with storage.open(path) as file:
                text: str = file.read().decode()
            return text

        if not dry_run and SCRIPT in paths:
            for name, text in ((ALL_STYLES, styles(read)), (ALL_SCRIPTS, script(read))):
                self.delete(name)
                self.save(name, ContentFile(text.encode()))
                paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)  # type: ignore[no-untyped-call]
