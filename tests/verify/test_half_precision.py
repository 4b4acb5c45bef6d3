"""XLA divides by the reciprocal, which float16 lacks for the smallest numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from random import Random

import numpy as np
import pytest

from kdoctor.verify import proof_jobs
from kdoctor.verify.pool import run_all

pytest.importorskip("tf_keras")
pytest.importorskip("keras")

from kdoctor.verify import frameworks
from kdoctor.verify.backends import other_backend
from kdoctor.verify.callables import read_callables
from kdoctor.verify.conditions import read
from kdoctor.verify.generators import dtypes_under
from kdoctor.verify.run_rewrite import RewriteProver
from kdoctor.verify.values import Array

pytestmark = pytest.mark.frameworks
QUOTIENT = next(
    row for row in proof_jobs.rewrites_of_rules() if "divide_no_nan" in row.id and row.when
)
# A float16 tensor is divided by a row of subnormal numbers.
SEED = 926367316
WHY = "float16 divided by less than 1/65504: XLA multiplies by the reciprocal, which is infinite"


@pytest.mark.parametrize(
    ("backend", "dtype", "number", "told"),
    [
        ("jax", "float16", 1.5e-5, True),
        ("jax", "float16", -6e-8, True),
        ("jax", "float16", 1.6e-5, False),
        ("jax", "float16", 0.0, False),
        ("jax", "float32", 1e-7, False),
        ("torch", "float16", 1e-7, False),
        ("tensorflow", "float16", 1e-7, False),
    ],
)
def test_only_jax_explains_divisors_without_a_reciprocal(backend, dtype, number, told):
    retyped = "jax" if backend == "tensorflow" else backend
    asked = replace(other_backend(retyped, frameworks.run), name=backend)
    arguments = {"x": 2.0, "y": [Array(np.array([1.0, number], dtype))]}
    assert asked.explains_in_16_bits(arguments) == (WHY if told else "")


@cache
def proven(spoils: str):
    """Prove on what would be JAX, which spoils results of float16, or of float16 and float32."""

    def run(mode, call, arguments):
        ran = frameworks.run(frameworks.NEW, mode, call, arguments)
        is_spoilt = ran.result.dtype in spoils.split()
        data = ran.result.data + 1 if is_spoilt else ran.result.data
        return replace(ran, result=replace(ran.result, data=data))

    job = proof_jobs.rewrite_job(QUOTIENT, 12, SEED, "jax")
    return RewriteProver(
        job, read_callables(job.left, job.right), other_backend("jax", run)
    ).prove()


def test_a_difference_that_vanishes_in_32_bits_is_explained():
    outcome = proven("float16")
    assert outcome.explained[WHY] > 0
    assert outcome.failures, "float16 of ordinary numbers is not explained"


def test_a_difference_that_remains_in_32_bits_is_not_explained():
    outcome = proven("float16 float32")
    assert WHY not in outcome.explained
    assert outcome.failures


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_a_quotient_of_subnormal_numbers_holds_on_jax():
    (outcome,) = run_all([proof_jobs.rewrite_job(QUOTIENT, 24, SEED, "jax")], 1)
    assert outcome.holds, outcome.failures
    assert outcome.explained[WHY] > 0


def test_where_a_file_names_no_halves_a_proof_draws_none():
    guard = "no_halves() & nothing_sparse() & run_by_keras()"
    drawn = dtypes_under(read(guard, Random(0)))  # noqa: S311 - nothing secret
    assert {"float32", "float64", "int32"} <= {*drawn}
    assert not {"float16", "bfloat16"} & {*drawn}
