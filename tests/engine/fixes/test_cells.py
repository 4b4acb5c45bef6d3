"""Fixes in documents of several cells: each edit lies in one of them, whatever a fix takes out."""

from __future__ import annotations

import ast
import json

import pytest

from kdoctor.engine import fix, scan
from kdoctor.rules import Example, Rule, all_rules

FIXABLE = [
    pytest.param(rule, example, id=f"{rule.code}-{number}")
    for rule in all_rules()
    for number, example in enumerate(rule.invalid)
    if example.after is not None
]


def cells_of(source: str) -> list[str]:
    """Return each statement at the top of a source, with what stands above it."""
    statements = ast.parse(source).body
    lines = source.splitlines(keepends=True)
    ends = [each.end_lineno or 0 for each in statements]
    # What shares a line with another stays with it.
    ends = [
        end
        for end in dict.fromkeys(ends)
        if not any(s.lineno <= end < (s.end_lineno or 0) for s in statements)
    ]
    starts = [0, *ends[:-1]]
    return ["".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)]


def notebook(cells: list[str]) -> bytes:
    made = [
        {"cell_type": "code", "id": str(number), "metadata": {}, "outputs": []}
        | {"execution_count": None, "source": source}
        for number, source in enumerate(cells)
    ]
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}
    return json.dumps(document).encode()


def doctests(cells: list[str]) -> bytes:
    blocks = []
    for cell in cells:
        first, *others = cell.rstrip("\n").split("\n")
        blocks.append("\n".join([f">>> {first}", *(f"... {each}".rstrip() for each in others)]))
    return ("Text.\n\n" + "\n\nText.\n\n".join(blocks) + "\n").encode()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("newline", ["", "\n"])
@pytest.mark.parametrize(("rule", "example"), FIXABLE)
def test_a_fix_of_a_notebook_stays_in_its_cells(rule: Rule, example: Example, newline: str):
    source = example.before.rstrip("\n")
    for cells in ([source, "x = 1"], [*cells_of(source), "x = 1"]):
        _check(rule, example, notebook([cell.rstrip("\n") + newline for cell in cells]), "notebook")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("rule", "example"), FIXABLE)
def test_a_fix_of_a_fence_stays_in_it(rule: Rule, example: Example):
    fence = f"```python\n{example.before.rstrip()}\n```\n"
    _check(rule, example, f"{fence}\n```python\nx = 1\n```\n".encode(), "markdown")
    session = doctests([*cells_of(example.before), "x = 1"])
    _check(rule, example, session, "rst")


TAKEN_OUT = {
    "KD505": "import keras\nimport tensorflow as tf\ntf.compat.v1.disable_eager_execution()",
    "KD101": "from keras import backend as K\nK.set_learning_phase(0)",
}


@pytest.mark.parametrize("code", TAKEN_OUT)
@pytest.mark.parametrize("newline", ["", "\n"])
def test_the_last_line_of_a_cell_can_go(code: str, newline: str):
    cells = [TAKEN_OUT[code] + newline, "x = 1"]
    result = fix(["-"], unsafe=True, select=[code], kind="notebook", stdin=notebook(cells))
    first, second = json.loads(result.files[0].after)["cells"]
    assert cells[0].split("\n")[-1 if not newline else -2] not in "".join(first["source"])
    assert "".join(second["source"]) == "x = 1"


def _check(rule: Rule, example: Example, data: bytes, kind: str) -> None:
    options = {"stdin": data, "kind": kind, "select": [rule.code]}
    options |= {"target": example.on, "namespace": example.namespace, "backend": rule.backend}
    assert not scan(["-"], diffs=True, **options).unreadable
