"""The tests of Keras 3 itself run on Keras 3: no error is reported in them.

They import from `keras.src`, of which nothing is inferred: here they import from `keras` instead.
What only `keras.src` has is reported as missing then, which says nothing.
"""

from __future__ import annotations

import ast
import re
from importlib import metadata
from pathlib import Path

import pytest

from kdoctor.engine import scan

pytestmark = pytest.mark.frameworks

PUBLIC = (
    *("activations", "callbacks", "constraints", "initializers", "layers", "losses", "metrics"),
    *("models", "ops", "optimizers", "random", "regularizers", "saving", "tree", "utils"),
)
FROM_SRC = re.compile(rf"^from keras\.src import ({'|'.join(PUBLIC)})$", re.MULTILINE)
MODELS = re.compile(r"^from keras\.src\.models(?:\.\w+)? import (Model|Sequential)$", re.MULTILINE)
ABOUT_NAMES = {"KD101", "KD102"}
NEVER_CALLED = {("saving__object_registration_test.py", "KD313")}  # the function of a thread


def source_folder():
    return Path(metadata.distribution("keras").locate_file("keras/src"))


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """What is reported as an error, with the path of the file."""
    folder = tmp_path_factory.mktemp("tests")
    for path in source_folder().rglob("*_test.py"):
        source = FROM_SRC.sub(r"from keras import \1", path.read_text(encoding="utf-8"))
        source = MODELS.sub(r"from keras import \1", source)
        name = "__".join(path.relative_to(source_folder()).parts)
        (folder / name).write_text(source, encoding="utf-8")
    result = scan([str(folder)], target=f"keras=={metadata.version('keras')}")
    assert not result.unreadable
    found = [each for each in result.findings if each.severity == "error"]
    return [(Path(each.place.path), each) for each in found if each.code not in ABOUT_NAMES]


def raises(path, line):
    """Say whether a line is of a test in which something must raise."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(
        isinstance(inner, ast.With) and "assertRaises" in ast.unparse(inner.items[0])
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef)
        and each.name.startswith("test")
        and each.lineno <= line <= each.end_lineno
        for inner in ast.walk(each)
    )


def test_there_are_tests_and_much_is_inferred_of_them(errors):
    assert len([*source_folder().rglob("*_test.py")]) > 200
    assert {each.code for _, each in errors} >= {"KD212", "KD319"}, "they test what raises, too"


def test_what_runs_is_no_error(errors):
    wrong = [
        f"{path.name}:{each.place.line}: {each.code} {each.message}"
        for path, each in errors
        if (path.name, each.code) not in NEVER_CALLED and not raises(path, each.place.line)
    ]
    assert wrong == []
