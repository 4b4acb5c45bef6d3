"""What KD205 writes into a file gives what `output_shape` and `input_shape` of Keras 2 give."""

from __future__ import annotations

import json

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability
from kdoctor.rules.members._output_shapes import HELPERS, NAMES
from tests.frameworks import keras, tf_keras


def layers_of(framework):
    """Return layers of every kind: of one and several outputs, called twice, models."""
    of = framework.layers
    x, other = framework.Input((6, 4)), framework.Input((6, 4))
    twice = of.Dense(3)
    inner = framework.Sequential([framework.Input((6, 3)), of.Conv1D(2, 3), of.Flatten()])
    fork_in = framework.Input((4,))
    fork = framework.Model(fork_in, [of.Dense(2)(fork_in), of.Dense(3)(fork_in)])
    y = inner(of.Add()([twice(x), twice(other)]))
    states = of.LSTM(5, return_state=True)(x)
    both = of.Bidirectional(of.GRU(2, return_sequences=True))(x)
    last = of.Concatenate()([y, *fork(states[0][:, :4]), of.GlobalMaxPooling1D()(both)])
    model = framework.Model([x, other], of.Dropout(0.5)(last))
    alone = framework.Sequential([framework.Input((4,)), of.Dense(2), of.Reshape((2, 1))])
    return [*model.layers, *alone.layers]


def shapes_of(framework, ask):
    # `x[:, :4]` is a layer of other names in each.
    kept = [
        each
        for each in layers_of(framework)
        if type(each).__name__ not in ("GetItem", "SlicingOpLambda")
    ]
    return [(type(each).__name__, ask(each)) for each in kept]


def written(member):
    """Return the function that is written into a file."""
    space = {"keras": keras}
    exec(HELPERS[member].format(input_layer="keras.layers.InputLayer"), space)  # noqa: S102 - it is ours
    return space[NAMES[member]]


@pytest.mark.frameworks
@pytest.mark.parametrize("member", NAMES)
def test_it_gives_what_keras_2_gives(member):
    old = shapes_of(tf_keras, lambda layer: getattr(layer, member))
    new = shapes_of(keras, written(member))
    assert sorted(map(repr, new)) == sorted(map(repr, old))


@pytest.mark.frameworks
@pytest.mark.parametrize("member", NAMES)
def test_a_layer_never_called_has_none(member):
    with pytest.raises(AttributeError, match="never been called"):
        getattr(tf_keras.layers.Dense(2), member)
    with pytest.raises(AttributeError, match="never been called"):
        written(member)(keras.layers.Dense(2))


def test_a_layer_of_a_known_class_is_asked_plainly():
    source = "import keras\n\nlayer = keras.layers.Dense(3)\nlayer(x)\nprint(layer.output_shape)\n"
    [finding] = scan(["-"], stdin=source.encode(), select=["KD205"]).findings
    [edit] = finding.fix.edits
    assert edit.parts[-1].endswith("output.shape")


def test_what_merges_is_asked_for_the_shapes_of_all_its_inputs():
    source = "import keras\n\nlayer = keras.layers.Add()\nlayer([x, y])\nprint(layer.input_shape)\n"
    [finding] = scan(["-"], stdin=source.encode(), select=["KD205"]).findings
    assert finding.fix.edits[-1].parts[0] == "input_shape_of("


def test_a_model_in_a_model_has_layers():
    source = (
        "import keras\n\n\ndef f(model: keras.Model):\n"
        "    return model.get_layer('encoder').layers[-1].output_shape\n"
    )
    [finding] = scan(["-"], stdin=source.encode(), select=["KD205"]).findings
    assert "output_shape" in finding.message


def test_the_shapes_of_all_inputs_are_no_safe_guess():
    source = "import keras\n\n\ndef f(layer: keras.layers.Layer):\n    return layer.input_shape\n"
    [finding] = scan(["-"], stdin=source.encode(), select=["KD205"]).findings
    assert finding.fix.applicability is Applicability.UNSAFE


def test_no_lines_are_left_free_above_it_in_a_cell():
    cells = [
        ["from tensorflow.keras.applications import VGG16\n", "model = VGG16()"],
        ["model.layers[0].output_shape[0]"],
    ]
    book = {
        "cells": [{"cell_type": "code", "source": each} for each in cells],
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
    }
    told = scan(["-"], stdin=json.dumps(book).encode(), stdin_filename="a.ipynb", select=["KD205"])
    [finding] = told.findings
    [helper, _] = finding.fix.edits
    assert helper.parts[0].startswith("def ")


def test_one_function_is_written_for_all_reads():
    source = (
        "import keras\n\n\ndef widths(model: keras.Model):\n"
        "    for layer in model.layers:\n        yield layer.output_shape[-1]\n\n\n"
        "def last(model: keras.Model):\n    return model.get_layer('a').output_shape\n"
    )
    found = scan(["-"], stdin=source.encode(), select=["KD205"]).findings
    assert [each.fix.applicability for each in found] == [Applicability.SAFE] * 2
    assert len({each.fix.edits[0] for each in found}) == 1
