"""The environment of the real server: apart from ours, from a list pinned by hash, made once."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements-lean.txt")


class InstallFailed(Exception):
    """pip or venv said no; the text is the end of what it said."""


def venv_folder(home: Path) -> Path:
    """`MEMADMIN_HINDSIGHT_VENV`, or a folder in `home` named after the content of the list."""
    if given := os.environ.get("MEMADMIN_HINDSIGHT_VENV"):
        return Path(given)
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    return home / f"venv-{digest}"


def is_installed(venv: Path) -> bool:
    return (venv / "bin" / "hindsight-api").exists() and (
        _mark(venv).exists() or "MEMADMIN_HINDSIGHT_VENV" in os.environ
    )


def install(venv: Path) -> None:
    """About 110 MB of downloads, 340 MB on disk, half a minute to two."""
    venv.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", "--clear", str(venv)])
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "--no-deps", "--no-compile", "--requirement", str(REQUIREMENTS)])
    _mark(venv).touch()  # last: an interrupted installation is made again


def _mark(venv: Path) -> Path:
    return venv / ".complete"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise InstallFailed(done.stdout[-2000:])
