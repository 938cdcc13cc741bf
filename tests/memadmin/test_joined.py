"""What the browser gets: one style sheet and one script, which are those that are written, whole and in their order."""

import gzip
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.storage import FileSystemStorage

from memadmin import joined

STATIC = Path(settings.BASE_DIR) / "static"


def read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def test_every_script_is_in_it_once_and_behind_what_it_imports() -> None:
    text = joined.script(read)
    places = {path.stem: text.find(f"const ${path.stem} = (() => {{") for path in (STATIC / "js").glob("*.js")}
    assert min(places.values()) >= 0
    for module, place in places.items():
        assert text.count(f"const ${module} = ") == 1
        for other in places:
            if f'from "./{other}.js"' in read(f"js/{module}.js"):
                assert places[other] < place
    assert not joined._LEFT.search(text)


def test_every_style_sheet_is_in_it_in_its_order() -> None:
    assert {f"css/{path.name}" for path in (STATIC / "css").glob("*.css")} == set(joined.STYLES)
    text = joined.styles(read)
    places = [text.find(read(name)) for name in joined.STYLES]
    assert min(places) >= 0
    assert places == sorted(places)


@pytest.mark.parametrize("line", ["export default 1;", 'import x from "./y.js";', "export const x = 1;"])
def test_what_cannot_be_joined_is_said(line: str) -> None:
    with pytest.raises(ValueError, match=r"main\.js cannot be joined"):
        joined.script(lambda name: line)


def test_what_is_collected_has_hashes_and_is_small(tmp_path: Path) -> None:
    storage = joined.JoinedStorage(location=tmp_path, base_url="/static/")
    names = [*joined.STYLES, *(f"js/{path.name}" for path in (STATIC / "js").glob("*.js"))]
    for name in names:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((STATIC / name).read_bytes())
    list(storage.post_process({name: (FileSystemStorage(tmp_path), name) for name in names}))
    sizes = []
    for name in (joined.ALL_STYLES, joined.ALL_SCRIPTS):
        path = tmp_path / storage.stored_name(name)
        assert path.name != Path(name).name
        sizes.append(len(gzip.compress(path.read_bytes(), mtime=0)))
    htmx = finders.find("django_htmx/htmx-2.min.js")
    assert htmx is not None
    sizes.append(len(gzip.compress(Path(htmx).read_bytes(), mtime=0)))
    assert sum(sizes) < 50 * 1024, sizes  # of the 60 KB of a first page
