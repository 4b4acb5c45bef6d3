"""Functions that cast, reduce, read or write elements, and functions of functions."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none
from kdoctor.rules.names._backend.value_guards import never_variable, no_array, no_variable

_MAPS = (
    "write keras.ops.map(function, x); the function may return another dtype, so that "
    "fn_output_signature= goes"
)

REWRITES = (
    # TensorFlow hands a variable on that has the dtype already; PyTorch takes no bfloat16 of NumPy.
    rewrite(
        "tensorflow.cast(x, dtype, name=None)",
        "keras.ops.cast(x, dtype)",
        when=never_variable("x"),
    ),
    rewrite(
        "tensorflow.stop_gradient(input, name=None)",
        "keras.ops.stop_gradient(input)",
        when=no_array("input"),
    ),
    # Of a variable JAX finds neither in 0.10.
    *(
        rewrite(
            f"tensorflow.{old}(input_tensor, axis=None, keepdims=False, name=None)",
            f"keras.ops.{new}(input_tensor, axis=axis, keepdims=keepdims)",
            when=no_variable("input_tensor"),
        )
        for old, new in (("reduce_all", "all"), ("reduce_any", "any"))
    ),
    # Of all axes at once PyTorch loses them, as of `reduce_sum`.
    *(
        rewrite(
            "tensorflow.reduce_prod(input_tensor, axis=None, keepdims=False, name=None)",
            "keras.ops.prod(input_tensor, axis=axis, keepdims=keepdims)",
            when=guard,
        )
        for guard in (equals("keepdims", False), not_none("axis"))
    ),
    rewrite(
        "tensorflow.zeros_like(input, dtype=None, name=None, layout=None)",
        "keras.ops.zeros_like(input, dtype=dtype)",
        when=equals("layout", None) & no_variable("input"),
    ),
    rewrite(
        "tensorflow.nn.embedding_lookup(params, ids, max_norm=None, name=None)",
        "keras.ops.take(params, ids, axis=0)",
        when=equals("max_norm", None),
    ),
    rewrite(
        "tensorflow.scatter_nd(indices, updates, shape, bad_indices_policy='', name=None)",
        "keras.ops.scatter(indices, updates, shape)",
    ),
    rewrite(
        "tensorflow.tensor_scatter_nd_update(tensor, indices, updates, name=None)",
        "keras.ops.scatter_update(tensor, indices, updates)",
    ),
)

BY_HAND = {
    "gather_nd": "flatten the axes that are indexed with keras.ops.reshape, and keras.ops.take at "
    "the flat indices; for one index along one axis write keras.ops.take_along_axis",
    "tensor_scatter_nd_add": "write keras.ops.scatter_update(x, indices, updates, reduction='add')",
    "compat.v1.scatter_nd_update": "write variable.assign(keras.ops.scatter_update(variable, "
    "indices, updates))",
    "boolean_mask": "the size of its result depends on the data, which JAX cannot compile: "
    "multiply by the mask, or use keras.ops.where",
    "dynamic_partition": "the sizes of its results depend on the data, which JAX cannot compile: "
    "use keras.ops.where with masks",
    "dynamic_stitch": "write keras.ops.scatter(indices, values, shape)",
    "reverse_sequence": "write keras.ops.take_along_axis with indices that count down from each "
    "length",
    "map_fn": _MAPS,
    "vectorized_map": "write keras.ops.vectorized_map(function, x)",
    "scan": "write keras.ops.scan(f, init, xs), whose f returns the new state and the output",
    "foldl": "write keras.ops.fori_loop(lower, upper, body, init)",
    "while_loop": "write keras.ops.while_loop(cond, body, loop_vars), with sizes that do not "
    "change",
    "cond": "write keras.ops.cond(pred, true_fn, false_fn), with both functions",
    "case": "write keras.ops.switch(index, branches, *operands)",
    "switch_case": "write keras.ops.switch(index, branches, *operands)",
}
