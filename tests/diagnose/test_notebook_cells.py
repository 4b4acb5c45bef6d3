"""A cell of a notebook fails on what the cells before it have made: all of them are looked at."""

from __future__ import annotations

import json

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault, StepKind
from kdoctor.diagnose.cells import notebook_of

IMPORTS = "%matplotlib inline\nimport keras\nfrom keras import layers"
MODEL = "net = keras.Sequential([keras.Input((4,)), layers.Dense(1)])\nnet.compile('sgd', 'mse')"
FIT = "hist = net.fit(x, y)\nbest = hist.history.get('acc')"
NEW = "TypeError: '>' not supported between instances of 'NoneType' and 'float'"


def cell(number, source, *output):
    shown = [{"output_type": "error", "ename": "", "evalue": "", "traceback": [*output]}]
    return {
        "cell_type": "code",
        "execution_count": number,
        "metadata": {},
        "source": source.splitlines(keepends=True),
        "outputs": shown if output else [],
    }


def notebook(*cells):
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# Training"]}
    return json.dumps({"cells": [text, *cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def traceback(head, line, source, error):
    return "-" * 75, "Traceback (most recent call last)", f"{head}\n----> {line} {source}\n", error


GENERATOR = "x, y = load()\nnet.fit_generator(x)"
GONE = "AttributeError: 'Sequential' object has no attribute 'fit_generator'"
HEADS = {
    "Jupyter": "Cell In[4], line 2",
    "IPython 8.0": "Input In [4], in <cell line: 2>()",
    "Colab": "<ipython-input-4-5f3a9e8f0a1b> in <cell line: 2>()",
    "VS Code": r"c:\lab\net.ipynb Cell 4 line 2",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_what_an_earlier_cell_has_made_is_known_to_the_rules(head):
    failed = cell(4, GENERATOR, *traceback(head, 2, "net.fit_generator(x)", GONE))
    found = explain(notebook(cell(1, IMPORTS), cell(2, MODEL), failed), target="keras==3.15.1")
    assert (found.fault, found.rule, found.only_if) == (Fault.YOUR_CODE, "KD205", "")
    (diff,) = [step.text for step in found.steps if step.kind is StepKind.DIFF]
    assert diff == "# line 2 of Cell In[4]\n-net.fit_generator(x)\n+net.fit(x)\n"


def test_a_finding_of_an_earlier_cell_is_the_answer_and_its_cell_is_named():
    shown = traceback("Cell In[5], line 1", 1, "if best > .9:", NEW)
    failed = cell(5, "if best > .9:\n    print('good')", *shown)
    compiled = MODEL.replace("'mse'", "'mse', metrics=['accuracy']")
    cells = cell(1, IMPORTS), cell(2, compiled), cell(4, FIT), failed
    found = explain(notebook(*cells), target="keras==3.15.1")
    assert found.rule == "KD215"
    assert "line 2 of Cell In[4], which it depends on" in found.evidence[0]
    assert any("# line 2 of Cell In[4]\n-best" in step.text for step in found.steps)


def test_a_function_of_an_earlier_cell_in_which_it_failed_is_read_there():
    definition = "def train(net):\n    return net.fit_generator(x)"
    shown = (
        "Traceback (most recent call last)",
        "Cell In[6], line 1\n----> 1 train(net)\n",
        "Cell In[3], line 2, in train(net)\n----> 2     return net.fit_generator(x)\n",
        GONE,
    )
    cells = cell(1, IMPORTS), cell(2, MODEL), cell(3, definition), cell(6, "train(net)", *shown)
    found = explain(notebook(*cells), target="keras==3.15.1")
    assert found.only_if == ""
    assert str(found.place) == "Cell In[3]:2"
    assert "# line 2 of Cell In[3]\n-    return net.fit_generator(x)" in found.steps[0].text


def test_a_magic_before_a_statement_stays_in_the_diff():
    source = "%time net.fit_generator(x)"
    shown = traceback("Cell In[4], line 1", 1, source, GONE)
    found = explain(notebook(cell(1, IMPORTS), cell(2, MODEL), cell(4, source, *shown)))
    assert "-%time net.fit_generator(x)\n+%time net.fit(x)\n" in found.steps[0].text


def test_a_notebook_that_never_speaks_of_keras_is_told_so():
    shown = traceback("Cell In[2], line 1", 1, "best > .9", NEW)
    cells = cell(1, "best = {}.get('acc')"), cell(2, "best > .9", *shown)
    assert explain(notebook(*cells)).fault is Fault.NOT_KERAS


def sources(text, number):
    cells = notebook_of(text)
    failed = next(each for each in cells.cells if each.number == number)
    return cells.until(failed).data.decode().split()


def test_cells_stand_in_the_order_of_their_runs():
    cells = cell(3, "third"), cell(1, "first"), cell(9, "failed"), cell(2, "second"), cell(10, "x")
    assert sources(notebook(*cells), 9) == ["first", "second", "third", "failed"]


def test_a_cell_above_that_was_run_again_since_ran_before_all_the_same():
    cells = cell(1, "first"), cell(12, "again"), cell(None, "unknown"), cell(3, "failed")
    assert sources(notebook(*cells), 3) == ["first", "again", "unknown", "failed"]


def test_a_cell_that_was_changed_since_is_not_taken_for_the_one_that_failed():
    shown = traceback("Cell In[4], line 2", 2, "net.fit_generator(x)", GONE)
    changed = cell(4, "x, y = load()\nnet.fit(x)", *shown)
    found = explain(notebook(cell(1, IMPORTS), cell(2, MODEL), changed), target="keras==3.15.1")
    assert found.only_if  # nothing but the line is known


PASTED = "\n".join(traceback("Cell In[4], line 2", 2, "net.fit_generator(x)", GONE))


def written(folder, *cells):
    file = folder / "net.ipynb"
    file.write_text(notebook(cell(1, IMPORTS), *cells), "utf-8")
    return str(file)


def test_the_notebook_of_the_working_folder_that_has_the_line_in_the_cell_is_read(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, cell(2, MODEL), cell(4, GENERATOR))
    (tmp_path / "other.ipynb").write_text(notebook(cell(4, "x = 1\ny = 2")), "utf-8")
    found = explain(PASTED)
    assert (found.rule, found.only_if) == ("KD205", "")
    assert "assuming the cells are those of net.ipynb" in found.evidence[-1]


def test_of_two_notebooks_that_may_be_meant_none_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, cell(2, MODEL), cell(4, GENERATOR))
    (tmp_path / "copy.ipynb").write_bytes((tmp_path / path).read_bytes())
    assert explain(PASTED).only_if


def test_the_notebook_that_the_editor_names_is_read_wherever_it_is(tmp_path):
    path = written(tmp_path, cell(2, MODEL), cell(7, GENERATOR))
    found = explain(PASTED.replace("Cell In[4]", f"{path} Cell 4").replace(", line", " line"))
    assert (found.rule, found.only_if) == ("KD205", "")


@pytest.mark.parametrize("text", ['{"cell_type": 1', "{}", ""])
def test_what_is_no_notebook_is_read_as_a_text(text):
    assert notebook_of(text) is None
    assert explain(f"{text}\n{GONE}").error.name == "AttributeError"
