"""Which rewrite of a function of ``keras.backend`` its arguments and its place let through."""

from __future__ import annotations

import textwrap

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.model import Applicability, NoFix
from kdoctor.rewrite import RewriteTable
from kdoctor.rules.names._backend import REWRITES
from kdoctor.syntax import Module, ReferenceKind

FACTS = TargetFacts(newest_target())
KEPT = (
    "class A:\n    def __init__(self, rate=0.1):\n        self.rate = {}\n\n"
    "    def f(self):\n        K.get_value(self.rate)"
)
LOSS = "def loss(y_true, y_pred, delta=1.0):\n    return {}\n"


def rows_used(code, name):
    """Return the guards of the rows that hold for the uses of one function, None for a refusal."""
    source = f"import keras\nfrom keras import backend as K\n\n{textwrap.dedent(code)}"
    [unit] = Document.parse(source.encode(), "code.py").units
    module = Module.parse(unit, oracle(FACTS.target))
    used = []
    for reference in module.references:
        if reference.name != f"keras.backend.{name}" or reference.kind is ReferenceKind.IMPORT:
            continue
        tried = []

        def rate(row, tried=tried):
            tried.append(str(row.when))
            return Applicability.SAFE

        attempt = RewriteTable(REWRITES, FACTS.signature).attempt(module, reference, rate)
        used.append(None if isinstance(attempt, NoFix) else tried[-1])
    return used


OF_NO_INTEGER = "not_integer('x') & floatx_is_default()"  # what a mean must be of


def row_used(code, name):
    [row] = rows_used(code, name)
    return row


@pytest.mark.parametrize(
    "expression",
    [
        "0.5 * x",
        "x / n",
        "K.square(0.5 * x)",
        "K.exp(x)",
        "x > 3",
        "K.equal(x, n)",
        "K.cast(x, 'float32')",
        "K.cast(x, K.floatx())",
        "K.constant([1, 2])",
        "K.sum(K.sigmoid(x), axis=-1)",
        "K.maximum(K.epsilon(), x)",
        "K.switch(x > 1, 0.5 * x, x)",
        "keras.losses.mean_squared_error(n, K.exp(x))",
        "keras.Input((3,))",
        "keras.layers.Input(shape=(3,), name='image', dtype='float16')",
    ],
)
def test_the_mean_of_what_is_no_integer_is_let_through(expression):
    assert row_used(f"def f(x, n):\n    return K.mean({expression})", "mean") == OF_NO_INTEGER


@pytest.mark.parametrize(
    "expression", ["x", "2 * x", "x - n", "K.square(x)", "K.cast(x, 'int32')", "K.cast(x, n)",
                   "K.constant([1, 2], 'int32')", "K.sum(x)", "f(x)", "-x",
                   "keras.losses.mean_squared_error(x, n)",
                   "keras.Input((3,), dtype='int32')", "keras.Input(tensor=x)",
                   "keras.Input((3,), 1, 'name', 'int32')", "keras.Input(**x)", "Input((3,))"],
)  # fmt: skip
def test_the_mean_of_what_may_be_integers_is_not(expression):
    assert row_used(f"def f(x, n):\n    return K.mean({expression})", "mean") == "None"


def test_what_a_loss_makes_of_predictions_is_no_integer():
    assert row_used(LOSS.format("K.mean(K.square(y_true - y_pred))"), "mean") == OF_NO_INTEGER


def test_the_targets_of_a_loss_may_be_integers():
    assert row_used(LOSS.format("K.mean(y_true)"), "mean") == "None"


def test_a_local_name_is_as_good_as_all_that_is_assigned_to_it():
    code = "def f(x):\n    y = 0.5 * x\n    {}\n    return K.mean(y)"
    assert row_used(code.format("pass"), "mean") == OF_NO_INTEGER
    assert row_used(code.format("y = y + 1"), "mean") == OF_NO_INTEGER
    assert row_used(code.format("y = x"), "mean") == "None"
    assert row_used(code.format("y, z = x"), "mean") == "None"
    assert row_used(code.format("for y in x: pass"), "mean") == "None"


@pytest.mark.parametrize(
    "expression",
    ["K.square(x)", "K.sum(K.square(x - y), axis=1)", "x * x + K.epsilon()", "K.abs(x) / 2.0",
     "(x - y) ** 2", "K.maximum(x, 0.0)", "K.clip(x, 0.0, 1.0)", "K.var(x)",
     "K.maximum(K.sum(x), K.epsilon())"],
)  # fmt: skip
def test_the_root_of_what_is_not_negative_stays_plain(expression):
    assert row_used(f"def f(x, y):\n    return K.sqrt({expression})", "sqrt") == "not_negative('x')"


