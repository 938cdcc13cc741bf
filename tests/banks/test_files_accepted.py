"""Which files are taken: told by their names and by what they would become."""

import io
import struct
from pathlib import Path

import pytest
from django.conf import LazySettings
from hypothesis import given
from hypothesis import strategies as st

from banks import files
from banks.files.accepted import ENDINGS, MOST_DIRECTORY, why_not_inside, why_not_named
from banks.retain import Refused
from tests.banks.filing import archive, upload


def inside(data: bytes, name: str = "x.docx") -> str:
    return why_not_inside(io.BytesIO(data), name, len(data))


@pytest.mark.parametrize("name", ["a.pdf", "a.DOCX", "a.b.PptX", "x.png", "x.flac", "x.html", "x.yaml", "отчёт.md"])
def test_what_servers_turn_into_text_is_taken(name: str) -> None:
    assert why_not_named(name) == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("invoice.pdf.exe", ".exe"),
        ("x.zip", ".zip"),
        ("file", "no ending"),
        (".pdf", "no ending"),
        ("pdf", "no ending"),
        ("x.", "no ending"),
        ("x." + "y" * 300, "." + "y" * 20 + " "),
    ],
)
def test_other_endings_are_refused_with_those_that_are_taken(name: str, said: str) -> None:
    assert said in why_not_named(name)
    assert "pdf" in why_not_named(name)


def test_an_archive_of_parts_is_taken() -> None:
    assert inside(archive(**{"word/document.xml": 4_000})) == ""


def test_what_becomes_huge_when_it_is_unpacked_is_refused() -> None:
    bomb = archive(**{"word/document.xml": 80 * 1024**2})
    assert len(bomb) < 200_000
    assert "80 MB when it is unpacked" in inside(bomb)


def test_the_sizes_of_all_parts_count() -> None:
    assert "90 MB" in inside(archive(a=45 * 1024**2, b=45 * 1024**2))


def test_an_archive_under_another_name_is_refused() -> None:
    assert "an archive, whatever its name says" in inside(archive(a=10), "notes.txt")


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"PK\x03\x04 and no more", b"PK\x05\x06" + bytes(18)])
def test_a_damaged_archive_is_refused(data: bytes) -> None:
    said = inside(data)
    assert "damaged" in said or (said == "" and data.startswith(b"PK\x05\x06"))


def test_a_list_of_parts_is_not_read_when_it_claims_to_be_huge() -> None:
    class Counting(io.BytesIO):
        largest = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            self.largest = max(self.largest, len(data))
            return data

    size = 6 * 1024**2
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 60_000, 60_000, size, 4, 0)
    stream = Counting(b"PK\x03\x04" + bytes(size) + end)
    assert "cannot be read" in why_not_inside(stream, "x.xlsx", size)
    assert stream.largest <= MOST_DIRECTORY + 1


@given(st.binary(max_size=300), st.sampled_from(sorted(ENDINGS)))
def test_no_bytes_make_it_fail(data: bytes, ending: str) -> None:
    for begun in (data, b"PK\x03\x04" + data, archive(a=3)[:-3] + data):
        assert isinstance(inside(begun, f"x.{ending}"), str)


@pytest.mark.django_db
def test_every_file_that_is_refused_is_named(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    given_ = [upload("good.md"), upload("bad.exe"), upload("empty.txt", b"")]
    with pytest.raises(Refused) as caught:
        files.receive(given_, kind="file")
    assert [(problem.item, problem.called) for problem in caught.value.problems] == [(1, "bad.exe"), (2, "empty.txt")]
    assert caught.value.status == 422
    assert list(tmp_path.iterdir()) == []


@pytest.mark.django_db
def test_too_many_and_too_much_are_413_and_say_where_it_was_too_much(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    with pytest.raises(Refused) as many:
        files.receive([upload(f"{number}.md") for number in range(11)], kind="file")
    assert (many.value.status, "“10.md”" in str(many.value)) == (413, True)
    settings.FILES_MAX_BYTES = 50
    with pytest.raises(Refused) as much:
        files.receive([upload("a.md"), upload("b.md")], kind="file")
    assert (much.value.status, "“b.md” was too much" in str(much.value)) == (413, True)
