"""TensorFlow functions for shapes, indexing and rearranging elements."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, indexed, not_none, one_of
from kdoctor.rules.idioms._tensorflow.guards import sizes
from kdoctor.rules.names._backend.number_guards import none_below_zero, whole_numbers
from kdoctor.rules.names._backend.value_guards import floatx_is_default, somewhere

_GATHER = (
    "tensorflow.gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None)"
)
_ONE_HOT = (
    "tensorflow.one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, "
    "name=None)"
)
_PLAIN_ONE_HOT = equals("on_value", None) & equals("off_value", None)
_PAD = "tensorflow.pad(tensor, paddings, mode='CONSTANT', constant_values=0, name=None)"
_SPLIT = "tensorflow.split(value, num_or_size_splits, axis=0, num=None, name='split')"

REWRITES = (
    rewrite("tensorflow.reshape(tensor, shape, name=None)", "keras.ops.reshape(tensor, shape)"),
    rewrite("tensorflow.expand_dims(input, axis, name=None)", "keras.ops.expand_dims(input, axis)"),
    rewrite(
        "tensorflow.squeeze(input, axis=None, name=None)", "keras.ops.squeeze(input, axis=axis)"
    ),
    rewrite(
        "tensorflow.transpose(a, perm=None, conjugate=False, name='transpose')",
        "keras.ops.transpose(a, axes=perm)",
    ),
    rewrite(
        "tensorflow.concat(values, axis, name='concat')", "keras.ops.concatenate(values, axis)"
    ),
    rewrite("tensorflow.stack(values, axis=0, name='stack')", "keras.ops.stack(values, axis)"),
    rewrite(
        "tensorflow.unstack(value, num=None, axis=0, name='unstack')",
        "keras.ops.unstack(value, num=num, axis=axis)",
    ),
    rewrite(
        _SPLIT,
        "keras.ops.split(value, num_or_size_splits, axis=axis)",
        when=whole_numbers("num_or_size_splits"),
    ),
    # keras.ops.split is told where to cut, not how long the pieces are.
    rewrite(
        _SPLIT,
        "keras.ops.split(value, numpy.cumsum(num_or_size_splits)[:-1].tolist(), axis=axis)",
        when=sizes("num_or_size_splits"),
    ),
    rewrite("tensorflow.tile(input, multiples, name=None)", "keras.ops.tile(input, multiples)"),
    rewrite(
        "tensorflow.repeat(input, repeats, axis=None, name=None)",
        "keras.ops.repeat(input, repeats, axis=axis)",
        when=whole_numbers("repeats"),
    ),
    rewrite("tensorflow.reverse(tensor, axis, name=None)", "keras.ops.flip(tensor, axis)"),
    rewrite("tensorflow.roll(input, shift, axis, name=None)", "keras.ops.roll(input, shift, axis)"),
    rewrite(
        "tensorflow.broadcast_to(input, shape, name=None)", "keras.ops.broadcast_to(input, shape)"
    ),
    rewrite(
        "tensorflow.slice(input_, begin, size, name=None)", "keras.ops.slice(input_, begin, size)"
    ),
    *(
        rewrite(_GATHER, right, when=of_axis & equals("batch_dims", 0) & of_indices)
        for of_indices in (none_below_zero("indices"), somewhere())
        for of_axis, right in (
            (equals("axis", None), "keras.ops.take(params, indices, axis=0)"),
            (whole_numbers("axis"), "keras.ops.take(params, indices, axis=axis)"),
        )
    ),
    # Without a dtype tf.one_hot gives float32 whatever floatx is.
    *(
        rewrite(_ONE_HOT, right, when=_PLAIN_ONE_HOT & equals("axis", axis) & of_that_type)
        for right, axis in (
            ("keras.ops.one_hot(indices, depth, dtype=dtype)", None),
            ("keras.ops.one_hot(indices, depth, axis=axis, dtype=dtype)", -1),
        )
        for of_that_type in (floatx_is_default(), not_none("dtype"))
    ),
    rewrite(
        _PAD,
        "keras.ops.pad(tensor, paddings)",
        when=one_of("mode", "CONSTANT", "constant") & one_of("constant_values", 0, 0.0),
    ),
    rewrite(
        _PAD,
        "keras.ops.pad(tensor, paddings, constant_values=constant_values)",
        when=one_of("mode", "CONSTANT", "constant") & not_none("constant_values"),
    ),
    rewrite(
        _PAD,
        'keras.ops.pad(tensor, paddings, mode="reflect")',
        when=one_of("mode", "REFLECT", "reflect"),
    ),
    rewrite(
        _PAD,
        'keras.ops.pad(tensor, paddings, mode="symmetric")',
        when=one_of("mode", "SYMMETRIC", "symmetric"),
    ),
    # While a model is built, an unknown size is None in keras.ops.shape.
    rewrite(
        "tensorflow.shape(input, out_type=None, name=None)",
        "keras.ops.shape(input)",
        when=indexed() & equals("out_type", None) & somewhere(),
    ),
    rewrite("tensorflow.rank(input, name=None)", "len(input.shape)"),
)

BY_HAND = {
    "shape": "while a model is built use the static x.shape[i], and -1 in keras.ops.reshape if "
    "the batch size is unknown; code that needs the real size belongs in a layer's `call`",
    "split": "write keras.ops.split(x, n, axis=...) for equal parts; for sizes it takes the "
    "indices at which to cut: [2, 3, 4] is [2, 5]",
    "gather": "with batch_dims= write keras.ops.take_along_axis with indices of the same rank",
    "gather_nd": "keras.ops has no gather_nd: keep it, in a custom layer or a keras.layers.Lambda",
    "boolean_mask": "its result has no fixed shape, which Keras 3 does not allow while a model is "
    "built: multiply by the mask, or use keras.ops.where",
    "sequence_mask": "write keras.ops.arange(maximum) < keras.ops.expand_dims(lengths, -1)",
    "one_hot": "keras.ops.one_hot has no on_value and off_value: scale its result",
    "repeat": "write keras.ops.repeat(x, repeats, axis=...)",
    "map_fn": "write keras.ops.map(fn, x), or keras.ops.vectorized_map(fn, x)",
    "scan": "write keras.ops.scan(f, init, xs)",
    "while_loop": "move the loop into a custom layer, with keras.ops.while_loop in its `call`",
    "cond": "move it into a custom layer, with keras.ops.cond in its `call`; or compute both "
    "branches and choose with keras.ops.where",
}