@pytest.mark.parametrize(
    "expression", ["x", "x * y", "K.square(x) - y", "x ** 3", "K.clip(x, -1.0, 1.0)", "K.log(x)",
                   "-K.square(x)", "K.sum(x)", "K.relu(x, alpha=0.1)"],
)  # fmt: skip
def test_the_root_of_what_may_be_negative_is_bounded(expression):
    assert row_used(f"def f(x, y):\n    return K.sqrt({expression})", "sqrt") == "None"


def test_branches_made_of_the_same_tensors_as_the_condition_are_let_through():
    huber = """
    def huber(y_true, y_pred, delta=1.0):
        error = y_true - y_pred
        small = K.abs(error) <= delta
        squared = 0.5 * K.square(error)
        linear = delta * K.abs(error) - 0.5 * delta**2
        return K.mean(K.switch(small, squared, linear), axis=-1)
    """
    assert "same_shape" in row_used(huber, "switch")


@pytest.mark.parametrize(
    "call",
    [
        "K.switch(c, x, y)",
        "K.switch(x > 0, x, y)",  # y may have more axes
        "K.switch(K.sum(x) > 0, x, x)",
        "K.switch(x > 0, K.sum(x), x)",
        "K.switch(x > 0, x[0], x)",
        "K.switch(x > 0, 1.0, x)",
        "K.switch(x > 0, f(x), x)",
    ],
)
def test_branches_of_which_the_shape_is_not_known_are_not(call):
    row = row_used(f"def g(c, x, y):\n    return {call}", "switch")
    assert row is None or "same_shape" not in row  # which alone is safe


def test_a_name_that_is_bound_twice_is_no_known_shape():
    code = "def g(x):\n    c = x > 0\n    x = K.sum(x, axis=0)\n    return K.switch(c, x, x)"
    assert "same_shape" not in row_used(code, "switch")


def test_an_index_that_is_compared_or_cast_at_once_may_be_int32():
    code = "def g(a, b):\n    return K.equal(K.argmax(a), K.argmax(b))"
    assert rows_used(code, "argmax") == ["dtype_does_not_matter()"] * 2
    assert row_used("def g(a):\n    return K.cast(K.argmax(a), 'float32')", "argmax").startswith(
        "d"
    )


def test_an_index_of_which_nobody_knows_where_it_goes_stays_int64():
    assert row_used("def g(a):\n    return K.argmax(a)", "argmax") == "None"
    assert row_used("def g(a):\n    return K.cast('x', K.argmax(a))", "argmax") == "None"


def test_gradients_are_stopped_for_a_tensor_but_not_for_what_may_be_a_list():
    code = "def g(x):\n    return K.stop_gradient({})"
    assert row_used(code.format("x + K.square(x)"), "stop_gradient") == "is_tensor('variables')"
    assert "somewhere()" in row_used(code.format("x"), "stop_gradient")
    assert row_used(code.format("[x, x]"), "stop_gradient") is None


def test_zeros_that_go_into_a_calculation_may_be_a_tensor():
    assert row_used("x = 1.0 + K.zeros((2,))", "zeros") == "is_read_only()"
    joined = row_used("x = K.concatenate([K.zeros((2,)), K.zeros((2,))])", "concatenate")
    assert joined == "rank_is_known()"


def test_zeros_that_are_kept_may_be_assigned_to():
    kept = "plain_name('name') & somewhere()"
    assert row_used("x = K.zeros((2,))", "zeros") == kept
    assert row_used("K.update(K.zeros((2,)), 1.0)", "zeros") == kept
    read = "def f(y):\n    x = K.zeros((2,))\n    return {}"
    assert row_used(read.format("x + y"), "zeros") == "is_read_only()"
    assert row_used(read.format("K.update(x, y)"), "zeros") == kept
    assert row_used(read.format("g(x)"), "zeros") == kept


def test_a_size_is_read_in_a_call_but_not_while_a_model_is_built():
    layer = """
    class Scale(keras.layers.Layer):
        def call(self, x):
            return x * K.cast(K.shape(x)[0], 'float32')
    """
    assert "Context.CALL" in row_used(layer, "shape")
    built = "x = keras.Input((3,))\ny = x * K.cast(K.shape(x)[0], 'float32')"
    assert "Context.FUNCTIONAL" in row_used(built, "shape")
    assert "somewhere()" in row_used(built, "shape")  # it may be None there


def test_the_name_of_a_shape_that_is_only_indexed_is_as_good_as_its_sizes():
    layer = """
    class Scale(keras.layers.Layer):
        def call(self, x):
            shape = K.shape(x)
            return {}
    """
    assert row_used(layer.format("x * shape[0]"), "shape").startswith("indexed()")
    assert "somewhere()" in row_used(layer.format("K.zeros(shape)"), "shape")


def test_a_shape_that_is_not_known_yet_is_not_calculated_with():
    assert row_used("x = keras.Input((3,))\nK.reshape(x, 2 * K.shape(x))", "shape") is None


