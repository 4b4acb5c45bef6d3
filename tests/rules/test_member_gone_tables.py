"""The rows that rewrite members, held against the release data and the installed Keras 3."""

import contextlib
import inspect

import numpy as np
import pytest

from kdoctor import keras_api
from kdoctor.engine import fix, scan
from kdoctor.keras_api import Presence, member_lookup, newest_target, resolve_target
from kdoctor.keras_api.private_members import TOLD
from kdoctor.rewrite import MemberRewrite
from kdoctor.rules.members import _advice
from kdoctor.rules.members._member_rewrites import KINDS, ROWS
from kdoctor.value_types import Kind, Type

TARGET = newest_target()
RELEASES = [
    resolve_target(f"keras=={release}", "test")
    for release in ("2.0.9", "2.1.6", "2.2.5", "2.3.1", "2.6.0", "2.10.0", "2.15.0")
]
# TensorFlow's own (`tf.Variable`), or optimizers' that only a subclass had.
NOT_IN_THE_DATA = {"keras.Variable", "keras.KerasTensor", "keras.optimizers.Optimizer"}


def old_signatures(row: MemberRewrite):
    found = [keras_api.signature(row.row.pattern.name, release) for release in RELEASES]
    return [each for each in found if each is not None]


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.called and row.owner not in NOT_IN_THE_DATA],
    ids=lambda row: row.row.left,
)
def test_the_left_side_is_the_signature_of_every_release_that_had_the_method(row):
    olds = old_signatures(row)
    assert olds
    _, *parameters = row.row.pattern.parameters.values()
    by_position = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    for old in olds:
        names = [each.name for each in old.parameters]
        assert names[: len(by_position)] == [each.name for each in by_position], old.text
    known = {each.name for old in olds for each in old.parameters}
    assert {each.name for each in parameters} <= known
    newest = {each.name: each.default for each in olds[-1].parameters}
    for each in parameters:
        if each.default is not inspect.Parameter.empty:
            assert each.default.source() == newest[each.name]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.row.id)
def test_what_a_row_replaces_is_gone_and_its_own_member_is_there(row):
    kind = KINDS[row.owner][0]
    if kind is not Kind.VARIABLE and not row.member.startswith("_"):  # asked of Keras below
        cls = row.owner.rpartition(".")[2]
        # Other layers have what these lack.
        asked = cls if cls in {"Bidirectional", "DepthwiseConv2D"} else kind
        assert member_lookup(asked, row.member, TARGET) is Presence.MISSING
    right = row.row.right
    if right.startswith("self."):
        new = right.removeprefix("self.").partition("(")[0].partition(".")[0]
        owner = {
            "scale_loss": "LossScaleOptimizer",
            "inputs": "Functional",
            "vocabulary_size": "StringLookup",
            "forward_layer": "Bidirectional",
            "kernel": "DepthwiseConv2D",
        }.get(new, kind)
        if not new.startswith("_"):
            assert member_lookup(owner, new, TARGET) is Presence.EXISTS


@pytest.mark.frameworks
def test_members_that_no_public_api_tells_of_are_gone_indeed():
    import keras  # noqa: PLC0415

    inputs = keras.Input((4,))
    dense = keras.layers.Dense(2)
    model = keras.Model(inputs, dense(inputs))
    model.compile("adam", "mse")
    objects = {
        Kind.MODEL: [model, keras.Sequential([dense])],
        Kind.LAYER: [dense, keras.layers.LSTM(2), keras.layers.InputLayer((3,))],
        Kind.OPTIMIZER: [model.optimizer, keras.optimizers.SGD()],
        Kind.TENSOR: [inputs],
        Kind.VARIABLE: [dense.kernel],
        Kind.METRIC: [keras.metrics.Mean()],
        Kind.CALLBACK: [keras.callbacks.Callback()],
    }
    for kind, member in _advice._ADVICE:
        assert [each for each in objects[kind] if hasattr(each, member)] == [], member
    for member in _advice._OF_TF_VARIABLES:
        assert not hasattr(dense.kernel, member)


