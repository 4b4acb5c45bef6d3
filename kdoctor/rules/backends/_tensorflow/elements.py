"""Functions that read or write elements by their indices, and functions of functions."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, given, not_none
from kdoctor.rules.backends._tensorflow.guards import no_halves
from kdoctor.rules.backends._tensorflow.result_uses import taken_apart
from kdoctor.rules.names._backend.value_guards import no_array, no_variable, somewhere

_MAPS = (
    "write keras.ops.map(function, x); the function may return another dtype, so that "
    "fn_output_signature= goes"
)

_WHERE = "tensorflow.where(condition, x=None, y=None, name=None)"

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
    # What holds the parts is another kind of tuple or list on each backend, and so is the order
    # without `sorted`; on PyTorch also which of two equal numbers comes first.
    rewrite(
        "tensorflow.math.top_k(input, k=1, sorted=True, index_type='int32', name=None)",
        "keras.ops.top_k(input, k, sorted=sorted)",
        when=taken_apart() & equals("sorted", True) & no_variable("input"),
    ),
    rewrite(
        "tensorflow.unstack(value, num=None, axis=0, name='unstack')",
        "keras.ops.unstack(value, num=num, axis=axis)",
        when=taken_apart() & no_variable("value") & no_array("value"),
    ),
    # If one of x and y is None, TensorFlow raises unless the other is.
    rewrite(
        _WHERE,
        "keras.ops.where(condition, x, y)",
        when=no_halves() & given("x", "y") & (not_none("x") | not_none("y")),
    ),
    # JAX compiles nothing whose size depends on the data: these run there in no `fit`.
    rewrite(
        "tensorflow.boolean_mask(tensor, mask, axis=None, name='boolean_mask')",
        "tensor[mask]",
        when=equals("axis", None) & somewhere(),
    ),
    rewrite(
        _WHERE,
        'keras.ops.cast(keras.ops.stack(keras.ops.nonzero(condition), axis=-1), "int64")',
        when=equals("x", None) & equals("y", None) & somewhere(),
    ),
    # Functions of functions: on JAX both branches, and each round, must give the same dtypes.
    rewrite(_WHERE, "keras.ops.where(condition, x, y)", when=given("x", "y") & somewhere()),
    rewrite(
        "tensorflow.cond(pred, true_fn=None, false_fn=None, name=None)",
        "keras.ops.cond(pred, true_fn, false_fn)",
        when=given("true_fn", "false_fn") & somewhere(),
    ),
    rewrite(
        "tensorflow.map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, "
        "swap_memory=False, infer_shape=True, name=None, fn_output_signature=None)",
        "keras.ops.map(fn, elems)",
        when=somewhere(),
    ),
    rewrite(
        "tensorflow.vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True)",
        "keras.ops.vectorized_map(fn, elems)",
        when=somewhere(),
    ),
    rewrite(
        "tensorflow.while_loop(cond, body, loop_vars, shape_invariants=None, "
        "parallel_iterations=10, back_prop=True, swap_memory=False, maximum_iterations=None, "
        "name=None)",
        "keras.ops.while_loop(cond, body, loop_vars, maximum_iterations=maximum_iterations)",
        when=equals("shape_invariants", None) & somewhere(),
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
