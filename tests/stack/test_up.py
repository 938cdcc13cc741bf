"""The whole product as real processes: `memadmin up` and what becomes of it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from tests.services import backing
from tests.stack.support import Up, clean_environment, pid_of, processes, running, wait_for

pytestmark = pytest.mark.stack
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

DEMO = ("--port", "0", "--hindsight", "demo")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "var"


def csrf(page: httpx.Response) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]  # type: ignore[index]


def ready(address: str) -> dict[str, Any]:
    try:
        body: dict[str, Any] = httpx.get(f"{address}/readyz").json()
    except httpx.TransportError:
        return {}
    return body


def workers_live(address: str) -> bool:
    workers = ready(address).get("workers", {})
    return bool(workers) and all(worker["status"] == "ok" for worker in workers.values())


def memadmin(data_dir: Path, *arguments: str) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "memadmin", *arguments]
    done = subprocess.run(command, env=clean_environment(data_dir), capture_output=True, text=True, check=True)
    return done.stdout


@linux
def test_up_serves_the_demo_and_the_link_signs_in_once(data_dir: Path) -> None:
    with running(data_dir, *DEMO, new=True) as up:
        address = up.wait_until_ready()
        file = Path(up.wait_for_line(r"one-time link in (\S+)"))
        link = file.read_text().strip()

        assert file.stat().st_mode & 0o777 == 0o600
        assert link not in up.output
        with httpx.Client() as browser:
            page = browser.get(link)
            assert b"Demo" in page.content
            answer = browser.post(link, data={"csrfmiddlewaretoken": csrf(page)}, headers={"Referer": link})
            assert answer.headers["location"] == "/"
            assert browser.get(f"{address}/").status_code == 200
        with httpx.Client() as other:
            assert other.get(link).status_code == 410
        assert httpx.get(f"{address}/", headers={"Host": "evil.example"}).status_code == 400
        wait_for(lambda: workers_live(address))
        assert ready(address)["broker"] == {"status": "ok"}

        assert up.stop(signal.SIGINT) == 0
    assert processes(data_dir) == {}
    names = re.findall(r"^(beat|load|door|web|demo|valkey) +\|", up.output, re.MULTILINE)
    assert backing.in_use() or names[-1] == "valkey"  # what others need is stopped last
    assert "Traceback" not in up.output


def test_a_second_up_on_the_same_folder_refuses_and_names_the_first(data_dir: Path) -> None:
    with running(data_dir, *DEMO) as up:
        up.wait_for_line("Hindsight:")
        second = Up(data_dir, *DEMO)

        assert second.process.wait(90) == 1
        second.stop()
        assert f"already running on {data_dir} (pid {up.process.pid}, http://127.0.0.1:" in second.output
        assert up.process.poll() is None


def test_a_used_port_says_so_and_nothing_is_started(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        up = Up(data_dir, "--hindsight", "demo", PORT=str(port))

        assert up.process.wait(90) == 1
        up.stop()
    assert f"Port {port} is in use" in up.output
    assert "PORT=" in up.output
    assert not (data_dir / "demo").exists()


@linux
def test_nothing_is_left_when_the_supervisor_is_killed_and_the_next_one_starts(data_dir: Path) -> None:
    with running(data_dir, *DEMO) as up:
        address = up.wait_until_ready()
        wait_for(lambda: workers_live(address))
        # The supervisor, its own, and the web server's child; a broker only where it is not somebody else's.
        assert len(processes(data_dir)) == (7 if backing.in_use() else 8)

        up.process.kill()
        wait_for(lambda: not processes(data_dir))

    with running(data_dir, "--port", "0") as again:
        again.wait_until_ready()
        assert "as last time" in again.output


@linux
def test_a_dead_process_is_started_again(data_dir: Path) -> None:
    with running(data_dir, *DEMO) as up:
        address = up.wait_until_ready()
        wait_for(lambda: workers_live(address))
        before = processes(data_dir)
        for name, part in [("web", "granian"), ("door", "-Q door"), ("load", "-Q load"), ("beat", " beat ")]:
            victim = pid_of(data_dir, part)
            os.kill(victim, signal.SIGKILL)
            up.wait_for_line(f"{name} was ended by SIGKILL; starting it again")
            assert victim not in processes(data_dir)
        wait_for(lambda: len(processes(data_dir)) == len(before))
        wait_for(lambda: workers_live(address))


@linux
@pytest.mark.embedded
def test_a_dead_broker_is_started_again_and_kept_its_queue(data_dir: Path) -> None:
    with running(data_dir, *DEMO) as up:
        address = up.wait_until_ready()
        wait_for(lambda: workers_live(address))
        client = redis.Redis(unix_socket_path=str(data_dir / "demo" / "run" / "valkey.sock"))
        client.set("kept", "yes")
        wait_for(lambda: int(client.info("persistence")["aof_pending_bio_fsync"]) == 0)
        assert (data_dir / "demo" / "run").stat().st_mode & 0o777 == 0o700

        os.kill(pid_of(data_dir, "valkey"), signal.SIGKILL)
        up.wait_for_line("valkey was ended by SIGKILL; starting it again")

        def kept() -> bool:
            try:
                return client.get("kept") == b"yes"
            except redis.RedisError:
                return False

        wait_for(kept)
        assert client.delete("memadmin-demo:1:heartbeat:door", "memadmin-demo:1:heartbeat:load") == 2
        wait_for(lambda: workers_live(address))


def test_a_term_signal_during_the_start_stops_cleanly(data_dir: Path) -> None:
    with running(data_dir, *DEMO) as up:
        up.wait_for_line("demo server on")

        assert up.stop(signal.SIGTERM) == 0
    assert "stopped" in up.lines[-1]


@linux
def test_the_named_server_account_and_deep_folder_are_honoured(tmp_path: Path) -> None:
    data_dir = tmp_path / ("deep folder, 100% ours " * 4).strip() / "var"
    data_dir.parent.mkdir(parents=True)
    env = {
        "HINDSIGHT_BASE_URL": "http://127.0.0.1:9",
        "HINDSIGHT_API_KEY": "hush-hush",
        "MEMADMIN_ADMIN_USERNAME": "olga",
        "MEMADMIN_ADMIN_PASSWORD": "a long enough password",
    }
    with running(data_dir, "--port", "0", **env) as up:
        address = up.wait_until_ready()
        wait_for(lambda: workers_live(address))
        assert "one-time link in" not in up.output
        assert "from HINDSIGHT_BASE_URL" in up.output
        with httpx.Client() as browser:
            page = browser.get(f"{address}/accounts/login/")
            assert b"demo-banner" not in page.content
            form = {"login": "olga", "password": "a long enough password", "csrfmiddlewaretoken": csrf(page)}
            answer = browser.post(f"{address}/accounts/login/", data=form)
            assert answer.headers["location"] == "/"
        assert not (data_dir / "demo").exists()
        assert "hush-hush" not in up.output
        stored = memadmin(data_dir, "dumpdata", "banks.Server")
        assert "http://127.0.0.1:9" in stored
        assert "hush-hush" not in stored
        file = Path(json.loads(memadmin(data_dir, "login-link", "--json"))["link_file"])
        assert file.read_text().startswith(address)


@linux
@pytest.mark.embedded
def test_reset_demo_removes_what_was_decided_and_nothing_else(data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / "memadmin.sqlite3").write_bytes(b"real")
    with running(data_dir, *DEMO) as up:
        up.wait_until_ready()
    (data_dir / "demo" / "left-behind").write_text("old")

    with running(data_dir, "--port", "0", "--reset-demo") as up:
        up.wait_until_ready()
        assert not (data_dir / "demo" / "left-behind").exists()
    assert (data_dir / "memadmin.sqlite3").read_bytes() == b"real"
