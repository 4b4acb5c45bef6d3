"""Which names of Keras 2 are helpers that can be written out, and what ``keras.src`` has today."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.rules.names._definitions.dead_packages import PACKAGES
from kdoctor.rules.names._definitions.written_out import Helper

_PRIVATE_CODE: Final = "src."
# Modules of Keras 2 by what they were called, the oldest name first; those in `STILL_THERE` are
# modules of Keras 3 as well.
_HOMES: Final = {
    "sizes": ("utils.conv_utils",),
    "images": ("applications.imagenet_utils",),
    "fans": ("initializers", "initializers.initializers", "initializers.initializers_v2"),
    "generic": ("utils.generic_utils",),
    "tensors": ("utils.tf_utils",),
    "conditions": ("utils.tf_utils", "utils.control_flow_util"),
    "states": ("layers.recurrent", "layers.rnn.rnn_utils"),
    "counts": ("utils.layer_utils", "engine.base_layer_utils"),
    "weights": ("utils.layer_utils",),
    "models": ("utils.layer_utils", "utils"),
    "kernels": ("utils.conv_utils", "utils.np_utils"),
    "losses_utils": ("utils.losses_utils",),
    "losses": ("losses",),
    "merge": ("layers.merge", "layers.merging.base_merge"),
    "random": ("engine.base_layer", "__internal__.layers"),
    "yaml": ("models",),
    "backend": ("backend",),
    "adapted": ("layers.experimental.preprocessing", "engine.base_preprocessing_layer"),
}
_SIZES: Final = (
    "convert_data_format",
    "conv_input_length",
    "conv_output_length",
    "deconv_output_length",
    "normalize_data_format",
    "normalize_padding",
    "normalize_tuple",
)
_GENERIC: Final = (
    "check_for_unexpected_keys",
    "default",
    "has_arg",
    "is_all_none",
    "is_default",
    "make_batches",
    "object_list_uid",
    "slice_arrays",
    "to_list",
    "to_snake_case",
    "unpack_singleton",
    "validate_kwargs",
)
_LOSSES: Final = (
    "ReductionV2",
    "cast_losses_to_common_dtype",
    "compute_weighted_loss",
    "reduce_weighted_loss",
    "remove_squeezable_dimensions",
    "squeeze_or_expand_dimensions",
)
_TENSORS: Final = ("is_tensor_or_tensor_list", "is_tensor_or_variable", "validate_axis")
# Where Keras 3 has a helper with the same parameters.
_TODAY: Final = {
    "Merge": "layers.merging.base_merge.Merge",
    "_compute_fans": "initializers.random_initializers.compute_fans",
    "LossFunctionWrapper": "losses.losses.LossFunctionWrapper",
    "correct_pad": "applications.imagenet_utils.correct_pad",
    "count_params": "utils.summary_utils.count_params",
    "default": "utils.python_utils.default",
    "is_default": "utils.python_utils.is_default",
    "normalize_tuple": "utils.argument_validation.standardize_tuple",
    "obtain_input_shape": "applications.imagenet_utils.obtain_input_shape",
    "to_list": "utils.python_utils.to_list",
    "to_snake_case": "utils.naming.to_snake_case",
    "validate_activation": "applications.imagenet_utils.validate_activation",
}
_FAMILIES: Final = {"Merge": "MERGING", "PreprocessingLayer": "PREPROCESSING"}
_UNLIKE: Final = {
    "ContextValueCache": "it knows the graphs of TensorFlow alone: on another backend, what was "
    "cached while one function was traced is given to the next",
    "LossFunctionWrapper": "Keras 3 refuses weights of samples for losses of more than one axis",
    "ReductionV2": "`AUTO` is `sum_over_batch_size`: Keras 3 has no `auto`",
    "model_from_yaml": "it raises an error, as it does since Keras 2.6, where older ones read it",
    "object_list_uid": "it takes a tuple for several objects, as later releases did: keras 2.2 "
    "took it for one",
    "PreprocessingLayer": "`adapt` takes datasets and arrays only, and runs `update_state` outside "
    "of a graph; nothing asks for `make_adapt_function`",
    "shape_type_conversion": "the method returns tuples, where Keras 2 made a TensorShape of them",
}


def _named() -> Iterator[tuple[str, str, str]]:
    """Yield the kind of home, the name in it, and the definition that stands for it."""
    for kind, names in (
        ("sizes", _SIZES),
        ("generic", _GENERIC),
        ("losses_utils", _LOSSES),
        ("tensors", (*_TENSORS, "shape_type_conversion")),
        ("images", ("correct_pad", "obtain_input_shape", "validate_activation")),
        ("fans", ("_compute_fans",)),
        ("conditions", ("smart_cond",)),
        ("counts", ("count_params",)),
        ("weights", ("convert_dense_weights_data_format",)),
        ("models", ("convert_all_kernels_in_model",)),
        ("kernels", ("convert_kernel",)),
        ("losses", ("LossFunctionWrapper",)),
        ("random", ("BaseRandomLayer",)),
        ("adapted", ("PreprocessingLayer",)),
        ("yaml", ("model_from_yaml",)),
        ("backend", ("ContextValueCache",)),
    ):
        yield from ((kind, each, each) for each in names)
    yield "images", "_obtain_input_shape", "obtain_input_shape"
    yield "states", "_standardize_args", "standardize_args"
    yield "states", "standardize_args", "standardize_args"
    yield "merge", "_Merge", "Merge"


def _helpers() -> Iterator[tuple[str, Helper]]:
    for kind, leaf, code in _named():
        for home in _HOMES[kind]:
            today, unlike = _TODAY.get(code, ""), _UNLIKE.get(code, "")
            family = _FAMILIES.get(code, "")
            yield f"{home}.{leaf}", Helper(code, _HOMES[kind][0], leaf, today, unlike, family)
    for axes in ("1D", "2D", "3D"):
        for code, family in (
            (f"GlobalPooling{axes}", f"GLOBAL_POOLING_{axes}"),
            ("", f"POOLING_{axes}"),
        ):
            name = code or f"Pooling{axes}"
            base = f"layers.pooling.base_{'global_' if code else ''}pooling{axes.lower()}"
            for home, leaf in product(("layers.pooling", base), (f"_{name}", name)):
                yield f"{home}.{leaf}", Helper(code, "layers.pooling", leaf, family=family)

    for leaf in ("conv_input_length", "conv_output_length"):
        yield f"utils.np_utils.{leaf}", Helper(leaf, "utils.np_utils", leaf)
    for module in ("layers.convolutional", "layers.convolutional.base_conv"):
        for leaf in ("_Conv", "Conv"):
            today = "layers.convolutional.base_conv.BaseConv"
            helper = Helper("", "layers.convolutional", leaf, today, family="CONVOLUTIONS")
            yield f"{module}.{leaf}", helper


HELPERS: Final = dict(_helpers())
"""By the name below the root."""


# The decorators of Keras 2 that took arguments of Keras 1.
# Without that of optimizers: KD512 writes the method anew that it decorates.
_SUPPORT: Final = pattern(r"legacy\.interfaces\.(legacy_(?!get_updates_)\w+_support)")
_KEEPS: Final = "arguments of Keras 1 are no longer translated"


def _decorator(name: str) -> Helper | None:
    found = _SUPPORT.fullmatch(name)
    if found is None:
        return None
    return Helper("legacy_support", "legacy.interfaces", found[1], unlike=_KEEPS)


def helper_of(name: str) -> tuple[Helper, int] | None:
    """Return the helper that a dotted name is or reads from, and how many parts stand behind it.

    >>> helper, beyond = helper_of("tensorflow.python.keras.utils.losses_utils.ReductionV2.SUM")
    >>> helper.code, beyond
    ('ReductionV2', 1)
    """
    if (package := PACKAGES.get(name.partition(".")[0])) is not None:
        return package.of(name)
    split = split_root(name)
    if split is None or split[0] == "tf_keras":
        return None
    rest = split[1].removeprefix(_PRIVATE_CODE)
    beyond = 0
    while rest:
        if (found := HELPERS.get(rest) or _decorator(rest)) is not None:
            return found, beyond
        rest, _, _ = rest.rpartition(".")
        beyond += 1
    return None
