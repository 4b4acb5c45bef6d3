"""The function that KD101 writes into a file does what `K.function` of Keras 2 does."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability
from kdoctor.rules.names._backend.functions import HELPER
from tests.frameworks import keras, tf_keras

A = np.arange(6.0).reshape(2, 3) / 10
B = np.arange(8.0).reshape(2, 4) / 10

GRAPHS = {
    "a list": lambda of: ([of["a"]], [of["h"]]),
    "an input and an output": lambda of: (of["a"], of["h"]),
    "values of a dict": lambda of: ([of["a"]], OrderedDict(h=of["h"], a=of["a"]).values()),
    "the one value of a dict": lambda of: ([of["a"]], OrderedDict(h=of["h"]).values()),
    "a tuple of one": lambda of: ([of["a"]], (of["h"],)),
    "a dict": lambda of: ([of["a"]], {"h": of["h"], "a": of["a"]}),
    "a dict of one": lambda of: ([of["a"]], {"h": of["h"]}),
    "lists in a list": lambda of: ([of["a"]], [[of["h"], of["a"]], of["a"]]),
}
VALUES = {
    "in a list": [A],
    "bare": A,
    "in a tuple": (A,),
    "integers": (A * 10).astype(int),
    "by name": {"a": A},
    "too many": [A, B],
    "of another width": A[:, :2],
}
PAIRS = {
    "two lists": lambda of: ([of["a"], of["b"]], [of["c"], of["y"]]),
    "two tuples": lambda of: ((of["a"], of["b"]), (of["c"], of["y"])),
    "a dict of inputs": lambda of: ({"a": of["a"], "b": of["b"]}, [of["y"]]),
}
TWO_VALUES = {"in a list": [A, B], "in a tuple": (A, B), "by name": {"b": B, "a": A}, "one": [A]}


def findings(source):
    return scan(["-"], stdin=source.encode(), select=["KD101"]).findings


def backend_function():
    names = {
        "model": "keras.Model",
        "is_keras_tensor": "keras.backend.is_keras_tensor",
        "convert_to_numpy": "keras.ops.convert_to_numpy",
    }
    space = {"keras": keras}
    exec(HELPER.format(**names), space)  # noqa: S102 - it is ours
    return space["keras_function"]


def graph(framework):
    layers = framework.layers
    a, b = framework.Input((3,), name="a"), framework.Input((4,), name="b")
    h = layers.Dense(2, kernel_initializer="ones", activation="tanh")(a)
    c = layers.Concatenate()([h, b])
    y = layers.Dense(1, kernel_initializer="ones")(layers.Dropout(0.5)(c))
    return {"a": a, "b": b, "h": h, "c": c, "y": y}


def shown(function, graph, values):
    try:
        results = function(*graph)(values)
    except ValueError:
        return "ValueError"
    return keras.tree.map_structure(
        lambda each: (type(each), each.dtype, np.round(each, 4).tolist()), results
    )


def both(inputs_and_outputs, values):
    old = shown(tf_keras.backend.function, inputs_and_outputs(graph(tf_keras)), values)
    return old, shown(backend_function(), inputs_and_outputs(graph(keras)), values)


@pytest.mark.frameworks
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("made_of", GRAPHS)
def test_it_gives_what_keras_2_gives(made_of, values):
    old, new = both(GRAPHS[made_of], VALUES[values])
    assert old == new
    assert (old == "ValueError") == (values in ("too many", "of another width"))


@pytest.mark.frameworks
@pytest.mark.parametrize("values", TWO_VALUES)
@pytest.mark.parametrize("made_of", PAIRS)
def test_it_gives_what_keras_2_gives_for_two_inputs(made_of, values):
    old, new = both(PAIRS[made_of], TWO_VALUES[values])
    assert old == new
    assert (old == "ValueError") == (values == "one")


@pytest.mark.frameworks
def test_a_number_comes_as_one():
    start, again = tf_keras.Input(batch_shape=()), keras.Input(batch_shape=())
    old = tf_keras.backend.function([start], [start + 1])([np.array(2.0)])
    new = backend_function()([again], [again + 1])([np.array(2.0)])
    assert (old, [type(each) for each in old]) == (new, [type(each) for each in new])


@pytest.mark.parametrize(
    "call",
    [
        "K.function(*both)",
        "K.function([K.learning_phase() + x], [y])",
        "K.function([x, K.learning_phase(), K.learning_phase()], [y])",
        "K.function(inputs={'x': x, 'phase': K.learning_phase()}, outputs=[y])",
        "K.function([x], [y], updates=[step])",
        "K.function([x],  # the image\n    [y],  # the answer\n    name='f')",
        "map(K.function, xs, ys)",
        "K.function([x], K.gradients(*both))",
        "K.function([x], [y] + [optimizer.apply_gradients(pairs)])",
    ],
)
def test_what_it_cannot_say_stays(call):
    source = f"from keras import backend as K\n\nf = {call}\n"
    found = findings(source)
    assert [each.fix for each in found if each.symbol.endswith("function")] == [None]


def test_no_function_is_written_for_gradients_that_came_by_way_of_names():
    source = (
        "from keras import backend as K\n\ngrads = K.gradients(*pair)[0]\ngrads /= 2.0\n"
        "both = [loss, grads]\nf = K.function([x], both)\n"
    )
    [finding] = [each for each in findings(source) if each.symbol.endswith("function")]
    assert finding.fix is None
    assert "`gradients`" in finding.no_fix_because


def test_the_learning_phase_of_calls_elsewhere_is_none_among_the_inputs():
    source = (
        "from keras import backend as K\n\n\ndef f(model):\n"
        "    return K.function(model.inputs + [ K.learning_phase() ], [model.output])\n"
    )
    found = findings(source)
    assert {each.fix.applicability for each in found} == {Applicability.UNSAFE}
    (file,) = fix(["-"], stdin=source.encode(), unsafe=True).files
    assert file.after.decode().endswith(
        "    return keras_function_with_phase(model.inputs + [ None ], [model.output])\n"
    )


def test_a_function_of_ones_own_called_gradients_hinders_nothing():
    source = (
        "from keras import backend as K\n\n\ndef gradients(x):\n    return x\n\n\n"
        "f = K.function([x], [gradients(x)])\n"
    )
    [finding] = findings(source)
    assert finding.fix is not None


def test_one_function_is_written_for_all_calls():
    source = (
        "from tensorflow.keras import backend as K\n\n\ndef f(x, y):\n"
        "    return K.function([x], y)\n\n\ndef g(x, y):\n    return K.function(x, [y], [], 'g')\n"
    )
    found = findings(source)
    firsts = {each.fix.edits[0] for each in found}
    assert [each.fix.applicability for each in found] == [Applicability.SAFE] * 2
    assert len(firsts) == 1


def test_the_function_is_written_above_the_decorators_of_a_test():
    source = (
        "import pytest\nfrom keras import backend as K\n\n\n# Two of them.\n"
        "@pytest.mark.parametrize('y', [1])\n@other\ndef test(y):\n    K.function([x], y)\n"
    )
    [finding] = findings(source)
    assert finding.fix.edits[0].span.start == source.index("# Two of them.")


LAZY = "def f(model):\n    from keras import backend as k\n    return k.function([model.input], [model.output])\n"


@pytest.mark.parametrize(
    "above", ["", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import keras\n"]
)
def test_no_function_is_written_where_keras_is_imported_in_functions_only(above):
    [finding] = findings(above + LAZY)
    assert finding.fix is None


def test_the_function_reads_no_name_that_another_function_imports():
    result = fix(["-"], stdin=f"from keras import layers\n{LAZY}".encode(), unsafe=True)
    text = result.files[0].after.decode()
    assert text.startswith("from keras import Model, backend, layers, ops\n")
    assert "not backend.is_keras_tensor(outputs)" in text
    assert "import backend as k" not in text


def test_the_function_has_inputs_and_outputs_as_that_of_a_session_had():
    x = keras.Input((3,))
    y = keras.layers.Dense(2)(x)
    run = backend_function()([x], y)
    assert run.inputs == [x]
    assert run.outputs == [y]
