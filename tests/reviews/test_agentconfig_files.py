"""Saving one key in a file of this machine: nothing else changes, and never over what was not on screen."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from banks.services.refusal import Refusal
from reviews.agentconfig import files

TEXT = '{\n  "bankId": "shop",\n  "mystery": {"é": [1, 2.5, null]},\n  "autoRecall": true\n}\n'


@pytest.fixture
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose file may be saved here, and a home without one."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "shop"
    (folder / ".pi").mkdir(parents=True)
    (folder / ".pi" / "hindsight.json").write_text(TEXT)
    settings.AGENT_FOLDERS, settings.PRODUCTION, settings.DEMO = [str(folder)], False, False
    return folder


def file_of(folder: Path) -> Path:
    return folder / ".pi" / "hindsight.json"


def save(folder: Path, name: str, value: str | None, *, place: Any = "project", seen: str = "") -> Any:
    return files.save(place=place, folder=folder, name=name, value=value, seen=seen or files.look(place, folder).seen)


def test_one_key_is_set_and_all_others_stay(folder: Path) -> None:
    assert save(folder, "recallMaxLines", "12") == (None, 12)
    now = json.loads(file_of(folder).read_text())
    assert now == {**json.loads(TEXT), "recallMaxLines": 12}
    assert list(now) == ["bankId", "mystery", "autoRecall", "recallMaxLines"]
    assert "é" in file_of(folder).read_text()
    assert [path.name for path in file_of(folder).parent.iterdir()] == ["hindsight.json"]


def test_a_key_is_taken_out_so_that_it_is_inherited(folder: Path) -> None:
    assert save(folder, "autoRecall", None) == (True, None)
    assert "autoRecall" not in json.loads(file_of(folder).read_text())


def test_the_file_keeps_its_mode_and_a_link_stays_a_link(folder: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    file_of(folder).rename(real)
    real.chmod(0o640)
    file_of(folder).symlink_to(real)
    save(folder, "debug", "true")
    assert file_of(folder).is_symlink()
    assert json.loads(real.read_text())["debug"] is True
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_the_persons_file_is_made_where_there_is_none(folder: Path, tmp_path: Path) -> None:
    save(folder, "memoryLanguage", "de", place="global")
    made = tmp_path / "home" / ".pi" / "agent" / "hindsight.json"
    assert json.loads(made.read_text()) == {"memoryLanguage": "de"}


def test_a_malformed_file_is_never_saved_over(folder: Path) -> None:
    file_of(folder).write_text(TEXT[:-3])
    with pytest.raises(Refusal, match="mend it by hand"):
        save(folder, "debug", "true")
    assert file_of(folder).read_text() == TEXT[:-3]


def test_what_was_changed_meanwhile_is_not_saved_over(folder: Path) -> None:
    seen = files.look("project", folder).seen
    file_of(folder).write_text("{}")
    with pytest.raises(Refusal, match="changed meanwhile"):
        save(folder, "debug", "true", seen=seen)
    file_of(folder).unlink()
    with pytest.raises(Refusal, match="changed meanwhile"):
        save(folder, "debug", "true", seen=seen)
    assert not file_of(folder).exists()


def test_nor_what_changes_as_it_is_saved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = files.os.fsync

    def write_between(descriptor: int) -> None:
        fsync(descriptor)
        file_of(folder).write_text('{"bankId": "other"}')

    monkeypatch.setattr(files.os, "fsync", write_between)
    with pytest.raises(Refusal, match="changed meanwhile"):
        save(folder, "debug", "true")
    assert file_of(folder).read_text() == '{"bankId": "other"}'
    assert len(list(file_of(folder).parent.iterdir())) == 1


def test_a_disk_that_takes_nothing_leaves_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(Refusal, match="No space left"):
        save(folder, "debug", "true")
    assert file_of(folder).read_text() == TEXT
    assert len(list(file_of(folder).parent.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recallMaxLines", "lots"),
        ("recallMaxLines", "4.5"),
        ("chunkInputFraction", "nan"),
        ("chunkInputFraction", "1e300"),
        ("autoRecall", "maybe"),
        ("recallEffort", "turbo"),
        ("memoryLanguage", "  "),
        ("factCategories", "[]"),
        ("apiKey", "x"),
        ("debug", ""),
    ],
)
def test_nonsense_is_refused_before_the_file_is_touched(folder: Path, name: str, value: str) -> None:
    with pytest.raises(Refusal):
        save(folder, name, value)
    assert file_of(folder).read_text() == TEXT


def test_what_is_no_file_is_not_read(folder: Path) -> None:
    file_of(folder).unlink()
    file_of(folder).mkdir()
    assert files.look("project", folder).trouble == "It is no ordinary file."
    with pytest.raises(Refusal):
        save(folder, "debug", "true")


@pytest.mark.parametrize("flag", ["PRODUCTION", "DEMO"])
def test_for_a_team_and_in_the_demo_there_are_none(folder: Path, settings: Any, flag: str) -> None:
    assert files.folders() == [folder]
    setattr(settings, flag, True)
    assert files.folders() == []
