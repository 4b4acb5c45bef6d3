"""In a notebook an import changes in its own cell, and no edit reaches over the end of a cell."""

import json

import pytest

from kdoctor.documents import Document
from kdoctor.model import Applicability, Fix
from kdoctor.rewrite import RewriteTable, plan_imports, render, rewrite
from kdoctor.rewrite.blank_lines import without_blank_lines
from kdoctor.syntax import Module, ReferenceKind

ROWS = [
    rewrite("keras.backend.square(x)", "keras.ops.square(x)"),
    rewrite("keras.backend.variable(value)", "keras.Variable(value)"),
]


def fixed(*cells):
    """Fix a notebook of these cells; return the cells."""
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {
                "cell_type": "code",
                "id": str(number),
                "source": cell,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for number, cell in enumerate(cells)
        ],
    }
    unit = Document.parse(json.dumps(notebook).encode(), "n.ipynb").units[0]
    module = Module.parse(unit)
    table = RewriteTable(ROWS, lambda _: None)
    uses = [each for each in module.references if each.kind is ReferenceKind.LOAD]
    attempts = [table.attempt(module, use, lambda _: Applicability.SAFE) for use in uses]
    fixes = [each for each in attempts if isinstance(each, Fix)]
    made = [*plan_imports(module, fixes), *(e for fix in fixes for e in fix.edits)]
    edits = [*without_blank_lines(module, made), *unit.masks]
    return (
        [
            render(
                unit.text,
                [edit for edit in edits if cell.span.covers(edit.span)],
                cell.span,
                unit.newline,
            )
            for cell in unit.cells
        ]
        if all(any(cell.span.covers(edit.span) for cell in unit.cells) for edit in edits)
        else None
    )


def test_the_import_changes_in_its_own_cell():
    assert fixed("%matplotlib inline\nfrom keras import backend as K", "K.square(x)") == [
        "%matplotlib inline\nfrom keras import ops",
        "ops.square(x)",
    ]


def test_a_new_import_stands_at_the_end_of_a_cell_without_newline():
    assert fixed("from keras import backend as K", "K.square(K.epsilon())") == [
        "from keras import backend as K\nfrom keras import ops",
        "ops.square(K.epsilon())",
    ]


def test_a_cell_may_lose_its_only_line():
    assert fixed("import keras", "from keras import backend as K", "K.variable(0)") == [
        "import keras",
        "",
        "keras.Variable(0)",
    ]


def test_a_cell_may_lose_its_last_line():
    assert fixed("import keras\nfrom keras import backend as K", "K.variable(0)") == [
        "import keras",
        "keras.Variable(0)",
    ]


@pytest.mark.parametrize("magic", ["!echo {K.floatx()}", "!echo $K", "K.sum?", "%prun -q K.f(1)"])
def test_an_import_that_a_magic_reads_stays(magic):
    assert fixed("from keras import backend as K", "K.square(x)", magic) == [
        "from keras import backend as K\nfrom keras import ops",
        "ops.square(x)",
        magic,
    ]


@pytest.mark.parametrize("magic", ["!echo K", "%matplotlib inline", "!pip install x.K"])
def test_an_import_that_a_magic_does_not_read_goes(magic):
    assert fixed("from keras import backend as K", "K.square(x)", magic) == [
        "from keras import ops",
        "ops.square(x)",
        magic,
    ]
