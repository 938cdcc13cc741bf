"""Text that agents wrote is data: nothing in the source can turn it into markup."""

import ast
import re

from tests.known_failures.source import calls, product_trees, templates

# Makes a constant attribute out of our own table of keys.
OURS = {"memadmin/templatetags/keys.py"}


def test_row_070_no_template_switches_escaping_off() -> None:
    for path, source in templates():
        assert not re.search(r"\|\s*(safe|safeseq)\b", source), path
        assert not re.search(r"{%\s*autoescape\s+off", source), path
        assert "|json_script" not in source, path


def test_row_070_no_code_calls_text_safe() -> None:
    for path, tree in product_trees():
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not names & {"mark_safe", "html_safe", "SafeText", "SafeData"}, path
        assert path in OURS or not names & {"SafeString", "format_html", "format_html_join"}, path
        registered = [word.arg for call in calls(tree) for word in call.keywords if word.arg == "is_safe"]
        assert registered == [], path


def test_row_070_nothing_inline_and_every_value_in_quotes() -> None:
    for path, source in templates():
        assert not re.search(r"<style\b|\sstyle=|\son\w+=", source), path
        assert not re.search(r"<script(?![^>]*\bsrc=)", source), path
        unquoted = re.findall(r"\s[\w-]+=\{\{", source)
        assert unquoted == [], path
