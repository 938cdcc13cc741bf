"""`memadmin rotate-keys`: a new encryption key, without a secret that is lost or shown."""

import json
import os
from io import StringIO
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import CommandError

from banks import crypto
from banks.models import Server
from memadmin import env, rotation
from memadmin.up.folder import FolderLock, Running
from tests import factories

OLD, NEW = "the old key", "the new key"


@pytest.fixture(autouse=True)
def keys(settings: LazySettings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    settings.ENCRYPTION_KEYS = [OLD]


@pytest.fixture
def server(db: None) -> Server:
    server = factories.make_server(name="Main")
    server.api_key = "hush-hush"
    server.save()
    return server


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("rotate_keys", *arguments, stdout=out)
    return out.getvalue()


def told(*arguments: str) -> dict[str, str]:
    return {each["server"]: each["outcome"] for each in json.loads(run("--json", *arguments))["secrets"]}


def test_every_secret_moves_under_the_first_key(server: Server, settings: LazySettings) -> None:
    factories.make_server(name="Open")  # has no key
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    before = server.api_key_encrypted

    said = run()

    assert "Main  API key  re-encrypted" in said
    assert "Nothing is under key 2 any more" in said
    assert "Open" not in said
    assert "hush" not in said
    server.refresh_from_db()
    assert server.api_key_encrypted != before
    settings.ENCRYPTION_KEYS = [NEW]
    assert server.api_key == "hush-hush"


def test_a_second_time_nothing_changes(server: Server, settings: LazySettings) -> None:
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    run()
    after = Server.objects.get().api_key_encrypted
    assert told() == {"Main": "under the first key"}
    assert Server.objects.get().api_key_encrypted == after


def test_a_dry_run_changes_nothing(server: Server, settings: LazySettings) -> None:
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert told("--dry-run") == {"Main": "would be re-encrypted"}
    assert Server.objects.get().api_key_encrypted == server.api_key_encrypted


def test_a_secret_that_no_key_opens_is_named_and_left_alone(server: Server, settings: LazySettings) -> None:
    lost = factories.make_server(name="Lost")
    settings.ENCRYPTION_KEYS = ["gone"]
    lost.api_key = "nobody-knows"
    lost.save()
    broken = factories.make_server(name="Broken", api_key_encrypted="no token, ключ")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    out = StringIO()

    with pytest.raises(SystemExit) as ended:
        call_command("rotate_keys", stdout=out)

    assert ended.value.code == 1
    assert "Lost    API key  no key opens it" in out.getvalue()
    assert "Broken  API key  no key opens it" in out.getvalue()
    assert "Main    API key  re-encrypted" in out.getvalue()  # the others are done
    for row in (lost, broken):
        assert Server.objects.get(pk=row.pk).api_key_encrypted == row.api_key_encrypted
    assert "nobody-knows" not in out.getvalue()


def test_a_secret_that_is_stored_meanwhile_stays(
    server: Server, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A running process, which has the new key too, stores another API key between our look and our write."""
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    original = crypto.encrypt

    def meanwhile(secret: str) -> str:
        if secret == "hush-hush":
            Server.objects.update(api_key_encrypted=original("a newer one"))
        return original(secret)

    monkeypatch.setattr(rotation.crypto, "encrypt", meanwhile)
    assert told() == {"Main": "under the first key"}
    server.refresh_from_db()
    assert server.api_key == "a newer one"


def test_a_secret_that_is_removed_meanwhile_stays_removed(
    server: Server, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    original = crypto.encrypt
    monkeypatch.setattr(
        rotation.crypto, "encrypt", lambda secret: (Server.objects.update(api_key_encrypted=""), original(secret))[1]
    )
    run()
    assert Server.objects.get().api_key_encrypted == ""


def test_without_secrets_it_says_so(db: None) -> None:
    assert "No secret is stored." in run()


def test_no_field_with_a_secret_is_forgotten() -> None:
    fields = {(model, f.name) for model in apps.get_models() for f in model._meta.fields if "encrypted" in f.name}
    assert fields == {(model, field) for model, field, _ in rotation.SECRETS}


# ── the file of keys ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_key_comes_in_front_of_the_kept_ones(db: None, settings: LazySettings, tmp_path: Path) -> None:
    file = tmp_path / "encryption_keys"
    first = env.kept_keys("MEMADMIN_TEST_UNSET", file)
    old = os.umask(0)

    said = json.loads(run("--new-key", "--json"))

    os.umask(old)
    assert said["keys"] == 2
    assert "Restart memadmin" in said["next"]
    keys = env.kept_keys("MEMADMIN_TEST_UNSET", file)
    assert keys[1:] == first
    assert len(keys[0]) > 40
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["encryption_keys"]
    assert keys[0] not in str(said)


def test_a_new_key_is_not_made_where_the_environment_holds_them(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMADMIN_ENCRYPTION_KEYS", OLD)
    with pytest.raises(CommandError, match="put the new one in front there"):
        run("--new-key")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["one,two", "one\ntwo\n", " one , two ,\n"])
def test_keys_are_separated_by_commas_or_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    monkeypatch.setenv("MEMADMIN_ENCRYPTION_KEYS_FILE", str(file))
    assert env.kept_keys("MEMADMIN_ENCRYPTION_KEYS", tmp_path / "unused") == ["one", "two"]


def test_a_file_without_a_key_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "encryption_keys").write_text("\n")
    with pytest.raises(ImproperlyConfigured, match="holds no key"):
        env.kept_keys("MEMADMIN_TEST_UNSET", tmp_path / "encryption_keys")


def test_nothing_is_rotated_under_processes_that_do_not_know_the_new_key(
    server: Server, settings: LazySettings, tmp_path: Path
) -> None:
    file = tmp_path / "encryption_keys"
    env.kept_keys("MEMADMIN_TEST_UNSET", file)
    with FolderLock(tmp_path) as lock:
        lock.describe(Running(1, "http://127.0.0.1:1", "demo"))
        os.utime(file, ns=((tmp_path / "up.lock").stat().st_mtime_ns + 1,) * 2)
        assert told() == {"Main": "under the first key"}  # the file of a first start: there is no other key
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        with pytest.raises(CommandError, match="memadmin runs since before"):
            run()
        assert told("--dry-run") == {"Main": "would be re-encrypted"}
        os.utime(file, ns=((tmp_path / "up.lock").stat().st_mtime_ns - 1,) * 2)  # it was started again
        assert told() == {"Main": "re-encrypted"}
