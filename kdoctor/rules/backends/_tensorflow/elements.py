"""Functions that read or write elements by their indices, and functions of functions."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals

_MAPS = (
    "write keras.ops.map(function, x); the function may return another dtype, so that "
    "fn_output_signature= goes"
)

REWRITES = (
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
