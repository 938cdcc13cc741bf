"""The demo server as a process: it answers on loopback, stops when asked to, and remembers."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from banks.hindsight import HindsightClient, NotFound

ROOT = Path(__file__).resolve().parents[2]


class Running:
    def __init__(self, folder, port=0):
        command = [sys.executable, "-m", "banks.demo", "--data", str(folder), "--port", str(port)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = re.search(r"http://\S+", self.process.stdout.readline() or "").group()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)


def test_it_answers_and_forgets_nothing_over_a_restart(tmp_path):
    with Running(tmp_path) as running, HindsightClient(running.url) as client:
        assert running.url.startswith("http://127.0.0.1:")
        assert client.version().features["demo"] is True
        before = {bank.bank_id for bank in client.list_banks()}
        client.delete_document("payments", "pay-webhook-order")
    assert running.process.returncode == 0
    with Running(tmp_path) as running, HindsightClient(running.url) as client:
        assert {bank.bank_id for bank in client.list_banks()} == before
        with pytest.raises(NotFound):
            client.get_document("payments", "pay-webhook-order")
        assert client.get_document("payments", "pay-2026-retry-budget").text


def test_a_taken_port_is_said_in_one_line(tmp_path):
    with Running(tmp_path / "one") as first:
        port = first.url.rsplit(":", 1)[1]
        command = [sys.executable, "-m", "banks.demo", "--data", str(tmp_path / "two"), "--port", port]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, env=os.environ)
    assert done.returncode == 1
    assert f"cannot listen on port {port}" in done.stderr
    assert "Traceback" not in done.stderr
