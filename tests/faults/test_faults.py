"""A short run of what `make faults` does at length: people decide, processes die, nothing is lost or doubled."""

import subprocess
import sys

import pytest

from tests.services import backing
from tests.stack.support import ROOT

pytestmark = pytest.mark.faults


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_nothing_is_lost_or_doubled_when_processes_are_killed() -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.faults",
            *("--rounds", "2"),
            *("--seed", "8" if backing.in_use() else "7"),  # both runs of a check together play four different rounds
            *("--import-rounds", "1"),
            *("--retain-rounds", "2"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr[-5000:]}"
    assert "0 lost, 0 doubled, 0 unexplained; 0 wrong in imports" in run.stdout
    assert "requests accepted; 0 lost, 0 doubled, 0 unexplained" in run.stdout
