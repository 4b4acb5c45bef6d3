"""What no person writes, or no file is: said in a sentence, soon, and the other files are done."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

import kdoctor
from kdoctor.engine import scanning
from kdoctor.engine.schedule import dispatch
from kdoctor.syntax import parsing
from kdoctor.syntax.reaching_definitions import MAX_BINDINGS

OLD = "from keras import backend as K\n\nprint(K.sum([1]))\n"
HEAD = "from keras import backend as K\n"
DEEP = {
    "a sum": "x = " + " + ".join(["K.sum(a)"] * 5000),
    "strings": "x = " + "'a' + " * 5000 + "K.sum(a)",
    "many lines": "x = (\n" + "    K.sum(a) +\n" * 5000 + "    0\n)",
    "backslashes": "x = K.sum(a) \\\n" + "    + K.sum(a) \\\n" * 5000,
    "calls": "x = K.sum" + "(a)" * 3000,
    "attributes": "x = K.sum" + ".a" * 3000,
    "subscripts": "x = K.sum(a)" + "[0]" * 3000,
    "methods": "x = K" + ".sum(a)" * 3000,
    "signs": "x = " + "-" * 3000 + "K.sum(a)",
    "nots": "x = " + "not " * 8000 + "K.sum(a)",
    "powers": "x = " + "K.sum(a) ** " * 3000 + "2",
    "choices": "x = " + "K.sum(a) if b else " * 3000 + "None",
    "lambdas": "x = " + "lambda: " * 3000 + "K.sum(a)",
    "elifs": "if a:\n    pass\n" + "elif K.sum(a):\n    pass\n" * 3000,
}
NO_PYTHON = {
    "brackets": "x = K.sum(" + "[" * 3000 + "]" * 3000 + ")",
    "open brackets": "x = K.sum(" * 50_000,
    "functions": "".join(f"{' ' * n}def f(a):\n" for n in range(1000)) + " " * 1000 + "K.sum(a)",
    "branches": "".join(f"{' ' * n}if a:\n" for n in range(1000)) + " " * 1000 + "K.sum(a)",
}


@pytest.fixture(autouse=True)
def tree(tmp_path, monkeypatch):
    """A folder with one file in which all is as usual."""
    monkeypatch.chdir(tmp_path)
    Path("usual.py").write_text(OLD)


def told(result):
    """Return what is said of each file; the usual one has its finding whatever else there is."""
    assert "usual.py" in {finding.place.path for finding in result.findings}
    return {file.path: file.why for file in result.unreadable}


@pytest.mark.parametrize("code", DEEP.values(), ids=DEEP)
def test_a_statement_that_is_nested_too_deeply_is_named(code):
    Path("deep.py").write_text(f"{HEAD}\n{code}\n")
    why = (
        "a statement is nested more than 500 levels deep; split it, or exclude the file "
        "(line 3, column 1)"
    )
    assert told(kdoctor.scan(["."], jobs=1)) == {"deep.py": why}
    assert told(kdoctor.fix(["."], jobs=1).found) == {"deep.py": why}


@pytest.mark.parametrize("code", NO_PYTHON.values(), ids=NO_PYTHON)
def test_what_python_itself_finds_too_deep_is_named(code):
    Path("deep.py").write_text(f"{HEAD}\n{code}\n")
    why = told(kdoctor.scan(["."], jobs=1))["deep.py"]
    assert "too many" in why
    assert "(line " in why


def test_what_is_long_but_flat_is_looked_into():
    flat = [
        "x = {" + ", ".join(f"{n}: {n}" for n in range(20_000)) + "}",
        "y = [\n" + "    [1, (2, 3)],\n" * 1000 + "]",
        "z = '" + "a" * 1_000_000 + "'",
        "w = " + " + ".join(["a"] * 300),
        "; ".join(["v = a"] * 500),
        "if x:\n    pass\n" + "elif y:\n    pass\n" * 300,
    ]
    Path("flat.py").write_text("\n".join([HEAD, *flat, "print(K.sum(x))\n"]))
    result = kdoctor.scan(["."], jobs=1)
    assert told(result) == {}
    assert "flat.py" in {finding.place.path for finding in result.findings}


@pytest.mark.parametrize(("count", "is_told"), [(MAX_BINDINGS, True), (MAX_BINDINGS + 1, False)])
def test_of_more_bindings_than_can_be_told_apart_nothing_is_said(count, is_told):
    bindings = "".join(f"if x == {n}:\n    L = backend\n" for n in range(count))
    Path("many.py").write_text(f"from keras import backend\n{bindings}print(L.sum([1]))\n")
    result = kdoctor.scan(["."], jobs=1)
    assert told(result) == {}
    assert ("many.py" in {finding.place.path for finding in result.findings}) is is_told


LAYERS = "import keras\nfrom keras import layers\n\n"


@pytest.mark.parametrize(
    "code",
    [
        "def net(x):\n" + "    x = layers.Dense(4)(x)\n" * 2000 + "    return x\n\n"
        "model = keras.Sequential()\nmodel.fit_generator(net)\n",
        "optimizer = keras.optimizers.SGD()\n" + "optimizer.lr = 0.9\n" * 2000
        + "model = keras.Sequential()\nmodel.fit_generator(optimizer)\n",
    ],
    ids=["layers, one on the other", "one attribute"],
)  # fmt: skip
def test_what_is_done_again_and_again_is_looked_into(code):
    Path("long.py").write_text(LAYERS + code)

    result = kdoctor.scan([Path()], target="keras==3.15.1")

    assert told(result) == {}
    assert "KD205" in {each.code for each in result.findings if each.place.path == "long.py"}


def test_the_fixes_of_one_attribute_are_no_more_than_its_places():
    Path("long.py").write_text(f"{LAYERS}o = keras.optimizers.SGD()\n" + "o.lr = 0.9\n" * 100)

    findings = kdoctor.scan(["long.py"], target="keras==3.15.1").findings

    # Each renames the attribute at all places; they are there once.
    assert {len(each.fix.edits) for each in findings} == {100}
    assert len({id(edit) for each in findings for edit in each.fix.edits}) == 100


def test_what_is_too_large_for_memory_is_named(monkeypatch):
    monkeypatch.setattr(parsing, "_MAX_SOURCE_SIZE", 20_000)
    entries = ", ".join(f"{n}: {n}" for n in range(2000))
    Path("large.py").write_text(f"{OLD}x = {{{entries}}}\n")
    assert told(kdoctor.scan(["."], jobs=1)) == {
        "large.py": "the code is longer than 20,000 characters; split it, or exclude the file "
        "(line 1, column 1)"
    }


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
def test_what_is_no_file_is_passed_over_or_named():
    os.mkfifo("pipe.py")
    Path("folder.py").mkdir()
    Path("folder.py", "inside.py").write_text(OLD)
    Path("one.py").symlink_to("other.py")
    Path("other.py").symlink_to("one.py")
    Path("again").symlink_to(".")
    Path("gone.py").symlink_to("nowhere.py")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.py")
        result = kdoctor.scan(["."], jobs=1)
    assert told(result) == {}
    assert result.files == ("folder.py/inside.py", "usual.py")
    for named in ("pipe.py", "/dev/null", "one.py"):
        with pytest.raises(kdoctor.UsageProblem, match=named):
            kdoctor.scan([named])


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
def test_a_module_that_is_a_pipe_is_not_waited_for():
    os.mkfifo("pipe.py")
    Path("usual.py").write_text(f"import pipe\nfrom pipe import *\n{OLD}")
    Path("quiet.py").write_text("from pipe import a\n\na()\n")
    assert told(kdoctor.scan(["."], jobs=1)) == {}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda path: path.unlink(), "cannot be read: No such file or directory"),
        (lambda path: path.write_bytes(b""), None),
        (lambda path: path.write_bytes(b"from keras import (\0"), "contains a null byte"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot be read: Is a directory"),
        pytest.param(
            lambda path: (path.unlink(), os.mkfifo(path)),
            "cannot be read: not a regular file",
            marks=pytest.mark.skipif(os.name == "nt", reason="named pipes"),
        ),
    ],
)
def test_a_file_that_changes_while_it_is_read_is_taken_as_it_is_then(change, why, monkeypatch):
    Path("late.py").write_text(OLD)

    def then_run(*arguments, **options):
        change(Path("late.py"))
        return dispatch.run(*arguments, **options)

    monkeypatch.setattr(scanning, "run", then_run)
    said = told(kdoctor.scan(["."], jobs=1))
    assert said.keys() == ({"late.py"} if why else set())
    assert said.get("late.py", "").startswith(why or "")


def notebook(cells, **more):
    code = {"cell_type": "code", "metadata": {}, "execution_count": 1}
    return json.dumps(
        {
            "cells": [{**code, **cell} for cell in cells],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
            **more,
        }
    )


def test_large_outputs_cost_a_notebook_nothing():
    image = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"image/png": "A" * 2_000_000},
    }
    lines = {"output_type": "stream", "name": "stdout", "text": ["line\n"] * 50_000}
    cells = [{"source": OLD.splitlines(keepends=True), "outputs": [image, lines]}]
    Path("large.ipynb").write_text(notebook(cells))
    result = kdoctor.scan(["."], jobs=1)
    assert told(result) == {}
    assert "large.ipynb" in {finding.place.path for finding in result.findings}


def test_json_that_is_nested_too_deeply_is_named():
    Path("deep.ipynb").write_text(f'{{"keras": {"[" * 100_000}{"]" * 100_000}}}')
    assert told(kdoctor.scan(["."], jobs=1)) == {
        "deep.ipynb": "not a valid notebook: its JSON is nested too deeply"
    }


def test_many_fences_are_many_pieces_of_code():
    fence = "```python\nfrom keras import backend as K\nx = 1\n```\n\n"
    Path("many.md").write_text(fence * 2000 + fence.replace("x = 1", "K.sum(1)"))
    Path("nested.md").write_text(
        "keras\n" + "".join(f"{'`' * (3 + n)}python\nimport keras\n" for n in range(500))
    )
    result = kdoctor.scan(["."], jobs=1)
    assert told(result) == {}
    assert {finding.place.path for finding in result.findings} == {"many.md", "usual.py"}
