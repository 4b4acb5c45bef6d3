"""What DESIGN and STYLE ask of the whole house, where a machine can tell."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOUSE = sorted((ROOT / "kdoctor").rglob("*.py"))
FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "jax", "torch"}
MAY_RUN_FRAMEWORKS = {"verify", "reference"}
NAMELESS = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def test_no_file_is_two_rooms():
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in HOUSE}

    assert {path: length for path, length in lengths.items() if length > 450} == {}


def test_no_module_has_a_name_that_says_nothing():
    assert [path for path in HOUSE if NAMELESS & {path.stem, path.parent.name}] == []


def test_only_verify_and_reference_import_frameworks():
    guilty = [
        path.relative_to(ROOT)
        for path in HOUSE
        if not MAY_RUN_FRAMEWORKS & set(path.relative_to(ROOT).parts)
        and imported_packages(path) & FRAMEWORKS
    ]

    assert guilty == []


def test_no_group_of_a_pattern_is_possessive():
    # Python before 3.11.5 forgets where it was when such a group fails (gh-106052).
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+|\(\?>")
    assert possessive.search(r"(?:a|b)?+")
    guilty = [
        (path.relative_to(ROOT), text)
        for path in HOUSE
        for text in patterns(path)
        if possessive.search(text)
    ]

    assert guilty == []


def patterns(path):
    """Return the texts in a module that may be parts of patterns: all but the docstrings."""
    tree = ast.parse(path.read_bytes())
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in said:
            if isinstance(node.value, bytes):
                yield node.value.decode("latin-1")
            elif isinstance(node.value, str):
                yield node.value


def imported_packages(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.partition(".")[0])
    return names