@pytest.mark.frameworks
def test_no_object_has_a_private_member_that_is_said_to_be_gone():
    import keras  # noqa: PLC0415

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activity_regularizer="l2")])
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(keras.ops.ones((4, 4)), keras.ops.ones((4, 2)), verbose=0)
    objects = {
        Kind.MODEL: [model, keras.Model(model.inputs, model.outputs)],
        Kind.LAYER: [*model.layers, keras.layers.BatchNormalization(), keras.layers.LSTM(2)],
        Kind.OPTIMIZER: [model.optimizer, keras.optimizers.SGD()],
        Kind.METRIC: [keras.metrics.Mean(), keras.metrics.AUC()],
        Kind.LOSS: [keras.losses.MeanSquaredError()],
    }
    for kind, several in objects.items():
        for each in several:
            named = {kind, Type(kind, type(each).__name__)}
            had = TOLD.intersection(dir(each))
            assert not [(o, m) for o in named for m in had if _is_gone(o, m)], each


WAYS = ((), (2,), (2, 3), (1,), (4, 2), ((2,),))
SHAPES = ((2, 3), (2, 6, 4), (2, 6, 6, 4), (2, 6, 6, 6, 4))


@pytest.mark.frameworks
def test_no_class_of_keras_has_a_private_member_that_is_said_to_be_gone():
    import keras  # noqa: PLC0415

    made = 0
    for kind, module in (
        (Kind.LAYER, keras.layers),
        (Kind.METRIC, keras.metrics),
        (Kind.LOSS, keras.losses),
        (Kind.OPTIMIZER, keras.optimizers),
    ):
        for name, cls in vars(module).items():
            if not inspect.isclass(cls):
                continue
            for each in _objects(cls, kind is Kind.LAYER):
                made += 1
                owner = Type(kind, name, f"{module.__name__}.{name}")
                gone = [m for m in TOLD.intersection(dir(each)) if _is_gone(owner, m)]
                assert gone == [], name
    assert made > 150


def _objects(cls, is_called):
    """Yield an object of a class, and of a layer one that was called, where it can be made so."""
    for given in WAYS:
        if (found := _result(cls, *given)) is None:
            continue  # it is made in another way, or is no such class
        yield found
        for shape in SHAPES if is_called else ():
            if _result(found, np.ones(shape, "float32")) is not None:
                yield found
                return


def _result(function, *given):
    with contextlib.suppress(Exception):
        return function(*given)
    return None


def _is_gone(owner, member):
    return member_lookup(owner, member, TARGET) is Presence.MISSING


@pytest.mark.frameworks
def test_private_members_are_written_down():
    pytest.importorskip("tensorflow")
    from tools.private_members import told  # noqa: PLC0415

    assert told() == TOLD


@pytest.mark.frameworks
def test_tf_variables_have_what_is_said_to_be_theirs():
    import tensorflow as tf  # noqa: PLC0415

    classes = (tf.Variable, tf.compat.v1.Variable, type(tf.Variable(1.0)))
    for member in _advice._OF_TF_VARIABLES:
        assert any(hasattr(each, member) for each in classes), member


HEAD = "import keras\nmodel = keras.Sequential()\n"


def mended(source: str) -> str:
    result = fix(["-"], stdin=(HEAD + source).encode(), select=["KD205"], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode().removeprefix(HEAD) if result.files else source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # What Python binds by position is bound by name where the places differ.
        ("model.fit_generator(g, 3)", "model.fit(g, steps_per_epoch=3)"),
        ("model.fit_generator(generator=g, epochs=3)", "model.fit(x=g, epochs=3)"),
        ("model.fit_generator(g, workers=1)", "model.fit(g)"),
        ("model.fit_generator(g, workers=w, epochs=3)", "model.fit(g, epochs=3)"),
        ("model.fit_generator(workers=w, generator=g)", "model.fit(x=g)"),
        ("model.fit_generator(g, workers=w,\n  epochs=3)", "model.fit(g,\n  epochs=3)"),
        ("model.fit_generator(\n  g,\n  workers=w,\n  epochs=3)", "model.fit(\n  g,\n  epochs=3)"),
        ("model.fit_generator(g, epochs=3, workers=w)", "model.fit(g, epochs=3)"),
        ("model.fit_generator(g, epochs=3, workers=w,)", "model.fit(g, epochs=3,)"),
        (
            "model.fit_generator(g, workers=w, max_queue_size=2, epochs=3)",
            "model.fit(g, epochs=3)",
        ),
        (
            "model.fit_generator(\n    g,  # batches\n    epochs=3,\n    workers=w,\n)",
            "model.fit(\n    g,  # batches\n    epochs=3,\n)",
        ),
        (
            "model.fit_generator(\n    g,\n    workers=1,  # one\n    epochs=3,\n)",
            "model.fit(\n    g,\n      # one\n    epochs=3,\n)",
        ),
        (
            "y = (model\n     # a comment\n     .predict_generator(g, 3))",
            "y = (model\n     # a comment\n     .predict(g, steps=3, verbose=0))",
        ),
        ("h = model.fit_generator(g).history", "h = model.fit(g).history"),
        # A second one inside the first.
        (
            "model.fit_generator(g(model.predict_generator(x)))",
            "model.fit(g(model.predict(x, verbose=0)))",
        ),
    ],
)
def test_arguments_keep_their_text_and_find_their_places(before, after):
    assert mended(before) == after


