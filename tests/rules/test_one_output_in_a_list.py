"""KD450 beyond the rule's examples: its tables held against Keras, and who else may see a list."""

from contextlib import suppress

import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability, Severity
from kdoctor.rules.behaviour._list_uses import GIVING_TWO, REFUSING, REFUSING_OPS
from kdoctor.rules.behaviour._single_item_lists import HANDING_ON, WITH_AN_AXIS_MORE

_ERRORS = (AttributeError, IndexError, TypeError, ValueError)
X = "import keras\n\nx, z = keras.Input((4,)), keras.Input((4,))\ny = keras.layers.Dense(4)(x)\n"
BASE = X + "base = keras.Model(x, [y])\n"


def findings(source, target=None):
    return scan(["-"], stdin=source.encode(), select=["KD450"], target=target).findings


def mended(source):
    result = fix(["-"], stdin=source.encode(), select=["KD450"], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode()


def applicability(source):
    (found,) = findings(source)
    return found.fix.applicability


# -- the tables, run


def layer(name):
    """Return a layer of this class, made of what it asks for."""
    keras = pytest.importorskip("keras")
    cls = getattr(keras.layers, name)
    if name in {"TimeDistributed", "SpectralNormalization"}:
        return cls(keras.layers.Dense(2))
    if name == "Bidirectional":
        return cls(keras.layers.LSTM(2))
    if name == "RNN":
        return cls(keras.layers.LSTMCell(2))
    given = {
        "Activation": ("relu",), "Embedding": (5, 2), "Reshape": ((-1,),), "Permute": ((2, 1),),
        "GroupNormalization": (1,), "Dense": (2,), "LSTM": (2,), "GRU": (2,), "SimpleRNN": (2,),
        "RepeatVector": (2,), "Resizing": (2, 2), "DepthwiseConv1D": (2,), "DepthwiseConv2D": (2,),
        "Rescaling": (0.5,),
    }  # fmt: skip
    if name in given:
        return cls(*given[name])
    if "Conv" in name:
        return cls(2, 2)
    if "Dropout" in name or name == "GaussianNoise":
        return cls(0.1)
    return cls(2) if name.startswith(("AveragePool", "MaxPool")) else cls()


def shapes_taken(name):
    """Return the shapes of one tensor that a layer takes."""
    keras = pytest.importorskip("keras")
    taken = []
    for shape in ((4,), (6, 4), (6, 6, 4), (6, 6, 6, 4), (3, 6, 6, 6, 4)):
        with suppress(*_ERRORS):
            layer(name)(keras.Input(shape))
            taken.append(shape)
    return taken


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(REFUSING - {"MultiHeadAttention"}))
def test_a_layer_that_is_said_to_refuse_a_list_of_one_does(name):
    keras = pytest.importorskip("keras")
    shapes = shapes_taken(name)
    assert shapes
    for shape in shapes:
        with pytest.raises(_ERRORS):
            layer(name)([keras.Input(shape)])


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(GIVING_TWO))
def test_a_layer_that_is_said_to_give_two_tensors_does(name):
    keras = pytest.importorskip("keras")
    for shape in shapes_taken(name):
        given = layer(name)([keras.Input(shape)])
        assert isinstance(given, tuple)
        assert len(given) == 2


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(HANDING_ON))
def test_a_layer_that_is_said_to_hand_a_list_on_does(name):
    keras, np = pytest.importorskip("keras"), pytest.importorskip("numpy")
    for shape in shapes_taken(name):
        x = keras.Input(shape)
        given = layer(name)(keras.Model(x, [keras.layers.Identity()(x)])(x))
        assert isinstance(given, list)
        assert len(given) == 1
        if name in WITH_AN_AXIS_MORE:
            assert keras.Model(x, given).predict(np.ones((2, *shape)), verbose=0).ndim > len(shape)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(REFUSING_OPS))
def test_a_function_that_is_said_to_refuse_a_list_of_one_does(name):
    keras = pytest.importorskip("keras")
    more = {
        "add": 2, "cast": 1, "clip": 2, "divide": 2, "expand_dims": 1, "maximum": 2, "minimum": 2,
        "multiply": 2, "power": 2, "repeat": 2, "reshape": 1, "subtract": 2, "tile": 1,
    }  # fmt: skip
    given = {"cast": ("float32",), "clip": (0, 1), "reshape": ((-1,),)}.get(name, (1,))
    function = getattr(keras.ops, name)
    passed = given if name in more else ()
    function(keras.Input((3, 1)) if name == "squeeze" else keras.Input((3,)), *passed)
    with pytest.raises((AttributeError, ValueError)):
        function([keras.Input((3,))], *passed)


# -- what is reported, and where


def test_all_places_are_one_finding_which_quotes_the_first_that_raises():
    (found,) = findings(BASE + "sum_ = base(x) + base(z)\nbase(z).shape\nbase(z).dtype\n")
    assert found.place.line == 5
    assert "`base(z)` (line 7)" in found.message
    assert "(and 2 more)" in found.message
    assert found.severity is Severity.ERROR


def test_what_raises_nowhere_is_a_change():
    (found,) = findings(BASE + "sum_ = base(x) + base(z)\n")
    assert found.severity is Severity.CHANGE