def test_a_value_is_read_of_an_array_but_not_of_a_symbolic_tensor():
    assert "not_symbolic('x')" in row_used("K.eval(K.sum(K.constant([1.0])))", "eval")
    assert row_used("x = keras.Input((3,))\nK.eval(x)", "eval") is None


@pytest.mark.parametrize(
    "code",
    [
        "K.get_value(0.5)",
        "K.get_value(-0.5)",
        "rate = 0.5\nK.get_value(2 * rate)",
        "K.get_value(float(K.variable(1.0)))",
        "K.get_value(1 if K.floatx() else 0.5)",
    ],
)
def test_of_a_plain_number_the_value_is_the_number(code):
    assert row_used(code, "get_value") == "plain_number('x')"


@pytest.mark.parametrize(
    ("code", "may_be_one"),
    [
        ("def f(rate=0.1):\n    K.get_value(rate)", True),
        ("def f(rate=0.1):\n    float(K.get_value(rate))", False),
        ("def f(rate=None):\n    K.get_value(rate or 0.1)", True),
        ("def f(x, v):\n    rate = 0.1 if x else v\n    K.get_value(rate)", True),
        ("def f(model):\n    K.get_value(model.optimizer.lr)", False),
        ("def f(v):\n    K.get_value(v)", False),
        ("def f(v):\n    K.get_value(2 * v)", False),
        (KEPT.format("rate"), True),
        (KEPT.format("K.variable(rate)"), False),
    ],
)
def test_what_may_be_a_plain_number_becomes_an_array_by_an_unsafe_fix_only(code, may_be_one):
    assert ("somewhere()" in row_used(code, "get_value")) is may_be_one


def test_a_range_of_whole_numbers_only():
    assert row_used("K.arange(3)", "arange") is not None
    assert row_used("def f(x):\n    return K.arange(0, x.shape[1], 2)", "arange") is not None
    assert "a_float(" in row_used("K.arange(0.0, 1.0, 0.1)", "arange")
    assert "a_float(" in row_used("K.arange(-float(n), n, 1)", "arange")
    assert row_used("K.arange(0.5, dtype='int64')", "arange") is None
    assert "somewhere()" in row_used("def f(n):\n    return K.arange(n)", "arange")


def test_a_name_for_a_layer_is_made_of_a_string_only():
    assert row_used("K.unique_object_name('dense')", "unique_object_name") == "text('name')"
    assert row_used("def f(x):\n    K.unique_object_name(x)", "unique_object_name") is None


def test_an_argument_without_counterpart_is_never_dropped():
    assert row_used("K.constant(1.0, name='one')", "constant") is None
    assert row_used("K.random_normal((2,), seed=3)", "random_normal") == "somewhere()"
    assert row_used("K.constant(1.0, shape=(2, 2))", "constant") is None


@pytest.mark.parametrize(
    "code",
    [
        "K.cast_to_floatx(0.01)",
        "K.cast_to_floatx(-1)",
        "def f(rate=0.5):\n    return K.cast_to_floatx(rate * 2)",
        "import numpy as np\nx = np.ones((2,))\nK.cast_to_floatx(x)",
    ],
)
def test_of_numbers_and_arrays_cast_to_floatx_makes_an_array(code):
    assert row_used(code, "cast_to_floatx") == "no_tensor('x')"


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return K.cast_to_floatx(x)",
        "def f(rate=None):\n    return K.cast_to_floatx(rate)",
        "import numpy as np\nx = np.ones((2,))\nx = K.constant(x)\nK.cast_to_floatx(x)",
    ],
)
def test_what_may_be_a_tensor_is_not_made_an_array(code):
    assert row_used(code, "cast_to_floatx") != "no_tensor('x')"


@pytest.mark.parametrize(
    ("base", "safe"),
    [
        ("", True),
        ("(object)", True),
        ("(keras.initializers.Initializer)", True),
        ("(keras.callbacks.Callback)", True),
        ("(keras.layers.Layer)", False),
        ("(keras.Model)", False),
        ("(keras.optimizers.Optimizer)", False),
        ("(Unknown)", False),
    ],
)
def test_a_variable_may_become_a_weight_only_in_a_class_that_makes_weights(base, safe):
    code = f"class A{base}:\n    def f(self):\n        self.x = K.variable(1.0)"
    assert ("outside_of_classes()" in row_used(code, "variable")) == safe


_STACKED = "calculated_with() & context("


