"""docs/known-failures.md and the tests say the same."""

import ast
import re
from functools import cache

import pytest

from tests.known_failures.source import ROOT

PAGE = ROOT / "docs/known-failures.md"
ROWS = [
    *[str(number) for number in (*range(1, 57), *range(60, 99))],
    *[f"S{number}" for number in range(1, 13)],
]


def table() -> dict[str, str]:
    """{row: its last cell}"""
    cells = [re.split(r"(?<!\\)\|", line) for line in PAGE.read_text(encoding="utf-8").splitlines()]
    return {
        parts[1].strip(): parts[3].strip() for parts in cells if len(parts) == 5 and parts[1].strip()[-1:].isdigit()
    }


def named(cell: str) -> list[str]:
    return re.findall(r"`(tests/[^`]+::\w+)`", cell)


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def rows_of(name: str) -> list[str]:
    """The rows that a test is named after."""
    match = re.match(r"test_rows?_((?:s?\d+_)+)", name)
    numbers = match[1].strip("_").split("_") if match else []
    return [f"S{int(number[1:])}" if number.startswith("s") else str(int(number)) for number in numbers]


def test_every_row_is_there_once_and_in_order() -> None:
    assert list(table()) == ROWS


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_tests_that_exist_or_says_what_it_waits_for(row: str) -> None:
    cell = table()[row]
    for node_id in named(cell):
        path, name = node_id.split("::")
        assert name in functions_in(path), node_id
    assert named(cell) or cell.lower().startswith("not yet")


def test_every_test_that_is_named_after_a_row_is_in_its_row() -> None:
    rows = table()
    for path in sorted((ROOT / "tests/known_failures").glob("test_*.py")):
        relative = path.relative_to(ROOT).as_posix()
        for name in functions_in(relative):
            for row in rows_of(name):
                assert f"`{relative}::{name}`" in rows[row], name
