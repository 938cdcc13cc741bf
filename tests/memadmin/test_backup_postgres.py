"""How `memadmin backup` calls PostgreSQL's program, whatever the database of this run."""

import json
import sys
from pathlib import Path

import pytest

from memadmin import backup


class Postgres:
    """A connection that says how it would be made."""

    vendor = "postgresql"
    settings_dict = {"NAME": "memadmin"}

    def get_connection_params(self) -> dict[str, object]:
        login = {"dbname": "memadmin", "user": "ann", "password": "hush-hush", "host": "db.example", "port": 5433}
        return {**login, "sslmode": "require", "client_encoding": "UTF8", "prepare_threshold": None}


@pytest.fixture
def pg_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that notes how it is called, and fails when it is told to."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "pg_dump"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "from pathlib import Path\n"
        f"Path({str(tmp_path)!r}, 'called').write_text(json.dumps([sys.argv, dict(os.environ)]))\n"
        "if os.environ.get('FAIL'):\n"
        "    sys.exit(f'pg_dump: error: no password {os.environ[\"PGPASSWORD\"]} matches')\n"
        "[file] = [word[7:] for word in sys.argv if word.startswith('--file=')]\n"
        "Path(file).write_text('dumped')\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("DATABASE_URL", "postgres://ann:hush-hush@db.example/memadmin")
    monkeypatch.setattr(backup, "connection", Postgres())
    return program


def test_pg_dump_gets_the_password_by_its_environment_alone(pg_dump: Path, tmp_path: Path) -> None:
    assert backup.back_up(tmp_path / "b") == len("dumped")
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    arguments, environment = json.loads((tmp_path / "called").read_text())
    assert "--format=custom" in arguments
    assert not [word for word in arguments if "hush" in word]
    assert {name: value for name, value in environment.items() if name.startswith("PG")} == {
        "PGHOST": "db.example",
        "PGPORT": "5433",
        "PGUSER": "ann",
        "PGPASSWORD": "hush-hush",
        "PGDATABASE": "memadmin",
        "PGSSLMODE": "require",
        "PGCLIENTENCODING": "UTF8",
    }
    assert "DATABASE_URL" not in environment


def test_what_pg_dump_says_is_passed_on_without_the_password(
    pg_dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", "yes")
    with pytest.raises(backup.CannotBackUp, match="pg_dump failed: pg_dump: error: no password … matches"):
        backup.back_up(tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_without_pg_dump_it_says_what_to_run(pg_dump: Path, tmp_path: Path) -> None:
    pg_dump.unlink()
    said = "PGHOST=db.example PGPORT=5433 PGUSER=ann pg_dump --format=custom --file=FILE memadmin"
    with pytest.raises(backup.CannotBackUp, match=said):
        backup.back_up(tmp_path / "b")
    assert not (tmp_path / "b").exists()
