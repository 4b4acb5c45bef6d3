"""Which rewrite of a TensorFlow function its arguments and its file let through (KD801)."""

from __future__ import annotations

import textwrap

import pytest
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Document
from kdoctor.engine import fix
from kdoctor.keras_api import newest_target, oracle
from kdoctor.model import Applicability, Fix
from kdoctor.rewrite import RewriteTable
from kdoctor.rules.backends._tensorflow import REWRITES, UNPROVEN, canonical
from kdoctor.syntax import Module, ReferenceKind

FACTS = TargetFacts(newest_target(), backends=("jax", "torch"))
LAYER = "class A(keras.layers.Layer):\n    def call(self, x, y=None):\n        return {}\n"


def row_used(call, name, *, beside="", code=LAYER):
    """Return the right side and the guard of the row that holds for a call, None for a refusal."""
    source = (
        f"import keras\nimport tensorflow as tf\n{beside}\n{textwrap.dedent(code.format(call))}"
    )
    [unit] = Document.parse(source.encode(), "code.py").units
    module = Module.parse(unit, oracle(FACTS.target))
    tried = []

    def rate(row):
        tried.append(row)
        return Applicability.SAFE

    for each in module.references:
        known = canonical(each.name)
        if known == f"tensorflow.{name}" and each.kind is ReferenceKind.LOAD:
            use = replace(each, name=known, names=(known,))
            found = RewriteTable((*REWRITES, *UNPROVEN), FACTS.signature).attempt(module, use, rate)
            return (tried[-1].right, str(tried[-1].when)) if isinstance(found, Fix) else None
    raise AssertionError(name)


@pytest.mark.parametrize(
    "beside",
    ["", "def sparse_lovasz(x):\n    pass\n", "# sparse", "loss = 'sparse_categorical'", "a(sparse=False)"],
)  # fmt: skip
def test_the_word_sparse_alone_is_no_sparse_tensor(beside):
    assert row_used("tf.abs(x)", "abs", beside=beside) is not None


@pytest.mark.parametrize(
    "beside",
    ["y = tf.sparse.from_dense(z)", "y: tf.SparseTensor", "keras.Input((3,), sparse=True)",
     "a = scipy.sparse.csr_matrix(b)", "if K.is_sparse(a):\n    pass\n"],
)  # fmt: skip
def test_a_file_that_works_with_sparse_tensors_is_left(beside):
    assert row_used("tf.abs(x)", "abs", beside=beside) is None


def test_of_a_file_with_halves_another_row_is_taken():
    _, guard = row_used("tf.subtract(x, y)", "subtract")
    assert guard.startswith("no_halves()")
    _, guard = row_used("tf.subtract(x, y)", "subtract", beside="wh_half = wh / 2")
    assert guard.startswith("no_halves()")
    for beside in (
        "t = 'float16'",
        "t = tf.half",
        "a.half()",
        "t = 'half'",
        "keras.mixed_precision.set_global_policy('mixed_bfloat16')",
    ):
        _, guard = row_used("tf.subtract(x, y)", "subtract", beside=beside)
        assert "no_halves" not in guard


def test_of_three_arguments_of_where_one_that_is_no_none_is_enough():
    for call in ("tf.where(x > 0, y, 0.0)", "tf.where(x > 0, 1 - x, y)", "tf.where(c, x=1, y=y)"):
        _, guard = row_used(call, "where")
        assert "no_halves()" in guard
    right, guard = row_used("tf.where(x > 0, x, y)", "where")
    assert right == "keras.ops.where(condition, x, y)"
    assert "somewhere()" in guard  # never proven
    right, guard = row_used("tf.where(x > 0)", "where")
    assert "keras.ops.nonzero(condition)" in right
    assert "somewhere()" in guard  # the size of its result depends on the data


def test_a_cast_of_what_may_be_a_variable_is_another_row():
    assert "no_raw_variable" in row_used("tf.cast(x, 'int32')", "cast")[1]
    assert "no_raw_variable" not in row_used("tf.cast(self.w, 'int32')", "cast")[1]


@pytest.mark.parametrize(
    ("call", "right"),
    [
        ("tf.linalg.band_part(x, -1, 2)", "keras.ops.tril(input, num_upper)"),
        ("tf.linalg.band_part(x, 2, -1)", "keras.ops.triu(input, -num_lower)"),
        ("tf.linalg.band_part(x, 0, 2)", "keras.ops.triu(keras.ops.tril(input, num_upper))"),
        (
            "tf.linalg.band_part(x, 1, 2)",
            "keras.ops.triu(keras.ops.tril(input, num_upper), -num_lower)",
        ),
    ],
)
def test_a_band_is_what_both_triangles_leave(call, right):
    found, guard = row_used(call, "linalg.band_part")
    assert found == right
    assert "somewhere()" not in guard


def test_a_band_of_sizes_that_nobody_knows_is_never_proven():
    assert (
        "somewhere()" in row_used("tf.linalg.band_part(x, self.a, self.b)", "linalg.band_part")[1]
    )


def test_numbers_that_are_drawn_in_call_are_never_proven():
    assert "run_by_keras()" in row_used("tf.random.normal([2])", "random.normal")[1]
    assert not any("random.normal" in row.left and "run_by" in str(row.when) for row in REWRITES)
    once = "class A(keras.layers.Layer):\n    def build(self, shape):\n        self.a = {}\n"
    assert "once_made()" in row_used("tf.random.normal([2])", "random.normal", code=once)[1]


@pytest.mark.parametrize(
    "value",
    [
        *("tf.nn.leaky_relu(x)", "tf.math.log1p(x)", "tf.math.is_nan(x)", "tf.gather(x / 2, y)"),
        *("tf.tensordot(0.5 * x, y, 1)", "tf.boolean_mask(tf.sqrt(x), y)"),
        *("keras.losses.MeanSquaredError()(x, y)", "keras.ops.take(keras.ops.gelu(x), y)"),
        "tf.nn.weighted_cross_entropy_with_logits(labels=x, logits=y, pos_weight=2.0)",
    ],
)
def test_the_mean_of_what_is_surely_no_integer_is_another_row(value):
    assert row_used(f"tf.reduce_mean({value})", "reduce_mean")[1].startswith("not_integer(")


@pytest.mark.parametrize("value", ["x", "tf.gather(x, y)", "tf.argmax(x)", "tf.tensordot(x, y, 1)"])
def test_the_mean_of_what_may_be_integers_is_not(value):
    assert "not_integer" not in row_used(f"tf.reduce_mean({value})", "reduce_mean")[1]


def test_a_cast_is_not_safe_where_another_file_may_pass_a_variable(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'helped'\n")
    own = tmp_path / "helpers.py"
    own.write_text(
        "import keras\nimport tensorflow as tf\n\n\ndef as_float(value):\n"
        "    return tf.cast(value, 'float32')\n\n\nclass Scale(keras.layers.Layer):\n"
        "    def call(self, inputs):\n        return as_float(inputs) * 2.0\n"
    )
    alone = fix([str(own)], backend="all", isolated=True).files
    assert "ops.cast(value, 'float32')" in alone[0].after.decode()

    other = (
        "import tensorflow as tf\nfrom helpers import as_float\nkept = as_float(tf.Variable(1.0))\n"
    )
    (tmp_path / "other.py").write_text(other)
    assert not fix([str(own)], backend="all", isolated=True).files
