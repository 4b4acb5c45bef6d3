"""A Keras 2 result that differs in a graph only is what users get, so it is compared."""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.verify.conditions import Conditions
from kdoctor.verify.jobs import RewriteJob

pytest.importorskip("tf_keras")
pytest.importorskip("keras")

from kdoctor.verify.callables import read_callables
from kdoctor.verify.run_rewrite import RewriteProver
from kdoctor.verify.values import Array

pytestmark = pytest.mark.frameworks
REPEAT = "keras.backend.repeat_elements(x, rep, axis) -> keras.ops.repeat(x, rep, axis)"
DOT = "keras.backend.dot(x, y) -> keras.ops.dot(x, y)"


def numbers(*shape):
    return Array(np.arange(np.prod(shape), dtype="float32").reshape(shape))


CASES = [
    (REPEAT, "function_sizes", {"x": numbers(2, 3, 4), "rep": 2, "axis": -2}, False),
    (REPEAT, "symbolic_batch", {"x": numbers(2, 3, 4), "rep": 2, "axis": -3}, False),
    (REPEAT, "symbolic_batch", {"x": numbers(2, 3, 4), "rep": 2, "axis": -1}, True),
    (REPEAT, "function_sizes", {"x": numbers(2, 3, 4), "rep": 2, "axis": 1}, True),
    (REPEAT, "eager", {"x": numbers(2, 3, 4), "rep": 2, "axis": -2}, True),
    (DOT, "function_rank", {"x": numbers(3, 4), "y": numbers(2, 4, 5)}, False),
    (DOT, "function_rank", {"x": numbers(3, 4), "y": numbers(4, 5)}, True),
    (DOT, "function_sizes", {"x": numbers(3, 4), "y": numbers(2, 4, 5)}, True),
]


@pytest.mark.parametrize(("key", "mode", "arguments", "holds"), CASES)
def test_it_is_compared(key, mode, arguments, holds):
    left, right = key.split(" -> ")
    prover = RewriteProver(RewriteJob(key, left, right, "", 1, 0), read_callables(left, right))
    prover.try_mode(Conditions(), mode, arguments)
    assert prover.cases[mode] == 1
    assert (not prover.outcome.failures) is holds, prover.outcome.failures
