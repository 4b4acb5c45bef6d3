"""The proofs compare the type of a result, and whether it shares memory."""

from __future__ import annotations

import pytest

from kdoctor.rewrite import rewrite
from kdoctor.verify import mutate, pool
from kdoctor.verify.jobs import RewriteJob

pytestmark = pytest.mark.frameworks

WRONG = {
    # The argument itself in place of a copy.
    ("keras.backend.identity(x, name=None)", "x", ""): ("eager", "kind: tensor -> variable"),
    ("keras.backend.cast_to_floatx(x)", "numpy.array(x, dtype=keras.config.floatx())",
     "no_tensor('x')"): ("eager", "aliasing: the argument itself -> a copy"),
    ("keras.backend.get_value(x)", "keras.ops.convert_to_numpy(x)[()]", "not_symbolic('x')"):
        ("eager", "kind: array -> NumPy number"),
    # A variable that is one no more: what is assigned later is not seen.
    ("keras.backend.cast(x, dtype)", "keras.ops.cast(x, dtype)",
     "is_tensor('x') & equals('dtype', 'float32')"):
        ("eager", "kind: variable -> tensor"),
    # An array in place of a number.
    ("keras.backend.get_value(x)", "keras.ops.convert_to_numpy(x)",
     "not_symbolic('x') & no_array('x')"): ("eager", "kind: NumPy number -> array"),
    # How many axes there are is not known.
    ("keras.backend.ndim(x)", "len(x.shape)", ""): ("function_rank", "unknown rank"),
    ("keras.backend.concatenate(tensors, axis=-1)", "keras.ops.concatenate(tensors, axis)",
     "equals('axis', -1)"): ("function_rank", ""),
    ("keras.backend.shape(x)", "keras.ops.shape(x)", "indexed()"): ("function_rank", "rank"),
    # Sparse.
    ("keras.backend.dot(x, y)", "keras.ops.dot(x, y)", ""): ("eager", "SparseTensor"),
}  # fmt: skip
RIGHT = [
    ("keras.backend.identity(x, name=None)", "keras.ops.copy(x)", ""),
    ("keras.backend.get_value(x)", "keras.ops.convert_to_numpy(x)[()]",
     "not_symbolic('x') & no_array('x')"),
    ("keras.backend.dot(x, y)", "keras.ops.matmul(x, y)", "of_rank(2, 'y') & rank_is_known()"),
    ("keras.backend.ndim(x)", "keras.ops.ndim(x)", "context(Context.CALL)"),
    ("keras.backend.concatenate(tensors, axis=-1)", "keras.ops.concatenate(tensors, axis)",
     "rank_is_known()"),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes():
    worker = pool.Worker()
    jobs = [
        RewriteJob(" ".join(each), *each, 96 if each in WRONG else 40, 1, each in WRONG)
        for each in (*WRONG, *RIGHT)
    ]
    yield {job.id: worker.do(job) for job in jobs}
    worker.end()


@pytest.mark.parametrize(("row", "failure"), WRONG.items(), ids=[" ".join(row) for row in WRONG])
def test_a_result_that_differs_in_more_than_its_numbers_fails(outcomes, row, failure):
    mode, what = failure
    found = {each["mode"]: each["what"] for each in outcomes[" ".join(row)].failures}
    assert mode in found, found
    assert what in found[mode]


@pytest.mark.parametrize("row", RIGHT, ids=[" ".join(row) for row in RIGHT])
def test_the_right_replacement_holds(outcomes, row):
    assert outcomes[" ".join(row)].holds, outcomes[" ".join(row)].failures


def changes_of(left, right):
    return {mutant.change: mutant.row.right for mutant in mutate.mutants_of(rewrite(left, right))}


def test_a_mutant_returns_the_original_in_place_of_a_copy():
    assert changes_of("keras.backend.identity(x)", "keras.ops.copy(x)") == {
        "an array of it": "keras.ops.convert_to_numpy(keras.ops.copy(x))",
        "x instead of keras.ops.copy(x)": "x",
    }
    assert changes_of("keras.backend.get_value(x)", "keras.ops.convert_to_numpy(x)[()]") == {
        "an array of it": "keras.ops.convert_to_numpy(keras.ops.convert_to_numpy(x)[()])",
        "keras.ops.convert_to_numpy(x) instead of keras.ops.convert_to_numpy(x)[()]": (
            "keras.ops.convert_to_numpy(x)"
        ),
    }
    assert "numpy.array(x) instead of numpy.asarray(x)" in changes_of(
        "keras.backend.cast_to_floatx(x)", "numpy.asarray(x)"
    )
