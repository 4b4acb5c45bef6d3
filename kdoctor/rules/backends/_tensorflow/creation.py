"""Functions that make tensors of numbers and shapes."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none
from kdoctor.rules.backends._tensorflow.result_uses import as_a_shape
from kdoctor.rules.names._backend.uses import indexed, no_tensor_by_use
from kdoctor.rules.names._backend.value_guards import floatx_is_default, somewhere

REWRITES = (
    rewrite(
        "tensorflow.constant(value, dtype=None, shape=None, name='Const')",
        "keras.ops.convert_to_tensor(value, dtype=dtype)",
        when=equals("shape", None),
    ),
    rewrite(
        "tensorflow.convert_to_tensor(value, dtype=None, dtype_hint=None, name=None)",
        "keras.ops.convert_to_tensor(value, dtype=dtype)",
        when=equals("dtype_hint", None),
    ),
    *(
        rewrite(
            f"tensorflow.{name}(shape, dtype='float32', name=None, layout=None)",
            f"keras.ops.{name}(shape, dtype=dtype)",
            when=equals("layout", None),
        )
        for name in ("zeros", "ones")
    ),
    rewrite(
        "tensorflow.fill(dims, value, name=None, layout=None)",
        "keras.ops.broadcast_to(value, dims)",
        when=equals("layout", None) & floatx_is_default(),
    ),
    rewrite(
        "tensorflow.range(start, limit=None, delta=1, dtype=None, name='range')",
        "keras.ops.arange(start, dtype=dtype)",
        when=equals("limit", None) & equals("delta", 1) & floatx_is_default(),
    ),
    rewrite(
        "tensorflow.range(start, limit=None, delta=1, dtype=None, name='range')",
        "keras.ops.arange(start, limit, delta, dtype=dtype)",
        when=not_none("limit") & floatx_is_default(),
    ),
    rewrite(
        "tensorflow.eye(num_rows, num_columns=None, batch_shape=None, dtype='float32', name=None)",
        "keras.ops.eye(num_rows, num_columns, dtype=dtype)",
        when=equals("batch_shape", None),
    ),
    rewrite(
        "tensorflow.linspace(start, stop, num, name=None, axis=0)",
        "keras.ops.linspace(start, stop, num, axis=axis)",
        when=floatx_is_default(),
    ),
    rewrite(
        "tensorflow.size(input, out_type=None, name=None)",
        "keras.ops.size(input)",
        when=equals("out_type", None),
    ),
    rewrite("tensorflow.is_tensor(x)", "keras.ops.is_tensor(x)"),
    *(
        rewrite(
            "tensorflow.shape(input, out_type=None, name=None)",
            "keras.ops.shape(input)",
            when=used & equals("out_type", None),
        )
        for used in (indexed(), as_a_shape(), no_tensor_by_use() & somewhere())
    ),
)

BY_HAND = {
    "constant": "write keras.ops.convert_to_tensor(value, dtype=...), and keras.ops.reshape for "
    "shape=",
    "eye": "write keras.ops.eye(n), and keras.ops.broadcast_to for batch_shape=",
    "shape": "write keras.ops.shape(x), a tuple: its parts are numbers where they are known",
    "meshgrid": "write keras.ops.meshgrid(x, y, indexing=...)",
    "ensure_shape": "remove it, or compare x.shape: on JAX and PyTorch all sizes are known when "
    "the code runs",
    "TensorArray": "collect the tensors in a list and keras.ops.stack them, or write "
    "keras.ops.scan",
    "unique": "the size of its result depends on the data, which JAX cannot compile",
    "print": "remove it, or print in a callback",
    "name_scope": "write `with keras.name_scope(name):`",
    "control_dependencies": "remove it: code runs in the order in which it is written",
    "nest.map_structure": "write keras.tree.map_structure(function, structure)",
    "nest.flatten": "write keras.tree.flatten(structure)",
    "nest.pack_sequence_as": "write keras.tree.pack_sequence_as(structure, flat)",
    **{
        f"debugging.{name}": "remove it, or check what is known before the code runs: the shape, "
        "the dtype"
        for name in (
            *("assert_equal", "assert_greater", "assert_greater_equal", "assert_less"),
            *("assert_less_equal", "assert_near", "assert_negative", "assert_non_negative"),
            *("assert_none_equal", "assert_positive", "assert_rank", "assert_shapes"),
            *("assert_type", "check_numerics"),
        )
    },
}
