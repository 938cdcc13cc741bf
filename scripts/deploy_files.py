"""`make deploy-files`: lets systemd and nginx read what `deploy/` has for them. Says which of them is not there.

Nothing is started, and nothing outside of a temporary folder is touched.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
# Of what systemd says only this is about the files; the programs of an installation are not on this machine.
FAULTS = re.compile(r"memadmin.*(?:Unknown|Invalid|Failed to (?:parse|resolve)|not a valid)")


def systemd(folder: Path) -> str | None:
    """What is wrong with the units, "" when nothing is, None when there is no systemd."""
    if not (program := shutil.which("systemd-analyze")):
        return None
    for unit in (DEPLOY / "systemd").glob("memadmin*"):
        text = unit.read_text(encoding="utf-8")
        (folder / unit.name).write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE))
    units = [str(folder / "memadmin.target"), *map(str, folder.glob("memadmin*.service"))]
    done = subprocess.run([program, "verify", "--man=no", *units], capture_output=True, text=True, check=False)
    return "\n".join(line for line in done.stderr.splitlines() if FAULTS.search(line))


def nginx(folder: Path) -> str | None:
    """The same for the proxy, with a certificate of its own."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program or not (openssl := shutil.which("openssl")):
        return None
    new = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=memadmin.example.org"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run([openssl, *new, *files], check=True, capture_output=True)
    site = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    site = re.sub(r"/etc/ssl/memadmin|/var/log/nginx", str(folder), site)
    places = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "main.conf").write_text(f"pid {folder}/pid;\nevents {{}}\nhttp {{\n{places}\n{site}}}\n")
    command = [program, "-t", "-q", "-p", str(folder), "-c", str(folder / "main.conf"), "-e", str(folder / "error.log")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


def main() -> int:
    failed = False
    for read in (systemd, nginx):
        with tempfile.TemporaryDirectory() as folder:
            wrong = read(Path(folder))
        print(f"{read.__name__}: {'not installed, nothing was checked' if wrong is None else wrong or 'reads it'}")
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
