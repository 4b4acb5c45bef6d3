"""Functions of ``keras.backend`` that make tensors, or change what kind they are."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import context, display, equals, given, not_none, one_of
from kdoctor.rules.names._backend.number_guards import a_float, no_floats, whole_numbers
from kdoctor.rules.names._backend.uses import is_read_only, read_at_once
from kdoctor.rules.names._backend.value_guards import (
    builds_nothing,
    floatx_is_default,
    is_tensor,
    never_variable,
    no_tensor,
    no_variable,
    plain_name,
    somewhere,
)
from kdoctor.value_types import Context

REWRITES = (
    # Without a dtype K.constant makes floats, keras.ops.convert_to_tensor([1, 2]) integers.
    rewrite(
        "keras.backend.constant(value, dtype=None, shape=None, name=None)",
        "keras.ops.convert_to_tensor(value, dtype=keras.config.floatx())",
        when=equals("dtype", None) & equals("shape", None),
    ),
    rewrite(
        "keras.backend.constant(value, dtype=None, shape=None, name=None)",
        "keras.ops.convert_to_tensor(value, dtype=dtype)",
        when=not_none("dtype") & equals("shape", None),
    ),
    # K.zeros and its like make a variable; a tensor does as long as nothing is assigned to it.
    rewrite(
        "keras.backend.zeros(shape, dtype=None, name=None)",
        "keras.ops.zeros(shape, dtype=dtype)",
        when=is_read_only(),
    ),
    rewrite(
        "keras.backend.ones(shape, dtype=None, name=None)",
        "keras.ops.ones(shape, dtype=dtype)",
        when=is_read_only(),
    ),
    *(
        rewrite(
            f"keras.backend.{name}(shape, dtype=None, name=None)",
            f"keras.ops.{name}(shape, dtype=dtype)",
            when=builds_nothing(),
        )
        for name in ("zeros", "ones")
    ),
    *(
        rewrite(
            f"keras.backend.{name}(shape, dtype=None, name=None)",
            f"keras.Variable(keras.ops.{name}(shape, dtype=dtype), name=name)",
            when=plain_name("name") & somewhere(),
        )
        for name in ("zeros", "ones")
    ),
    rewrite(
        "keras.backend.eye(size, dtype=None, name=None)",
        "keras.ops.eye(size, dtype=dtype)",
        when=is_read_only() & whole_numbers("size"),
    ),
    rewrite(
        "keras.backend.zeros_like(x, dtype=None, name=None)",
        "keras.ops.zeros_like(x, dtype=dtype)",
    ),
    rewrite(
        "keras.backend.ones_like(x, dtype=None, name=None)",
        "keras.ops.ones_like(x, dtype=dtype)",
    ),
    rewrite(
        "keras.backend.arange(start, stop=None, step=1, dtype='int32')",
        "keras.ops.arange(start, stop, step=step, dtype=dtype)",
        # K.arange(0.0, 1.0, 0.5) gives floats: it takes its own dtype="int32" for none.
        when=whole_numbers("start", "stop", "step"),
    ),
    rewrite(
        "keras.backend.arange(start, stop=None, step=1, dtype='int32')",
        "keras.ops.arange(start, dtype=dtype)",
        when=whole_numbers("start") & equals("stop", None) & equals("step", 1),
    ),
    rewrite(
        "keras.backend.arange(start, stop=None, step=1, dtype='int32')",
        "keras.ops.arange(start, stop, step=step, dtype='float32')",
        when=given("stop")
        & a_float("start", "stop", "step")
        & one_of("dtype", "int32", "float32")
        & somewhere(),
    ),
    rewrite(
        "keras.backend.arange(start, stop=None, step=1, dtype='int32')",
        "keras.ops.arange(start, stop, step=step, dtype=dtype)",
        when=given("stop") & no_floats("start", "stop", "step") & somewhere(),
    ),
    rewrite(
        "keras.backend.arange(start, stop=None, step=1, dtype='int32')",
        "keras.ops.arange(start, dtype=dtype)",
        when=equals("stop", None) & equals("step", 1) & no_floats("start") & somewhere(),
    ),
    # K.one_hot gives float32 whatever floatx is.
    rewrite(
        "keras.backend.one_hot(indices, num_classes)",
        "keras.ops.one_hot(indices, num_classes)",
        when=floatx_is_default(),
    ),
    rewrite(
        "keras.backend.one_hot(indices, num_classes)",
        'keras.ops.one_hot(indices, num_classes, dtype="float32")',
    ),
    # Of a variable that has this type Keras 2 gave the variable itself, which changes later.
    rewrite(
        "keras.backend.cast(x, dtype)",
        "keras.ops.cast(x, dtype)",
        when=no_variable("x") | read_at_once(),
    ),
    rewrite("keras.backend.cast(x, dtype)", "keras.ops.cast(x, dtype)", when=somewhere()),
    # Of a NumPy array K.cast_to_floatx makes a NumPy array, and of a number.
    rewrite(
        "keras.backend.cast_to_floatx(x)",
        "numpy.asarray(x, dtype=keras.config.floatx())",
        when=no_tensor("x"),
    ),
    rewrite(
        "keras.backend.cast_to_floatx(x)",
        "keras.ops.cast(x, keras.config.floatx())",
        when=is_tensor("x") & (no_variable("x") | read_at_once()),
    ),
    rewrite("keras.backend.cast_to_floatx(x)", "keras.ops.cast(x, keras.config.floatx())"),
    rewrite("keras.backend.dtype(x)", "keras.backend.standardize_dtype(x.dtype)"),
    # Of a variable it made a copy, which stays as it is when something is assigned to it.
    rewrite("keras.backend.identity(x, name=None)", "x", when=is_tensor("x") & never_variable("x")),
    rewrite("keras.backend.identity(x, name=None)", "keras.ops.copy(x)"),
    rewrite(
        "keras.backend.stop_gradient(variables)",
        "keras.ops.stop_gradient(variables)",
        when=is_tensor("variables"),
    ),
    rewrite(
        "keras.backend.stop_gradient(variables)",
        "keras.ops.stop_gradient(variables)",
        when=~display("variables") & somewhere(),
    ),
    # Fed by K.function or a session: what takes their place makes a model or a keras.Function.
    *(
        rewrite(
            "keras.backend.placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None)",
            f"keras.Input(batch_shape={shape}, dtype=dtype, name=name)",
            when=not_none(given) & equals("sparse", False) & somewhere(),
        )
        for given, shape in (("shape", "shape"), ("ndim", "(None,) * ndim"))
    ),
    # Keras 2 calls a symbolic tensor a tensor, keras.ops.is_tensor does not.
    rewrite(
        "keras.backend.is_tensor(x)",
        "keras.ops.is_tensor(x)",
        when=context(Context.CALL, Context.LOSS_OR_METRIC, Context.EAGER),
    ),
    rewrite("keras.backend.is_variable(x)", "isinstance(x, keras.Variable)"),
)

BY_HAND = {
    "constant": "with shape= write keras.ops.full(shape, value, dtype=...) for one number, "
    "keras.ops.reshape(keras.ops.convert_to_tensor(value, dtype=...), shape) for a list",
    "zeros": "keras.ops.zeros returns a tensor, K.zeros a variable: where it is assigned to, "
    'write keras.Variable(initializer="zeros", shape=shape), or self.add_weight in a layer',
    "ones": "keras.ops.ones returns a tensor, K.ones a variable: where it is assigned to, "
    'write keras.Variable(initializer="ones", shape=shape), or self.add_weight in a layer',
    "eye": "keras.ops.eye returns a tensor, K.eye returned a variable; note that the second "
    "positional argument of keras.ops.eye is the number of columns",
    "cast_to_floatx": "write keras.ops.cast(x, keras.config.floatx()) for a tensor, "
    "x.astype(keras.config.floatx()) for a NumPy array",
    "stop_gradient": "keras.ops.stop_gradient turns a list into one tensor: write "
    "[keras.ops.stop_gradient(v) for v in variables] for a list of tensors",
    "to_dense": "write keras.ops.convert_to_tensor(x, sparse=False), "
    "or tf.sparse.to_dense(x) for a SparseTensor of TensorFlow",
    "cast": "K.cast of a variable that already had this dtype returned the variable itself, so "
    "later changes showed; keras.ops.cast returns its current value",
    "identity": "write keras.ops.copy(x), or x itself for a tensor, which is immutable",
    "is_tensor": "write keras.ops.is_tensor(x); it is False for symbolic tensors: test those with "
    "keras.backend.is_keras_tensor(x)",
    "arange": "keras.ops.arange(start, stop, step, dtype); K.arange returned floats for floats, "
    'whatever its dtype="int32" says',
    "is_sparse": "write isinstance(x, tf.SparseTensor)",
    "is_placeholder": "placeholders are gone; keras.backend.is_keras_tensor(x) recognizes symbolic "
    "tensors",
    "placeholder": "write keras.Input(batch_shape=shape, dtype=dtype), and build a keras.Model or "
    "keras.Function from inputs and outputs instead of K.function. An Input has a rank: where "
    "`shape` is None, write `(None,) * rank`; for any rank write a "
    "`@tf.function(input_signature=[tf.TensorSpec(None, dtype)])`",
}
