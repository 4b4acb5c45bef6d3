"""What names held where tests failed, as facts for a scan and in words."""

from __future__ import annotations

import json

import pytest

from kdoctor.keras_api import resolve_target
from kdoctor.migrate.seen_values import SeenValue, observation_of, seen_in
from kdoctor.value_types import Kind, Type

LAYER = "keras.src.layers.layer.Layer"
SYMBOLIC = "keras.src.backend.common.keras_tensor.KerasTensor"


@pytest.fixture(scope="module")
def target():
    return resolve_target("keras==3.15.1", "--target")


def value(cls, *bases, name="x", **more):
    return SeenValue("/p/a.py", 3, "f", name, cls, bases or (cls,), **more)


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (value(SYMBOLIC), Type(Kind.TENSOR, "KerasTensor")),
        (
            value("builtins.list", item=value(SYMBOLIC)),
            Type(Kind.LIST, item=Type(Kind.TENSOR, "KerasTensor")),
        ),
        (
            value("keras.src.layers.core.dense.Dense", "keras.src.layers.core.dense.Dense", LAYER),
            Type(Kind.LAYER, "Dense", "keras.layers.Dense"),
        ),
        (value("mine.Own", LAYER), Type(Kind.LAYER)),
        (value("mine.Net", "keras.src.models.model.Model", LAYER), Type(Kind.MODEL)),
        (value("tensorflow.python.framework.ops.EagerTensor"), Type(Kind.EAGER, "EagerTensor")),
    ],
)
def test_what_was_seen_is_a_type(target, seen, found):
    assert observation_of(seen, target).type == found


@pytest.mark.parametrize(
    "seen",
    [
        value("tensorflow.python.framework.ops.SymbolicTensor"),
        value("builtins.list", item=value("tensorflow.python.framework.ops.EagerTensor")),
        value("keras.src.layers.core.dense.Dense", name="other.layer"),
        value("keras.src.no.such.Thing"),
    ],
    ids=["of a graph", "list of arrays", "attribute of another object", "unknown class"],
)
def test_what_says_nothing_to_a_scan_is_no_fact(target, seen):
    assert observation_of(seen, target) is None


def test_what_fit_gives_is_no_callback(target):
    seen = value("keras.src.callbacks.history.History", "keras.src.callbacks.history.History")
    assert observation_of(seen, target).type.kind is Kind.HISTORY


@pytest.mark.parametrize(
    ("dtype", "numbers"), [("float32", "float"), ("uint8", "int"), ("bool", "bool"), ("object", "")]
)
def test_an_array_is_told_by_rank_and_numbers(target, dtype, numbers):
    found = observation_of(value("numpy.ndarray", rank=2, dtype=dtype), target)
    assert (found.type, found.form, found.axes, found.numbers) == (None, "array", 2, numbers)


def test_an_attribute_of_self_is_one_of_the_files_own_objects(target):
    found = observation_of(value(SYMBOLIC, name="self.model"), target)
    assert (found.function, found.name) == ("", ".model")


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (value(SYMBOLIC, rank=3, dtype="float32"), "a symbolic KerasTensor of rank 3, float32"),
        (value("tensorflow.python.framework.ops.EagerTensor", rank=0), "an EagerTensor of rank 0"),
        (value("mine.Own", LAYER), "an Own (a class of yours, made from Layer)"),
        (value("builtins.list", item=value(SYMBOLIC)), "a list, each a symbolic KerasTensor"),
    ],
)
def test_it_is_told_in_words(seen, text):
    assert seen.sentence == f"`x` in `f` is {text}"


def test_each_value_of_a_run_is_read_once(tmp_path):
    told = {"path": "/p/a.py", "line": 3, "function": "f", "name": "x", "class": "numpy.ndarray"}
    rows = [{"began": "t"}, {"seen": {**told, "bases": ["numpy.ndarray"], "rank": 1}}] * 2
    log = tmp_path / "run.probe"
    log.write_text("".join(f"{json.dumps(each)}\n" for each in rows) + '{"seen": {"pa')
    assert list(seen_in(log)) == [value("numpy.ndarray", rank=1)]
    assert list(seen_in(tmp_path / "none")) == []
