"""Of a source file that is trusted, only what makes the wanted names is run."""

import ast
import sys
from pathlib import Path

import pytest

from kdoctor.verify.user import worker
from kdoctor.verify.user.worker.source_files import put_into_modules, taken

TRAINING = """
from __future__ import annotations
import math
from helper_of_the_model import FACTOR
DATA = open("/nowhere/data.csv").read()
try:
    import no_such_package as speed
except ImportError:
    speed = None
if speed is None:
    SCALE = FACTOR * 2
def area(radius):
    return math.pi * radius * SCALE
class Ring:
    inner = staticmethod(area)
    def made(self) -> NotThere:
        return area(1)
model = Ring()
model.fit(DATA)
raise SystemExit("it trains")
"""


@pytest.fixture
def sources(tmp_path):
    files = {"train.py": TRAINING, "helper_of_the_model.py": "FACTOR = 3\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in files]


@pytest.fixture(autouse=True)
def _finders(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for name in ("train", "__no_such__", "helper_of_the_model"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_a_class_is_taken_with_what_it_needs_and_no_training_begins(sources):
    found = taken(sources, {"Mine>Ring": "Ring", "f": "FACTOR"})
    assert found["Mine>Ring"]().made() == pytest.approx(6 * 3.14159, rel=1e-4)
    assert found["f"] == 3


def test_what_lambdas_need_is_put_where_keras_looks_for_it(sources):
    put_into_modules(sources, {"train": ["area", "K"], "__no_such__": ["FACTOR"]})
    assert sys.modules["train"].area(1) == pytest.approx(6 * 3.14159, rel=1e-4)
    assert not hasattr(sys.modules["train"], "K")
    assert sys.modules["__no_such__"].FACTOR == 3


def test_a_name_that_is_in_no_file_is_named(sources):
    with pytest.raises(ImportError, match=r"needs `Gone`, .* in train.py, helper_of_the_model.py"):
        taken(sources, {"Gone": "Gone"})
    with pytest.raises(ImportError, match="needs `Gone`, and it is not found: --source"):
        taken([], {"Gone": "Gone"})


@pytest.mark.parametrize(
    "name",
    [
        *("main", "sandbox", "landlock", "seccomp", "endings", "frameworks", "saved_models"),
        *("source_files", "__init__"),
    ],
)
def test_what_runs_an_old_file_is_python_3_7(name):
    text = Path(worker.__file__).with_name(f"{name}.py").read_text()
    ast.parse(text, feature_version=(3, 7))
    newer = {"waitstatus_to_exitcode", "removeprefix", "removesuffix", "with_stem"}
    used = {each.attr for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Attribute)}
    assert not used & newer
    for node in ast.parse(text).body:  # run as it is imported: no `list[str]` there
        if isinstance(node, ast.Assign):
            subscripts = [each for each in ast.walk(node.value) if isinstance(each, ast.Subscript)]
            assert not any(
                isinstance(each.value, ast.Name) and each.value.id in {"list", "dict", "tuple"}
                for each in subscripts
            )