@pytest.mark.parametrize(
    "source",
    [
        "model.fit_generator(*a)",
        "model.fit_generator(g, *a, **k)",
        "model.fit_generator(g, 3, **k)",
        "model.fit_generator(**k)",
        "model.fit_generator(g, workers=2, **k)",
        "model.fit_generator()",
        "model.fit_generator(g, samples_per_epoch=3)",
        # By position this was `class_weight` in Keras 2.0 and 2.1, and is `validation_freq` since.
        "model.fit_generator(g, 3, 4, 1, [], v, 2, w)",
        "f = model.fit_generator",
        "model.fit_generator(g, workers=  # many\n    w)",
    ],
)
def test_where_arguments_would_get_lost_nothing_is_changed(source):
    assert mended(source) == source


def test_a_receiver_of_the_users_own_class_is_left_to_it():
    owner = Type(Kind.MODEL, "Mine", "keras.Model")
    assert member_lookup(owner, "fit_generator", TARGET) is Presence.UNKNOWN


@pytest.mark.frameworks
def test_what_is_said_to_be_read_only_is():
    import keras  # noqa: PLC0415

    from kdoctor.rules.members.read_only_member import (  # noqa: PLC0415
        OF_FUNCTIONAL,
        OF_LAYERS,
        READ_ONLY,
    )

    inputs = keras.Input((4,))
    objects = {
        Kind.CALLBACK: keras.callbacks.Callback(),
        Kind.LAYER: keras.layers.Flatten(),
        Kind.MODEL: keras.Model(inputs, inputs),
        Kind.OPTIMIZER: keras.optimizers.SGD(),
    }
    members = [(kind, member) for kind, names in READ_ONLY.items() for member in names]
    for kind, member in [*members, *((Kind.MODEL, each) for each in OF_FUNCTIONAL)]:
        with pytest.raises(AttributeError):
            setattr(objects[kind], member, [])
    arguments = {"EinsumDense": ("ab,bc->ac", 3), "Dense": (3,)}
    for cls, member in OF_LAYERS.items():
        layer = getattr(keras.layers, cls)(*arguments.get(cls, (3, 1)))
        with pytest.raises(AttributeError, match="has no setter"):
            setattr(layer, member, [])


def test_a_metric_of_ones_own_is_mended_by_all_rules_at_once() -> None:
    """The name of a weight, that of the metric and those of a base: no fix is in another's way."""
    source = (
        "import keras\n\n\nclass Score(keras.metrics.Metric):\n"
        "    def __init__(self, name='score', dtype=None):\n        super().__init__(name, dtype)\n\n"
        "        def zeros(name):\n"
        "            return self.add_weight(name, shape=(2,), initializer='zeros', dtype=self.dtype)\n\n"
        "        self.hits = zeros('hits')\n"
    )
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    assert not result.left_alone
    after = result.files[0].after.decode()
    assert "super().__init__(name=name, dtype=dtype)" in after
    assert "add_weight(name=name, shape=(2,), initializer='zeros', dtype=self.dtype)" in after


def test_a_method_that_keeps_its_name_is_not_said_to_take_its_own_place():
    source = (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = self.add_weight('w', (3,))\n"
    )
    (finding,) = scan(["-"], stdin=source.encode(), select=["KD212"]).findings
    assert finding.fix.title == "Write the arguments of `.add_weight(…)` as they are called today"
