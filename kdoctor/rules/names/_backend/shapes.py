"""Functions of ``keras.backend`` about shapes, and that arrange elements anew."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite, context, equals
from kdoctor.rules.names._backend.number_guards import (
    from_the_front,
    none_below_zero,
    whole_numbers,
)
from kdoctor.rules.names._backend.unknown_rank import rank_is_known, where_rank_is_known
from kdoctor.rules.names._backend.uses import calculated_with, indexed, no_tensor_by_use
from kdoctor.rules.names._backend.value_guards import no_variables, somewhere
from kdoctor.value_types import Context

_CHANNELS_LAST = equals("data_format", "channels_last")
_CHANNELS_FIRST = equals("data_format", "channels_first")
_SEVERAL = (cst.List, cst.ListComp, cst.Tuple)
_LIBRARIES_OF_TENSORS = ("keras.", "tensorflow.", "tf_keras.")


def _written_out(sizes: str) -> Guard:
    """The sizes are a list or one number: a graph lets nobody look into a tensor."""
    return Question(
        f"written_out({sizes!r})",
        f"`{sizes}` may be a tensor",
        lambda use_site: GuardAnswer.of(_is_written_out(use_site, sizes)),
        parameters=frozenset({sizes}),
    )


def _may_be_a_tensor(sizes: str) -> Guard:
    """They may be one, and are not made by a function of tensors here: that surely gives one."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(sizes)
        value = None if node is None else value_of(use_site.module, node)
        function = value.func if isinstance(value, cst.Call) else None
        name = None if function is None else use_site.module.qualified(function)
        is_tensor = (
            name is not None
            and name.startswith(_LIBRARIES_OF_TENSORS)
            and not name.endswith("shape")  # that is a tuple on Keras 3
        )
        return GuardAnswer.of(not is_tensor and not _is_written_out(use_site, sizes))

    return Question(
        f"may_be_a_tensor({sizes!r})",
        f"`{sizes}` is a tensor",
        answer,
        parameters=frozenset({sizes}),
    )


def _is_written_out(use_site: UseSite, sizes: str) -> bool:
    node = use_site.value(sizes)
    if node is None or whole_numbers(sizes).decide(use_site) is GuardAnswer.YES:
        return True
    value = value_of(use_site.module, node)
    while isinstance(value, cst.BinaryOperation):  # [1] * rank + [n]
        value = (
            value.left if isinstance(value.left, (*_SEVERAL, cst.BinaryOperation)) else value.right
        )
    return isinstance(value, _SEVERAL)


