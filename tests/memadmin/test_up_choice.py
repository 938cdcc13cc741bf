"""Which Hindsight `memadmin up` takes, and that the demo and the real data never meet."""

from pathlib import Path

import pytest

from memadmin.supervisor import Failed
from memadmin.up import choice
from memadmin.up.choice import LOCAL_URL, choose
from memadmin.up.folder import FolderLock, Running, running

NAMED = {"HINDSIGHT_BASE_URL": "http://memory.example:8888"}


def yes() -> bool:
    return True


def no() -> bool:
    return False


def test_the_environment_decides(tmp_path: Path) -> None:
    assert choose(tmp_path, dict(NAMED), answers=yes).hindsight == "http://memory.example:8888"


def test_without_it_the_server_on_this_machine_is_taken(tmp_path: Path) -> None:
    assert choose(tmp_path, {}, answers=yes).hindsight == LOCAL_URL


def test_without_one_the_demo_is_taken_and_says_why(tmp_path: Path) -> None:
    chosen = choose(tmp_path, {}, answers=no)

    assert chosen.demo
    assert "nothing answers" in chosen.why


def test_the_choice_is_kept_and_said_next_time(tmp_path: Path) -> None:
    choose(tmp_path, {}, answers=no)

    again = choose(tmp_path, {}, answers=yes)

    assert again.demo
    assert "as last time" in again.why


def test_a_server_that_does_not_answer_today_is_not_replaced_by_a_demo(tmp_path: Path) -> None:
    choose(tmp_path, {}, answers=yes)

    assert choose(tmp_path, {}, answers=no).hindsight == LOCAL_URL


def test_asking_again_forgets_the_choice_of_last_time(tmp_path: Path) -> None:
    choose(tmp_path, {}, answers=no)

    assert choose(tmp_path, {}, "auto", answers=yes).hindsight == LOCAL_URL
    assert choose(tmp_path, {}, answers=no).hindsight == LOCAL_URL


def test_what_was_asked_for_wins(tmp_path: Path) -> None:
    assert choose(tmp_path, dict(NAMED), "demo", answers=yes).demo
    assert choose(tmp_path, {}, "http://other.example", answers=yes).hindsight == "http://other.example"


def test_the_demo_has_its_own_folder_and_none_of_the_real_secrets(tmp_path: Path) -> None:
    environ = {**NAMED, "HINDSIGHT_API_KEY": "real", "HINDSIGHT_NAMESPACE": "team", "MEMADMIN_DATA_DIR": str(tmp_path)}

    choice.enter("demo", tmp_path, environ, port=4711)

    assert environ == {
        "MEMADMIN_DATA_DIR": str(tmp_path / "demo"),
        "MEMADMIN_DEMO": "yes",
        "HINDSIGHT_BASE_URL": "http://127.0.0.1:4711",
    }


def test_other_commands_go_where_the_last_up_went(tmp_path: Path) -> None:
    choose(tmp_path, {}, "demo")
    environ = {"MEMADMIN_DATA_DIR": str(tmp_path)}

    choice.enter_current(environ)

    assert environ["MEMADMIN_DATA_DIR"] == str(tmp_path / "demo")


def test_other_commands_go_where_the_running_up_is(tmp_path: Path) -> None:
    environ = {**NAMED, "MEMADMIN_DATA_DIR": str(tmp_path)}
    with FolderLock(tmp_path) as lock:
        lock.describe(Running(1, "http://127.0.0.1:9999", "demo", 4711))

        choice.enter_current(environ)

    assert environ["MEMADMIN_DEMO"] == "yes"
    assert environ["MEMADMIN_ADDRESS"] == "http://127.0.0.1:9999"
    assert running(tmp_path) is None


def test_reset_removes_the_demo_folder_only(tmp_path: Path) -> None:
    (tmp_path / "memadmin.sqlite3").write_text("real")
    choice.demo_port(tmp_path)

    assert choice.reset_demo(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["memadmin.sqlite3"]
    assert not choice.reset_demo(tmp_path)


@pytest.mark.parametrize("link", [True, False])
def test_reset_touches_no_folder_that_the_demo_did_not_make(tmp_path: Path, link: bool) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "precious").write_text("x")
    (real / choice.DEMO_FILE).write_text("{}") if link else None
    base = tmp_path / "base"
    base.mkdir()
    (base / "demo").symlink_to(real) if link else real.rename(base / "demo")

    with pytest.raises(Failed, match="nothing was removed"):
        choice.reset_demo(base)

    assert (base / "demo" / "precious").exists()


def test_the_demo_keeps_its_port(tmp_path: Path) -> None:
    assert choice.demo_port(tmp_path) == choice.demo_port(tmp_path)
