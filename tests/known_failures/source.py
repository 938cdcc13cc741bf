"""The product's source, read as text and as syntax trees, for rules that no run can prove."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("memadmin", "banks", "reviews")


def product_files() -> Iterator[tuple[Path, str]]:
    """(path relative to the repository, source) of every module of the product, migrations left out."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def product_trees() -> Iterator[tuple[str, ast.Module]]:
    for path, source in product_files():
        yield path.as_posix(), ast.parse(source)


def templates() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node
