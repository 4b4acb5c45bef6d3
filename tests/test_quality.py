"""What CONTRIBUTING.md asks of code and tests, where a machine can tell."""

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOUSE = sorted((ROOT / "kdoctor").rglob("*.py"))
FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "jax", "torch"}
MAY_RUN_FRAMEWORKS = {"verify", "reference"}
TESTS = sorted(
    path for path in (ROOT / "tests").rglob("*.py") if not {"golden", "keras2"} & {*path.parts}
)
# Tests in tests/rules that are about no single rule: what they are about, of several.
MECHANISMS = {
    "topics",
    "addons", "attacks_from_other_files", "attacks_on_safe", "behaviour", "breakages", "class_checks", "compatible_tensorflow",
    "copied_libraries", "elementwise_operands", "error_on_each_kind_of_object", "examples",
    "examples_run", "fixes_of_shared_values", "help_without_fix", "definitions",
    "multiple_inheritance", "named_bases",
    "names_set_by_the_program", "negative_axes", "no_false_alarms", "optimizer_classes",
    "optimizer_classes_train", "pages", "path_collisions", "path_endings", "registry", "saving",
    "shadowed_builtins", "spellings", "unsafe_reasons", "user_documents",
}  # fmt: skip
NAMELESS = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def test_no_file_is_two_rooms():
    others = [path for room in ("tools", "benchmarks") for path in (ROOT / room).rglob("*.py")]
    lengths = {
        path.relative_to(ROOT): len(path.read_text("utf-8").splitlines())
        for path in (*HOUSE, *TESTS, *others)
    }

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


def test_the_tests_of_a_rule_are_found_by_its_name():
    index = json.loads((ROOT / "kdoctor" / "rules" / "index.json").read_text("utf-8"))
    rules = {name.rpartition(".")[2] for name in index}
    found = {path.stem.removeprefix("test_") for path in (ROOT / "tests/rules").glob("test_*.py")}

    of_no_rule = {
        name for name in found if not any(f"{name}_".startswith(f"{rule}_") for rule in rules)
    }
    assert "argument_value" in rules
    assert of_no_rule == MECHANISMS


def test_a_test_that_asserts_nothing_says_so_in_its_name():
    trees = [ast.parse(path.read_bytes()) for path in TESTS]
    functions = [
        node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    tests = [each for each in functions if each.name.startswith("test_")]
    others = [each for each in functions if not each.name.startswith("test_")]
    checks = {"raises", "warns", "fail", "validate"}  # and what calls one of these
    while more := {each.name for each in others if asserts(each, checks)} - checks:
        checks |= more
    silent = {each.name for each in tests if not asserts(each, checks)}

    assert "test_reading_garbage_raises_nothing" in silent
    assert {name for name in silent if not name.endswith("_raises_nothing")} == set()


def asserts(function, checks):
    """Say whether a function has an assertion, or calls one of these by name."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Assert, ast.Raise)):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in checks or name.startswith("assert_"):
                return True
    return False


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
