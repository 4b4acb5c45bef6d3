"""What gives a tensor without a value in a graph: TensorFlow and Keras are asked."""

from __future__ import annotations

from typing import Any

import pytest

from kdoctor.analysis.tensors.tensorflow_calls import (
    COMPUTE,
    GIVE_TENSORS,
    computes_tensor,
    returns_tensor,
)
from kdoctor.rules.behaviour.no_autograph import NUMBERS
from tests.frameworks import keras, tf

GIVEN = {
    "cast": (1, "bool"),
    "fill": ((), True),
    "ones": ((), "bool"),
    "placeholder_with_default": (True, ()),
    "random.normal": ((),),
    "random.uniform": ((),),
    "range": (1,),
    **dict.fromkeys(("where", "where_v2"), (True, True, False)),
    "zeros": ((), "bool"),
    **dict.fromkeys(("argmax", "argmin"), ([1.0, 2.0],)),
    **dict.fromkeys(("count_nonzero", "is_inf", "is_nan", "norm", "shape"), ([1.0],)),
    **dict.fromkeys(("equal", "greater", "greater_equal", "less", "less_equal"), (1, 2)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "not_equal"), (True, False)),
    **dict.fromkeys(("logical_not", "reduce_all", "reduce_any", "all", "any"), (True,)),
}


def is_without_value(function, given):
    """Say whether TensorFlow refuses the truth of what a function gives, in a graph."""

    @tf.function(autograph=False)
    def asks():
        return 1 if function(*given) else 2

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="as a Python `bool`"):
        asks()
    return True


def attribute_at(package: object, dotted: str) -> Any:
    """Return what has a dotted name in a package, None where it is not in this release."""
    found = package
    for part in dotted.split("."):
        found = getattr(found, part, None)
    return found


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(GIVE_TENSORS))
def test_tensorflow_gives_a_tensor_without_a_value(name: str) -> None:
    found = 0
    for home in ("", "math.", "linalg.", "debugging.", "compat.v1.", "compat.v1.math."):
        owner = attribute_at(tf, f"{home}{name}")
        if owner is not None:
            found += 1
            assert returns_tensor(f"tensorflow.{home}{name}")
            assert is_without_value(owner, GIVEN.get(name, (1.0,)))
    assert found


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(COMPUTE))
def test_a_tensor_is_computed_of_numbers_of_python(name: str) -> None:
    is_of_two = name in {"divide_no_nan", "add", "divide", "pow", "maximum", "minimum"}
    given = (0.5, 2.0) if is_of_two or name in {"multiply", "subtract"} else (0.5,)
    found = 0
    for package, home in ((tf, ""), (tf, "math."), (tf, "compat.v1."), (keras, "ops.")):
        owner = attribute_at(package, f"{home}{name}")
        if owner is not None:
            found += 1
            assert computes_tensor(f"{package.__name__.partition('.')[0]}.{home}{name}")
            assert tf.is_tensor(owner(*given))
    assert found


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_keras_gives_a_tensor_without_a_value(name: str) -> None:
    given = (1, "bool") if name == "cast" else GIVEN.get(name, (1.0,))
    assert is_without_value(getattr(keras.ops, name), given)


@pytest.mark.parametrize(
    "name", ["numpy.sum", "tensorflow.unstack", "tensorflow.nn.relu", "reduce_sum", "tensorflow"]
)
def test_of_others_nothing_is_said(name: str) -> None:
    assert not returns_tensor(name)
    assert not computes_tensor(name)
