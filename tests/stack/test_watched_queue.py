"""An agent's tool appends to the queue file of this machine, and its memory waits on the desk."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reviews.watched import Tool
from tests.stack.support import clean_environment, running, wait_for

pytestmark = pytest.mark.stack

SERVER = "http://localhost:9"  # nobody answers there, and nobody needs to


def test_a_line_that_the_tool_appends_becomes_an_entry(tmp_path: Path) -> None:
    data_dir, queue = tmp_path / "var", tmp_path / "pi" / "review-queue.jsonl"
    env = {"HINDSIGHT_BASE_URL": SERVER, "HINDSIGHT_REVIEW_QUEUE": str(queue), "MEMADMIN_QUEUE_FILE": ""}

    def entries() -> dict[str, str]:
        command = [sys.executable, "-m", "memadmin", "export", "reviews"]
        environment = clean_environment(data_dir, **env)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        rows = map(json.loads, done.stdout.splitlines())
        return {row["document_id"]: row["state"] for row in rows}

    with running(data_dir, "--port", "0", **env) as up:
        up.wait_until_ready()
        Tool(queue).add("a-session", baseUrl=SERVER)
        wait_for(lambda: entries() == {"a-session": "pending"})
    assert "Traceback" not in up.output
