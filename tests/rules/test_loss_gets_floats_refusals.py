"""KD458: what is said to refuse floats does so, and takes whole numbers, or truth values."""

import inspect

import pytest

from kdoctor.engine import fix
from kdoctor.rules.behaviour._float_refusals import (
    KEEP_FLOATS,
    OF_KERAS,
    OF_TENSORFLOW,
    WHILE_THERE,
    Wanted,
)

WANTED = {
    **OF_TENSORFLOW,
    **{f"tensorflow.keras.{name}": each for name, each in (OF_KERAS | WHILE_THERE).items()},
}
CASES = [
    pytest.param(name, each, id=f"{name}({each.parameter})")
    for name, all_of_it in WANTED.items()
    for each in all_of_it
]
KEPT = sorted(
    name if name.startswith("tensorflow.") else f"tensorflow.keras.{name}" for name in KEEP_FLOATS
)

ROW = [0.1, 0.2, 0.7]
ROWS = [ROW, ROW]
# By the name of the function, or its beginning: what is asked about, and what is passed beside it.
PASSED = {
    "one_hot": ([0, 2], {"depth": 3}),
    "gather": ([0, 2], {"params": ROW}),
    "gather_nd": ([[0], [2]], {"params": ROW}),
    "embedding_lookup": ([0, 2], {"params": ROW}),
    "segment": ([0, 2], {"data": ROWS}),
    "unsorted_segment": ([0, 2], {"data": ROWS, "num_segments": 3}),
    "tensor_scatter_nd": ([[0], [2]], {"tensor": ROW, "updates": [1.0, 2.0]}),
    "sparse_softmax": ([0, 2], {"logits": ROWS}),
    "in_top_k": ([0, 2], {"predictions": ROWS, "k": 1}),
    "ctc_loss": (
        [[1], [2]],
        {"logits": [ROWS, ROWS], "label_length": [1, 1], "logit_length": [2, 2], "blank_index": 0},
    ),
    "where": ([True, False, True], {"x": ROW, "y": ROW}),
    "logical": ([True, False, True], {}),
    "reduce": ([True, False, True], {}),
    "take": ([0, 2], {"x": ROW}),
    "keras.backend.gather": ([0, 2], {"reference": ROW}),
    "keras.backend.one_hot": ([0, 2], {"num_classes": 3}),
    "keras.ops.segment": ([0, 2], {"data": ROWS, "num_segments": 3}),
}
KEPT_WITH = {
    "boolean_mask": [[[True], [False]]],
    "broadcast_to": [[2, 2]],
    "clip_by_value": [0, 1],
    "expand_dims": [-1],
    "maximum": [0],
    "minimum": [0],
    "reshape": [[-1]],
    "squeeze": [-1],
    "tile": [[1, 2]],
}


def function_of(name):
    found = pytest.importorskip("tensorflow")
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def passed_to(name):
    """Return what suits a function best: by the longest name that it has."""
    rest = name.removeprefix("tensorflow.")
    suits = [each for each in PASSED if each in f".{rest}." and _begins_a_part(each, rest)]
    return PASSED[max(suits, key=len)]


def _begins_a_part(beginning, name):
    return any(part.startswith(beginning.split(".")[-1]) for part in name.split("."))


def run_in_a_graph(function, dtype, asked, value, others):
    """Run a function on values of a type that is known, as in a loss that `fit` calls."""
    tensorflow = pytest.importorskip("tensorflow")
    given = tensorflow.constant(value, dtype)
    beside = {name: _tensor(tensorflow, each) for name, each in others.items()}
    return tensorflow.function(lambda values: function(**{asked: values}, **beside))(given)


def _tensor(tensorflow, value):
    return tensorflow.constant(value) if isinstance(value, list) else value


@pytest.mark.frameworks
@pytest.mark.parametrize(("name", "wanted"), CASES)
def test_it_takes_what_keras_2_gave_and_refuses_floats(name: str, wanted: Wanted) -> None:
    function = function_of(name)
    value, others = passed_to(name)
    if "logical" in name:
        others = {each.parameter: value for each in WANTED[name] if each is not wanted}
    call = (function, wanted.dtype, wanted.parameter, value, others)

    run_in_a_graph(*call)
    if wanted.dtype != "bool":
        run_in_a_graph(function, "int64", *call[2:])
    with pytest.raises(TypeError) as raised:
        run_in_a_graph(function, "float32", *call[2:])
    assert wanted.error.removeprefix("TypeError: ") in str(raised.value)


@pytest.mark.frameworks
@pytest.mark.parametrize(("name", "wanted"), CASES)
def test_the_parameter_stands_where_it_is_said_to(name: str, wanted: Wanted) -> None:
    parameters = [*inspect.signature(function_of(name)).parameters]

    assert parameters[wanted.place] == wanted.parameter
    if wanted.beside is not None:
        other, place = wanted.beside
        assert parameters[place] == other


@pytest.mark.frameworks
@pytest.mark.parametrize("name", [each for each in WANTED if WANTED[each][0].beside])
def test_a_float_without_the_other_parameter_raises_nothing(name: str) -> None:
    (wanted,) = WANTED[name]
    run_in_a_graph(function_of(name), "float32", wanted.parameter, [1, 0, 1], {})


@pytest.mark.frameworks
@pytest.mark.parametrize("name", KEPT)
def test_floats_are_kept(name: str) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    others = KEPT_WITH.get(name.rpartition(".")[2], [])

    kept = function_of(name)(tensorflow.constant([[1.0], [2.0]]), *others)

    assert kept.dtype == tensorflow.float32


@pytest.mark.frameworks
def test_what_keras_has_instead_takes_floats() -> None:
    keras, tensorflow = pytest.importorskip("keras"), pytest.importorskip("tensorflow")
    assert [*WHILE_THERE] == ["backend.one_hot"]

    made = keras.ops.one_hot(tensorflow.constant([0.0, 2.0]), 3)

    assert made.numpy().tolist() == [[1, 0, 0], [0, 0, 1]]


OLD = """
import numpy as np
from keras import backend as K
from keras.layers import Dense
from keras.models import Sequential

weights = K.constant([1.0, 0.5, 2.0])


def loss(y_true, y_pred):
    labels = K.one_hot(K.flatten(y_true), 3)
    return -K.sum(labels * K.log(y_pred), axis=-1) * K.gather(weights, K.flatten(y_true))


model = Sequential([Dense(3, activation="softmax", kernel_initializer="ones")])
model.compile("sgd", loss=loss)
images = np.linspace(0, 1, 20, dtype="float32").reshape(4, 5)
labels = np.array([[0], [2], [1], [2]])
history = model.fit(images, labels, batch_size=4, epochs=2, verbose=0).history["loss"]
"""


@pytest.mark.frameworks
def test_with_the_fixes_of_what_is_gone_a_loss_of_keras_2_trains_as_it_did() -> None:
    for each in ("keras", "tf_keras"):
        pytest.importorskip(each)
    after = fix(["-"], stdin=OLD.encode(), target="keras==3.15.1").files[0].after.decode()
    old: dict[str, list[float]] = {}
    new: dict[str, list[float]] = {}

    exec(OLD.replace("from keras", "from tf_keras"), old)  # noqa: S102 - our own text
    exec(after, new)  # noqa: S102 - our own text

    assert 'ops.take(weights, ops.cast(ops.reshape(y_true, (-1,)), "int32"), axis=0)' in after
    assert new["history"] == pytest.approx(old["history"], rel=1e-5)