@pytest.mark.parametrize(
    "use",
    [
        "K.shape(x) * 2",
        "2 - (K.shape(x))",
        "-K.shape(x)",
        "K.shape(x)[1:3] * 32",
        "K.shape(x)[:, ::2][1:] > 3",
        "K.cast(1 / K.shape(x)[1:], 'int32')",
        "K.cast(K.shape(x)[..., ::-1], 'int32')",
        "K.cast(K.shape(x)[...], 'int32')",
    ],
)
@pytest.mark.parametrize("code", ["{}", "size = {}; n = size[0]"])
def test_sizes_that_are_calculated_with_stay_a_tensor(use: str, code: str):
    body = f"        {code.format(use)}\n        return x\n"
    layer = f"class Own(keras.layers.Layer):\n    def call(self, x):\n{body}"
    assert row_used(layer, "shape").startswith(_STACKED)


@pytest.mark.parametrize(
    "use",
    [
        "size * 2",
        "size[1:3] * 2",
        "n / size[::-1]",
        "n = size[0]; return size + 1",
        "-size[1:]",
        "K.cast(size[..., ::-1], 'int32'); n = size[0]",
    ],
)
@pytest.mark.parametrize("made", ["K.shape(x)", "K.shape(x)[1:]"])
def test_sizes_that_are_calculated_with_by_a_name_stay_a_tensor(use: str, made: str):
    layer = (
        f"class Own(keras.layers.Layer):\n    def call(self, x, n):\n        size = {made}\n"
        f"        {use}\n        return x\n"
    )
    assert row_used(layer, "shape").startswith(_STACKED)


@pytest.mark.parametrize(
    "use",
    [
        "K.shape(x).shape",
        "K.shape(x).numpy()",
        "K.shape(x)[1:].numpy()",
        "size = K.shape(x); return size.shape, size[0]",
        "size = K.shape(x); return size[1:].numpy()",
    ],
)
def test_sizes_of_which_an_attribute_is_read_are_left_alone(use: str):
    assert row_used(f"def f(x):\n    {use}", "shape") is None


@pytest.mark.parametrize(
    "use", ["K.reshape(x, K.shape(x))", "K.cast(K.shape(x)[1:3], 'int32')", "[*K.shape(x)]"]
)
def test_sizes_that_are_passed_on_are_a_tuple(use: str):
    assert row_used(f"def f(x):\n    return {use}", "shape") == "no_tensor_by_use() & somewhere()"


@pytest.mark.parametrize(
    ("bounds", "row"),
    [
        ("0.0, 1.0", "not_none('min_value') & not_none('max_value')"),
        ("K.epsilon(), None", "equals('max_value', None) & not_none('min_value')"),
        ("max_value=None, min_value=0.0", "equals('max_value', None) & not_none('min_value')"),
        (
            "None, 1",
            "equals('min_value', None) & not_none('max_value') & no_tensor('max_value')",
        ),
        ("None, n", None),
        ("None, None", None),
        ("n, None", None),
        ("0, n", "not_written_as_none('min_value', 'max_value') & somewhere()"),
    ],
)
def test_a_bound_that_is_none_is_left_out(bounds: str, row: str | None):
    assert row_used(f"def f(x, n):\n    return K.clip(x, {bounds})", "clip") == row


DENSE = "nothing_sparse() & (of_rank(2, 'y') | rank_is_known())"


@pytest.mark.parametrize(
    ("before", "row"),
    [
        ("", DENSE),
        ("loss = 'sparse_categorical_crossentropy'\n", DENSE),
        ("loss = keras.losses.SparseCategoricalCrossentropy()\n", DENSE),
        ("x = keras.Input((3,), sparse=True)\n", "somewhere()"),
        ("def is_one(x):\n    return K.is_sparse(x)\n", "somewhere()"),
        ("import tensorflow as tf\nx = tf.sparse.eye(3)\n", "somewhere()"),
        ("import tensorflow as tf\n\ndef f(x: tf.SparseTensor): ...\n", "somewhere()"),
        ("import tensorflow as tf\ns = tf.TensorSpec(None)\n", "nothing_sparse() & somewhere()"),
    ],
)
def test_a_product_is_not_taken_for_one_of_dense_tensors_beside_sparse_ones(before, row):
    assert row_used(f"{before}\ndef f(x, y):\n    return K.dot(x, y)", "dot") == row


_STACKS = (
    "class A(keras.layers.Layer):\n    def build(self, shape):\n"
    "        self.a = self.add_weight(shape=(2,))\n        self.b = self.add_weight(shape=(2,))\n\n"
    "    def call(self, x):\n        both = [self.a, self.b]\n        return K.stack({})"
)


@pytest.mark.parametrize("given", ["[self.a, self.b]", "[x, self.a]", "both", "(self.a, x)"])
def test_variables_are_not_stacked_as_they_are(given):
    assert row_used(_STACKS.format(given), "stack") is None


@pytest.mark.parametrize("given", ["[x, x]", "[2 * self.a, self.b + 1]", "[self.c, x]", "x"])
def test_tensors_are_stacked(given):
    assert row_used(_STACKS.format(given), "stack") == "no_variables('x')"