REWRITES = (
    # While a functional model is built, an unknown batch size is None in keras.ops.shape.
    *where_rank_is_known(
        "keras.backend.shape(x)",
        "keras.ops.shape(x)",
        when=indexed() & context(Context.CALL, Context.LOSS_OR_METRIC, Context.EAGER),
    ),
    rewrite(
        "keras.backend.shape(x)",
        "x.shape",
        when=indexed() & context(Context.FUNCTIONAL) & somewhere(),
    ),
    rewrite("keras.backend.shape(x)", "keras.ops.shape(x)", when=no_tensor_by_use() & somewhere()),
    # The sizes that are not known while a functional model is built are None.
    *where_rank_is_known(
        "keras.backend.shape(x)",
        'keras.ops.convert_to_tensor(keras.ops.shape(x), dtype="int32")',
        when=calculated_with() & context(Context.CALL, Context.LOSS_OR_METRIC, Context.EAGER),
    ),
    rewrite(
        "keras.backend.shape(x)",
        'keras.ops.convert_to_tensor(keras.ops.shape(x), dtype="int32")',
        when=calculated_with() & context(Context.UNKNOWN) & somewhere(),
    ),
    rewrite("keras.backend.int_shape(x)", "x.shape", when=indexed()),
    *where_rank_is_known("keras.backend.int_shape(x)", "tuple(x.shape)"),
    *where_rank_is_known("keras.backend.get_variable_shape(x)", "tuple(x.shape)"),
    # Of a symbolic tensor keras.ops.ndim makes another, and no number: it is for code that surely
    # gets none. Elsewhere len() raises where the rank is unknown, which is better than no number.
    rewrite("keras.backend.ndim(x)", "len(x.shape)", when=rank_is_known()),
    rewrite(
        "keras.backend.ndim(x)",
        "keras.ops.ndim(x)",
        when=context(Context.CALL, Context.LOSS_OR_METRIC, Context.EAGER),
    ),
    rewrite("keras.backend.ndim(x)", "len(x.shape)", when=somewhere()),
    rewrite("keras.backend.count_params(x)", "numpy.prod(x.shape)"),
    rewrite("keras.backend.reshape(x, shape)", "keras.ops.reshape(x, shape)"),
    rewrite("keras.backend.flatten(x)", "keras.ops.reshape(x, (-1,))"),
    # Not (keras.ops.shape(x)[0], -1): that tells no size while a model is built. Not x.shape: in a
    # graph a size may be None there, as in a loss of images of any size, and None is no factor.
    *where_rank_is_known(
        "keras.backend.batch_flatten(x)",
        "keras.ops.reshape(x, (-1, math.prod(keras.ops.shape(x)[1:])))",
    ),
    rewrite("keras.backend.transpose(x)", "keras.ops.transpose(x)"),
    *where_rank_is_known(
        "keras.backend.permute_dimensions(x, pattern)", "keras.ops.transpose(x, pattern)"
    ),
    *where_rank_is_known("keras.backend.expand_dims(x, axis=-1)", "keras.ops.expand_dims(x, axis)"),
    *where_rank_is_known("keras.backend.squeeze(x, axis)", "keras.ops.squeeze(x, axis)"),
    # Of unknown rank Keras 2 took axis=-1 for the first.
    *where_rank_is_known(
        "keras.backend.concatenate(tensors, axis=-1)", "keras.ops.concatenate(tensors, axis)"
    ),
    # A variable that comes first is asked for its dtype as if it were a tensor (TensorFlow).
    rewrite("keras.backend.stack(x, axis=0)", "keras.ops.stack(x, axis)", when=no_variables("x")),
    *where_rank_is_known("keras.backend.reverse(x, axes)", "keras.ops.flip(x, axes)"),
    # keras.ops.repeat is another function: it repeats elements, K.repeat adds an axis of time.
    rewrite(
        "keras.backend.repeat(x, n)",
        "keras.ops.repeat(keras.ops.expand_dims(x, 1), n, axis=1)",
    ),
    # Of an axis that counts from the end, and whose size a graph does not know, Keras 2 repeated
    # along another one.
    *(
        rewrite(
            "keras.backend.repeat_elements(x, rep, axis)",
            "keras.ops.repeat(x, rep, axis)",
            when=guard,
        )
        for guard in (from_the_front("axis"), somewhere())
    ),
    rewrite(
        "keras.backend.tile(x, n)",
        "keras.ops.tile(x, n)",
        when=_may_be_a_tensor("n") & somewhere(),
    ),
    *where_rank_is_known(
        "keras.backend.tile(x, n)", "keras.ops.tile(x, n)", when=_written_out("n")
    ),
    *(
        rewrite(
            "keras.backend.gather(reference, indices)",
            "keras.ops.take(reference, indices, axis=0)",
            when=guard,
        )
        for guard in (none_below_zero("indices"), somewhere())
    ),
    *where_rank_is_known(
        "keras.backend.temporal_padding(x, padding=(1, 1))",
        "keras.ops.pad(x, ((0, 0), padding, (0, 0)))",
    ),
    *where_rank_is_known(
        "keras.backend.spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None)",
        "keras.ops.pad(x, ((0, 0), *padding, (0, 0)))",
        when=_CHANNELS_LAST,
    ),
    *where_rank_is_known(
        "keras.backend.spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None)",
        "keras.ops.pad(x, ((0, 0), (0, 0), *padding))",
        when=_CHANNELS_FIRST,
    ),
    *where_rank_is_known(
        "keras.backend.spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None)",
        "keras.ops.pad(x, ((0, 0), *padding, (0, 0)))",
        when=_CHANNELS_LAST,
    ),
    *where_rank_is_known(
        "keras.backend.spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None)",
        "keras.ops.pad(x, ((0, 0), (0, 0), *padding))",
        when=_CHANNELS_FIRST,
    ),
    # Keras 2 made int32 of the factors: of 2.5 it took 2.
    *(
        rewrite(
            "keras.backend.resize_images("
            "x, height_factor, width_factor, data_format, interpolation='nearest')",
            f"keras.ops.repeat(keras.ops.repeat(x, {height}, axis={rows}), {width}, axis={cols})",
            when=when & equals("interpolation", "nearest"),
        )
        for ordering, rows, cols in ((_CHANNELS_LAST, 1, 2), (_CHANNELS_FIRST, 2, 3))
        for height, width, when in (
            (
                "height_factor",
                "width_factor",
                whole_numbers("height_factor", "width_factor") & ordering,
            ),
            ("int(height_factor)", "int(width_factor)", ordering),
        )
    ),
    rewrite(
        "keras.backend.resize_volumes(x, depth_factor, height_factor, width_factor, data_format)",
        "keras.ops.repeat(keras.ops.repeat(keras.ops.repeat("
        "x, depth_factor, axis=1), height_factor, axis=2), width_factor, axis=3)",
        when=_CHANNELS_LAST,
    ),
    rewrite(
        "keras.backend.resize_volumes(x, depth_factor, height_factor, width_factor, data_format)",
        "keras.ops.repeat(keras.ops.repeat(keras.ops.repeat("
        "x, depth_factor, axis=2), height_factor, axis=3), width_factor, axis=4)",
        when=_CHANNELS_FIRST,
    ),
    rewrite("keras.backend.size(x, name=None)", "keras.ops.size(x)"),
    rewrite("keras.backend.slice(x, start, size)", "keras.ops.slice(x, start, size)"),
)

