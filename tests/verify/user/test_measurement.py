"""What counts as the same where the other side is another backend."""

from dataclasses import replace

import numpy as np
import pytest

from kdoctor.verify.user.worker.backend import COMPILED
from kdoctor.verify.user.worker.measurement import (
    Case,
    Sides,
    compare,
    error_text,
    random_in,
    typical_sizes,
)

WIDE = np.linspace(0.0, 1.0, 5)
JAX = Sides("Keras 2", "Keras 3 with JAX", frozenset({("float64", "float32")}))


def told(old, new, sides=None):
    return [(each.where, each.told) for each in compare(Case("x", old), Case("x", new), sides)[0]]


def test_a_compiled_value_is_held_to_the_ordinary_one():
    old = {"value": np.float32([1.0])}
    new = {**old, f"value{COMPILED}": np.float32([1.5])}
    assert told(old, new, JAX) == [
        ("value, compiled", "at [0]: 1 on Keras 2, 1.5 on Keras 3 with JAX")
    ]
    assert told(old, {**new, f"value{COMPILED}": np.float32([1.0])}, JAX) == []


def test_float64_may_be_float32_only_where_a_backend_narrows_it():
    old, new = {"value": WIDE}, {"value": WIDE.astype("float32")}
    assert told(old, new, JAX) == []
    assert told(old, new) == [("value", "float64 on Keras 2, float32 on Keras 3")]
    assert told(new, old, JAX) == [("value", "float32 on Keras 2, float64 on Keras 3 with JAX")]


def test_what_was_random_is_known_by_case_and_value():
    case = Case("x", {"shape of the value": "{}", "distribution of the value": 1, "weights": ""})
    assert random_in([case]) == {("x", "value")}


def test_where_jax_traces_our_function_is_not_told():
    error = ValueError(
        "no value The error occurred while tracing the function traced at /a/on_jax.py:77 for jit. "
        "This one was not available."
    )
    assert error_text(error) == "ValueError: no value This one was not available."


def test_where_terms_cancel_out_another_backend_may_round_in_another_way():
    old, new = {"value": np.asarray(-3.7e-9, "float32")}, {"value": np.asarray(5.0e-9, "float32")}
    others = [Case(str(each), {"value": np.asarray(each, "float32")}) for each in (0.0, 0.3, 0.5)]
    sizes = typical_sizes(others)
    assert sizes == {"value": pytest.approx(0.3)}
    assert told(old, new, replace(JAX, sizes=sizes)) == []
    assert told(old, {"value": np.asarray(1e-6, "float32")}, replace(JAX, sizes=sizes)) != []
    assert told(old, new, JAX) != []
