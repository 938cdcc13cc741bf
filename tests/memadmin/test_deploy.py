"""What `deploy/` says fits what memadmin reads and runs."""

import configparser
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stack.support import procfile

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def command_of(words: list[str]) -> list[str]:
    """Without what a place decides: the interpreter, addresses, names and how long to wait."""
    kept = " ".join(words[1:] if words[0] == "exec" else words)
    kept = re.sub(r"^\S*python", "python", kept)
    kept = re.sub(r"--(host|port) \S+", r"--\1 …", kept)
    return re.sub(r"(-n (?:door|load))\S+", r"\1 …", kept).split()


PROCFILE = {name: command_of(shlex.split(command)) for name, command in procfile().items()}


@pytest.mark.parametrize("name", sorted(set(PROCFILE) - {"web"}))
def test_compose_runs_what_the_procfile_runs(compose, name):
    assert command_of(compose["services"][name]["command"]) == PROCFILE[name]


def test_the_image_runs_the_web_server_of_the_procfile():
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"^CMD \[(.*)\]$", text, re.MULTILINE)
    assert command_of([word.strip(' "') for word in command.split(",")]) == PROCFILE["web"]


@pytest.mark.parametrize("name", sorted(PROCFILE))
def test_systemd_runs_what_the_procfile_runs(name):
    (unit,) = [path for path in UNITS if re.fullmatch(rf"memadmin-{name}@?\.service", path.name)]
    assert command_of(shlex.split(service(unit)["ExecStart"].replace("%%", "%"))) == PROCFILE[name]


def service(unit: Path) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys of units have capitals
    parser.read_string(unit.read_text(encoding="utf-8"))
    return parser["Service"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_every_unit_is_confined_and_waits_longer_than_what_it_runs_may_take(unit):
    told = service(unit)
    assert (told["User"], told["NoNewPrivileges"], told["ProtectSystem"]) == ("memadmin", "yes", "strict")
    if "celery -A memadmin worker" in told["ExecStart"]:
        assert int(told["TimeoutStopSec"]) > 60


def test_the_target_wants_every_unit_that_is_no_preparation():
    target = (DEPLOY / "systemd" / "memadmin.target").read_text(encoding="utf-8")
    wanted = set(re.findall(r"(memadmin-\w+)(?:@\w+)?\.service", target))
    assert wanted == {re.split(r"[@.]", unit.name)[0] for unit in UNITS} - {"memadmin-prepare"}


def settings_of(text: str) -> set[str]:
    return {
        name.removesuffix("_FILE")
        for name in re.findall(r"\b(?:MEMADMIN|HINDSIGHT)_[A-Z_]+|\b[A-Z]+_URL(?:_FILE)?", text)
    }


def test_every_setting_that_is_named_is_one_that_memadmin_reads():
    read = settings_of("".join(path.read_text(encoding="utf-8") for path in (ROOT / "memadmin").rglob("*.py")))
    own = {"MEMADMIN_HOST", "HINDSIGHT_IMAGE"}  # compose's own
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            assert settings_of(path.read_text(encoding="utf-8")) - own <= read, path


def test_every_secret_of_compose_is_made_once_and_no_other_account_may_look(compose, tmp_path):
    script = tmp_path / "make-secrets"
    script.write_bytes((DEPLOY / "make-secrets").read_bytes())
    script.chmod(0o755)
    run = [str(script)]
    subprocess.run(run, check=True, capture_output=True, env={"PATH": os.environ["PATH"]})
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert set(made) == set(compose["secrets"])
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0
    assert made["postgres_password"].strip() in made["database_url"]
    subprocess.run(run, check=True, capture_output=True, env={"PATH": os.environ["PATH"]})
    assert {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()} == made


def test_each_service_of_ours_starts_after_its_preparation(compose):
    for name in PROCFILE:
        assert compose["services"][name]["depends_on"]["prepare"]["condition"] == "service_completed_successfully"


def test_the_proxy_passes_no_address_on_that_came_from_outside():
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    places = text.count("proxy_pass ")
    for line in ("X-Forwarded-For $remote_addr", "X-Forwarded-Proto $scheme", 'X-Forwarded-Host ""'):
        assert text.count(f"proxy_set_header {line};") == places
