"""Makes `.venv` what the lock says: `python scripts/environment.py runtime|dev`. Quick when nothing changed.

Runs with every Python from 3.6 on, so that one that is too old gets a sentence instead of a traceback.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("MEMADMIN_VENV") or ROOT / ".venv")
PYTHON = VENV / "bin" / "python"
LOCKS = {"runtime": "requirements.lock", "dev": "requirements-dev.lock"}
OLDEST = (3, 11)

# The product runs from this folder: nothing is built, and the commands of the documentation work as written.
WRAPPER = """#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec "$here/python" -m memadmin "$@"
"""


def main():
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        sys.exit(
            f"memadmin needs Python 3.11 or newer; this is {found} ({sys.executable}).\n"
            "Install a newer one and say which: make up PYTHON=python3.12"
        )
    kind = sys.argv[1] if len(sys.argv) > 1 else "runtime"
    if kind not in LOCKS:
        sys.exit("usage: environment.py runtime|dev")
    if is_fresh(kind):
        return
    make_venv()
    for each in LOCKS:  # the other lock may have wanted other versions
        if stamp(each).exists():
            stamp(each).unlink()
    install(LOCKS[kind])
    write_entry_points()
    stamp(kind).write_text(wanted(kind), encoding="utf-8")


def stamp(kind):
    return VENV / f".memadmin-{kind}"


def wanted(kind):
    """What a finished environment has in its stamp: the lock, this script, and the place (scripts hold full paths)."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (ROOT / LOCKS[kind], Path(__file__))]
    return "\n".join([*digests, str(VENV), str(ROOT)])


def is_fresh(kind):
    """The development environment holds all that the runtime needs, in the same versions."""
    kinds = ["dev"] if kind == "dev" else ["runtime", "dev"]
    done = any(stamp(each).exists() and stamp(each).read_text(encoding="utf-8") == wanted(each) for each in kinds)
    return done and works()


def works():
    """A moved folder or a removed system Python leaves an environment that cannot start."""
    try:
        return subprocess.call([str(PYTHON), "-c", "import pip"], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_venv():
    if works():
        return
    if VENV.is_dir():
        shutil.rmtree(str(VENV))
    print(f"Creating {VENV} ...", flush=True)
    if subprocess.call([sys.executable, "-m", "venv", str(VENV)]) != 0:
        sys.exit("The environment could not be created. On Debian and Ubuntu: apt install python3-venv")


def install(lock):
    print(f"Installing what {lock} names ...", flush=True)
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    # Only ready-made packages: nothing is compiled on this machine.
    command += ["--only-binary", ":all:", "-r", str(ROOT / lock)]
    if subprocess.call(command) != 0:
        sys.exit("The packages could not be installed; pip says why above. Run the same command again to retry.")


def write_entry_points():
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = subprocess.check_output([str(PYTHON), "-c", ask]).decode().strip()
    (Path(folder) / "memadmin-here.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    entry = VENV / "bin" / "memadmin"
    entry.write_text(WRAPPER, encoding="utf-8")
    entry.chmod(0o755)


if __name__ == "__main__":
    main()
