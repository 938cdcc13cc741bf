"""How a project is called: the words of the agents that write into the same banks."""

import pytest

from banks.retain.scope import label_of


@pytest.mark.parametrize(
    ("project", "label"),
    [
        ("/home/dev/proj", "proj"),
        ("/home/dev/proj/", "proj"),
        ("/home/dev/General", "general"),
        ("/home/dev/_NEW_XenGameKit", "_new_xengamekit"),
        ("C:\\work\\Cool App", "cool app"),
        ("bare-repo.git", "bare-repo.git"),
        ("мой Проект", "мой проект"),
        ("", "unknown"),
        (" / ", "unknown"),
        ("..", "unknown"),
    ],
)
def test_the_label_is_the_last_name_in_lower_case(project: str, label: str) -> None:
    assert label_of(project) == label
