"""The package's front door."""

import subprocess
import sys
import types

import banks.hindsight as package


def test_all_names_exist_and_nothing_public_is_left_out():
    public = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert set(package.__all__) == public
    assert list(package.__all__) == sorted(package.__all__)


def test_neither_the_client_nor_the_demo_server_needs_django():
    code = "import sys; sys.modules['django'] = None; import banks.hindsight, banks.demo.process"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
