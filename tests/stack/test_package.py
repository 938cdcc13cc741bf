"""memadmin as a wheel: built twice it is the same, and it runs outside of the repository with its pages and styles."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.stack.support import ROOT, processes, running

pytestmark = pytest.mark.stack


def build(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("memadmin-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


def test_the_same_sources_make_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    assert build(tmp_path).read_bytes() == wheel.read_bytes()


def test_it_has_all_that_pages_need_and_nothing_of_the_tests(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("templates", "static"):
        ours = {f"memadmin/{path.relative_to(ROOT)}" for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert ours <= inside
    assert not [name for name in inside if name.startswith("tests/") or "settings_test" in name]


def test_an_installed_memadmin_runs_elsewhere(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(installed)
    with running(tmp_path / "var", "--port", "0", PYTHONPATH=str(installed)) as up:
        address = up.wait_until_ready()
        page = httpx.get(f"{address}/accounts/login/")
        style = re.search(r'href="(/static/[^"]+\.css)"', page.text)
        assert style
        assert httpx.get(f"{address}{style[1]}").status_code == 200
        web = next(pid for pid, command in processes(tmp_path / "var").items() if "granian" in command)
        assert str(installed) in Path(f"/proc/{web}/environ").read_text()
    assert "Traceback" not in up.output, up.output
