import os
from pathlib import Path

import pytest

from memadmin import runtime
from memadmin.supervisor import Failed
from memadmin.up import valkey
from memadmin.up.signin import hand_over


def test_the_socket_lives_in_the_data_folder(tmp_path: Path) -> None:
    assert runtime.socket_path(Path("/srv/memadmin")) == Path("/srv/memadmin/run/valkey.sock")


def test_a_deep_data_folder_gets_a_short_socket_of_its_own() -> None:
    deep, other = Path("/srv") / ("x" * 120), Path("/srv") / ("y" * 120)

    path = runtime.socket_path(deep)

    assert len(os.fsencode(path)) <= runtime.LONGEST_SOCKET_PATH
    assert path == runtime.socket_path(deep)
    assert path != runtime.socket_path(other)


def test_the_length_is_counted_in_bytes() -> None:
    assert runtime.socket_path(Path("/srv") / ("ж" * 50)).name == "valkey.sock"
    assert len(os.fsencode(runtime.socket_path(Path("/srv") / ("ж" * 50)))) <= runtime.LONGEST_SOCKET_PATH


def test_a_strange_folder_name_is_quoted_in_the_url() -> None:
    assert runtime.socket_url(Path("/srv/my data, 100%")) == "unix:///srv/my%20data%2C%20100%25/run/valkey.sock"


@pytest.mark.parametrize(
    ("redis_url", "broker_url"),
    [
        ("unix:///run/redis.sock?db=3", "redis+socket:///run/redis.sock?virtual_host=3"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock"),
        ("redis://redis.example.org:6379/3", "redis://redis.example.org:6379/3"),
    ],
)
def test_the_broker_is_the_database_of_the_cache(redis_url: str, broker_url: str) -> None:
    assert runtime.broker_url(redis_url) == broker_url


def test_a_private_folder_is_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)

    assert runtime.private_folder(tmp_path / "open").stat().st_mode & 0o777 == 0o700
    assert runtime.private_folder(tmp_path / "new" / "deep").stat().st_mode & 0o777 == 0o700


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(runtime.NotPrivate):
        runtime.private_folder(tmp_path / "link")


def test_the_wheel_holds_a_broker_that_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMADMIN_VALKEY_BIN", raising=False)

    path = valkey.binary()

    assert path.name == "valkey-server"
    assert os.access(path, os.X_OK)


def test_another_broker_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMADMIN_VALKEY_BIN", "/bin/sh")

    assert valkey.binary() == Path("/bin/sh")


@pytest.mark.parametrize("name", ["/no/such/program", "/tmp"])
def test_a_broker_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("MEMADMIN_VALKEY_BIN", name)

    with pytest.raises(Failed, match=name):
        valkey.binary()


def test_a_link_is_shown_on_a_terminal_and_filed_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "sign-in-link.txt").write_text("an old one, readable by all")

    assert hand_over("http://here/x", tmp_path, terminal=True) == {"link": "http://here/x"}
    shown = hand_over("http://here/x", tmp_path, terminal=False)

    file = Path(shown["link_file"])
    assert file.read_text() == "http://here/x\n"
    assert file.stat().st_mode & 0o777 == 0o600
