"""What may stand where the queue file should be: each is said, none is waited for, and a good file clears it."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from banks.models import Bank, Job, Server
from reviews.importing import localfile
from reviews.models import ReviewEntry, SourceFile
from tests.conftest import People
from tests.reviews.pages import text_of
from tests.reviews.watched import LOCAL, Tool, look

SignIn = Callable[..., Client]


@pytest.fixture
def path(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.QUEUE_FILE = str(tmp_path / "review-queue.jsonl")
    return Path(settings.QUEUE_FILE)


@pytest.fixture
def server(bank: Bank, people: People) -> Server:
    bank.server.base_url = LOCAL
    bank.server.save()
    return bank.server


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)  # opening it would wait for a writer


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(path.parent)  # a socket's path is short
        server.bind(path.name)


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def a_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("elsewhere")


def too_much(path: Path) -> None:
    path.write_bytes(b"x" * 2001)


@pytest.mark.parametrize(
    ("put", "said"),
    [
        (a_folder, "It is a folder. MEMADMIN_QUEUE_FILE must name the file itself."),
        (a_pipe, "It is a pipe or a device"),
        (a_socket, "It is a pipe or a device"),
        (a_link_to_itself, "It is a link that leads back to itself."),
        (a_link_to_a_device, "It is a pipe or a device"),
        (a_link_to_nothing, "It is not there."),
        (too_much, "It has 2,001 bytes, more than the 2,000 that are read. Set MEMADMIN_IMPORT_MB higher"),
        (lambda path: None, "It is not there. It is read as soon as it is"),
    ],
)
def test_what_cannot_be_read_is_said_until_it_can(
    server: Server,
    people: People,
    as_user: SignIn,
    path: Path,
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
    put: Callable[[Path], None],
    said: str,
) -> None:
    monkeypatch.chdir(path.parent)
    settings.IMPORT_MAX_BYTES = 2000
    put(path)
    assert look() == "trouble"
    assert said in SourceFile.objects.get().trouble
    client = as_user(people.operator)
    page = text_of(client.get(reverse("reviews:import-list")))
    assert "It is not read now." in page
    assert said.split(". ")[0] in page
    assert not Job.objects.exists()

    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    Tool(path).add("a")
    assert look() == "read"
    assert SourceFile.objects.get().trouble == ""
    assert "It is not read now." not in text_of(client.get(reverse("reviews:import-list")))
    assert ReviewEntry.objects.get().document_id == "a"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied"), "the right to"),
        (OSError(5, "Input/output error"), "The system does not read it: Input/output error."),
    ],
)
def test_what_the_system_refuses_is_said(
    server: Server, path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, said: str
) -> None:
    def refuse(*arguments: object, **values: object) -> int:
        raise error

    Tool(path).add("a")
    for name in ("open", "pread"):
        with monkeypatch.context() as broken:
            broken.setattr(localfile.os, name, refuse)
            assert look() == "trouble"
        assert said in SourceFile.objects.get().trouble
    assert look() == "read"


def test_a_full_data_folder_is_said(server: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(chunks: object) -> str:
        raise OSError(28, "No space left on device")

    Tool(path).add("a")
    monkeypatch.setattr(localfile.files, "keep", full)
    assert look() == "trouble"
    assert "copied into the data folder: No space left on device" in SourceFile.objects.get().trouble


def test_a_file_that_vanishes_and_comes_back(server: Server, path: Path, people: People) -> None:
    tool = Tool(path)
    tool.add("a")
    look()
    content = path.read_bytes()
    path.unlink()
    assert look() == "trouble"
    assert ReviewEntry.objects.get().state == "pending"
    path.write_bytes(content)
    assert look() in {"soon", "nothing new"}
    assert SourceFile.objects.get().trouble == ""