def test_the_error_is_quoted_as_the_release_words_it():
    source = BASE + "keras.layers.Dense(1)(base(z))\n"
    assert "Cannot convert" in findings(source)[0].message
    assert "Invalid dtype: tuple" in findings(source, "keras==3.8.0")[0].message
    source = BASE + "keras.layers.TimeDistributed(base)(keras.Input((5, 4)))\n"
    assert ": ValueError: Exception" in findings(source)[0].message
    assert ": NotImplementedError: Exception" in findings(source, "keras==3.3.3")[0].message


def test_lists_in_a_list_of_outputs_were_refused_at_first():
    source = BASE + "keras.Model(z, [base(z), z])\n"
    (now,), (then,) = findings(source), findings(source, "keras==3.3.3")
    assert now.severity is Severity.CHANGE
    assert then.severity is Severity.ERROR
    assert "all values" in then.message


def test_a_model_of_what_such_a_model_gives_gives_a_list_too():
    source = BASE + "outer = keras.Model(z, base(z))\nouter.output.shape\n"
    assert "`outer.output`" in findings(source)[0].message


def test_models_are_followed_through_functions_tuples_and_self():
    source = (
        "import keras\n\n\nclass Gan:\n    def __init__(self):\n"
        "        self.first, self.second = self.made()\n"
        "        x = keras.Input((4,))\n        self.whole = keras.layers.Dense(1)(self.first(x))\n"
        "\n    def made(self):\n        x = keras.Input((4,))\n"
        "        y = keras.layers.Dense(3)(x)\n"
        "        return keras.Model(x, [y]), keras.Model(x, y)\n"
    )
    assert len(findings(source)) == 1
    assert not findings(source.replace("self.first(x)", "self.second(x)"))


def test_a_part_of_what_a_symbolic_call_gives_is_symbolic():
    source = X + (
        "both = keras.Model(x, [y, y])\nbase = keras.Model(x, [y])\n_, second = both(z)\n"
        "whole = keras.Model(z, [base(second)])\n"
    )
    assert len(findings(source)) == 1


def test_one_of_two_models_that_gives_the_tensor_is_enough_to_say_nothing():
    source = BASE + "other = keras.Model(x, y)\nmodel = base if wide else other\nmodel(z).shape\n"
    assert not findings(source)


@pytest.mark.parametrize("asked", ["isinstance(out, list)", "len(out) == 1", "type(out) is list"])
def test_who_asks_whether_it_is_a_list_knows(asked):
    assert not findings(BASE + f"out = base.output\nif not {asked}:\n    out.shape\n")


def test_who_takes_the_tensor_out_elsewhere_knows():
    source = BASE + (
        "\n\ndef head(model, several):\n    if several:\n        return model.output[0].shape\n"
        "    return model.output.shape\n\n\nhead(base, True)\n"
    )
    assert not findings(source)
    assert findings(source.replace("model.output[0].shape", "None"))


@pytest.mark.parametrize(
    "around", ["with pytest.raises(AttributeError):", "with suppress(AttributeError):"]
)
def test_who_waits_for_the_error_is_left_alone(around):
    assert not findings(BASE + f"{around}\n    base.output.shape\n")


@pytest.mark.parametrize(
    "use", ["base.output.append(y)", "base.output + [y]", "base(z)[0]", "[*base(z)]", "base(z)[:1]"]
)
def test_what_lists_do_is_left_alone(use):
    assert not findings(BASE + f"{use}\n")


def test_layers_that_are_added_to_another_model_of_that_name_do_not_stand_behind_it():
    source = BASE + (
        "model = keras.Sequential()\nmodel.add(base)\n"
        "model = keras.Sequential()\nmodel.add(keras.layers.Dense(1))\n"
    )
    assert not findings(source)


# -- the fix


def test_an_output_that_binds_loosely_gets_its_parentheses():
    source = X + "base = keras.Model(x, outputs=[last := keras.layers.Dense(2)(y)])\nbase(z) + 1\n"
    assert "outputs=(last := keras.layers.Dense(2)(y)))" in mended(source)


@pytest.mark.parametrize(
    "other",
    [
        "base.fit(a, [b])\nbase.predict(a)[0]",
        "base(images, training=False)",
        "base.trainable = False",
        "keras.utils.plot_model(base)",
    ],
)
def test_what_is_the_same_without_the_list_keeps_the_fix_safe(other):
    assert applicability(BASE + f"base(z) + 1\n{other}\n") is Applicability.SAFE


@pytest.mark.parametrize(
    "other",
    [
        "base.output[0]",
        "outs = base.output\nfor out in outs:\n    print(out)",
        "out = keras.layers.Dropout(0.1)(base(z))\nout[0]",
        "(out,) = base(z)",
        "base(images)[0]",
        "train(base)",
        "models = {'base': base}",
        "base.compute_output_shape((None, 4))",
        "train(base(z))",
        "self.base = base",
    ],
)
def test_whoever_may_count_on_the_list_makes_the_fix_unsafe(other):
    assert applicability(BASE + f"base(x) + 1\n{other}\n") is Applicability.UNSAFE
