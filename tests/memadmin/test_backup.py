"""`memadmin backup`: what it writes, what it refuses, and that what was restored is what was there."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from io import StringIO
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from banks.models import Bank, Write
from memadmin import backup
from reviews.models import ReviewEntry
from tests import factories
from tests.services import backing
from tests.stack.support import clean_environment

pytestmark = pytest.mark.django_db(transaction=True)
on_sqlite = connection.vendor == "sqlite"


@pytest.fixture(autouse=True)
def data_dir(settings: LazySettings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "var"
    return tmp_path / "var"


@pytest.fixture
def rows(bank: Bank) -> None:
    for number in range(30):
        entry = factories.make_entry(bank, f"doc-{number}", text=f"Text {number}: ключ «\u2028»\r\n")
        Write.objects.create(kind="note", bank=bank, via="web", document_id=entry.document_id, slot="")


def run(*arguments: object) -> dict[str, object]:
    out = StringIO()
    call_command("backup", *map(str, arguments), "--json", stdout=out)
    return dict(json.loads(out.getvalue()))


def exported(what: str, environment: dict[str, str]) -> str:
    """What the product says of a database, in a process of its own."""
    arguments = [what, "--with-text"] if what == "reviews" else [what]
    command = [sys.executable, "-m", "memadmin", "export", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def url_of(database: str) -> str:
    if on_sqlite:
        return f"sqlite:///{quote(database)}"
    return urlunsplit(urlsplit(os.environ["MEMADMIN_TEST_DATABASE_URL"])._replace(path=f"/{database}"))


def restored(file: Path, folder: Path) -> dict[str, str]:
    """As docs/operations.md says, into a fresh data folder; the environment of the new installation."""
    folder.mkdir()
    if on_sqlite:
        shutil.copy(file, folder / "memadmin.sqlite3")
        return clean_environment(folder)
    url = backing.new_database(f"restored_{os.getpid()}")
    for more in ([], ["--clean", "--if-exists"]):  # into an empty database, and over what is there
        subprocess.run(["pg_restore", "--no-owner", *more, f"--dbname={url}", str(file)], check=True)
    return {**clean_environment(folder), "DATABASE_URL": url}


def test_a_restored_backup_says_what_the_original_says(rows: None, tmp_path: Path) -> None:
    file = tmp_path / "memadmin.backup"
    told = run(file)

    assert told["bytes"] == file.stat().st_size > 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert "encryption_keys" in str(told["not_in_it"])
    original = {**clean_environment(tmp_path / "o"), "DATABASE_URL": url_of(str(connection.settings_dict["NAME"]))}
    new = restored(file, tmp_path / "fresh")
    for what, number in (("reviews", 30), ("log", 30)):
        found = exported(what, new)
        assert len(found.splitlines()) == number
        assert found == exported(what, original)


def test_the_keys_are_not_in_it(bank: Bank, settings: LazySettings, tmp_path: Path) -> None:
    settings.ENCRYPTION_KEYS = ["a key that opens everything"]
    bank.server.api_key = "hush-hush"
    bank.server.save()
    run(tmp_path / "b")
    content = (tmp_path / "b").read_bytes()
    assert b"hush-hush" not in content
    assert b"a key that opens" not in content


def test_a_file_that_is_there_stays_unless_forced(rows: None, tmp_path: Path) -> None:
    file = tmp_path / "b"
    file.write_text("precious")
    with pytest.raises(CommandError, match="is there already"):
        run(file)
    assert file.read_text() == "precious"
    assert run("--force", file)["bytes"] == file.stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_comes_meanwhile_stays(rows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "b"
    monkeypatch.setattr(backup, "_store", lambda path: file.write_text("another backup"))
    with pytest.raises(CommandError, match="is there already"):
        run(file)
    assert file.read_text() == "another backup"
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("missing/b", "There is no folder"), (".", "is a folder: name a file in it"), ("-", "A backup is a file")],
)
def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=said):
        run(name)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(rows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_store", full)
    with pytest.raises(CommandError, match="cannot be written: No space left"):
        run(tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_interrupted_it_leaves_nothing_behind(rows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(backup, "_store", stop)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_a_person_reads_how_to_restore(rows: None, tmp_path: Path) -> None:
    out = StringIO()
    call_command("backup", str(tmp_path / "b"), stdout=out)
    assert "restore" in out.getvalue()
    assert "stop memadmin" in out.getvalue()
    assert "not in it" in out.getvalue()


if on_sqlite:

    def test_it_waits_for_no_writer_and_holds_one_moment(bank: Bank, rows: None, tmp_path: Path) -> None:
        name = str(connection.settings_dict["NAME"])
        writer = sqlite3.connect(name, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM reviews_reviewentry")
        run(tmp_path / "b")
        writer.execute("COMMIT")
        writer.close()
        with sqlite3.connect(tmp_path / "b") as copy:
            assert copy.execute("SELECT count(*) FROM reviews_reviewentry").fetchone() == (30,)
        assert not ReviewEntry.objects.exists()

    @pytest.mark.parametrize("part", ["", "-wal"])
    def test_the_database_itself_is_never_overwritten(rows: None, part: str, tmp_path: Path) -> None:
        name = f"{connection.settings_dict['NAME']}{part}"
        (tmp_path / "link").symlink_to(name)
        for target in (name, tmp_path / "link"):
            with pytest.raises(CommandError, match="is the database itself"):
                run("--force", target)
        assert ReviewEntry.objects.count() == 30

    def test_a_damaged_database_is_said_and_no_backup_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        broken = tmp_path / "broken.sqlite3"
        with sqlite3.connect(broken) as database:
            database.execute("CREATE TABLE t (a)")
            database.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 200)
        content = bytearray(broken.read_bytes())
        content[4096 * 3 : 4096 * 4] = os.urandom(4096)
        broken.write_bytes(content)
        monkeypatch.setitem(connection.settings_dict, "NAME", str(broken))
        with pytest.raises(CommandError, match=r"damaged|malformed"):
            run(tmp_path / "b")
        assert not (tmp_path / "b").exists()

    def test_a_full_disk_is_seen_before(rows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        usage = type("Usage", (), {"free": 4096})
        monkeypatch.setattr(backup.shutil, "disk_usage", lambda path: usage)
        with pytest.raises(CommandError, match="only 4,096 are free"):
            run(tmp_path / "b")