BY_HAND = {
    "shape": "keras.ops.shape(x) is a tuple, not a tensor. For one size write "
    "keras.ops.shape(x)[i] inside `call`, a loss or a metric; while a functional model is built "
    "use x.shape[i], and -1 in keras.ops.reshape where the batch size is unknown. Where a tensor "
    "is needed, wrap it: keras.ops.stack(keras.ops.shape(x))",
    "stack": "keras.ops.stack does not accept variables as tensors: write "
    "keras.ops.stack([each.value for each in variables])",
    "batch_flatten": "write keras.ops.reshape(x, (-1, math.prod(keras.ops.shape(x)[1:]))), "
    "or use a keras.layers.Flatten layer",
    "spatial_2d_padding": "write keras.ops.pad(x, ((0, 0), *padding, (0, 0))) for channels_last, "
    "keras.ops.pad(x, ((0, 0), (0, 0), *padding)) for channels_first",
    "spatial_3d_padding": "write keras.ops.pad(x, ((0, 0), *padding, (0, 0))) for channels_last, "
    "keras.ops.pad(x, ((0, 0), (0, 0), *padding)) for channels_first",
    "resize_images": "write keras.ops.image.resize(x, (height, width), "
    "interpolation=..., data_format=...) with the new size, or use keras.layers.UpSampling2D",
    "resize_volumes": "repeat each axis with keras.ops.repeat, or use keras.layers.UpSampling3D",
    "tile": "keras.ops.tile(x, n) iterates over a tensor `n`, which fails in a graph: write the "
    "sizes as a list, keras.ops.tile(x, [a, b])",
    "normalize_data_format": "write `data_format or keras.config.image_data_format()`",
}
