"""Arguments are drawn as the guard of a rewrite lets them through."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kdoctor.verify import conditions
from kdoctor.verify.generators.scene import Scene
from kdoctor.verify.values import Role


@pytest.mark.parametrize(
    ("guard", "roles"),
    [
        ("no_array('x')", {Role.TENSOR, Role.VARIABLE}),
        ("no_variable('x')", {Role.TENSOR, Role.NUMPY}),
        ("no_array('x') & no_variable('x')", {Role.TENSOR}),
        ("no_array('y') & nothing_sparse()", {Role.TENSOR, Role.NUMPY, Role.VARIABLE}),
    ],
)
def test_what_an_argument_may_be_is_what_the_guard_leaves(guard, roles):
    rng = random.Random(0)  # noqa: S311 - the same in each run
    asked = conditions.read(guard, rng)
    scene = Scene("abs", rng, np.random.default_rng(0), asked, "float32", 2, "ordinary")
    assert {scene.any_role("x") for _ in range(200)} == roles
