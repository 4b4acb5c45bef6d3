"""Names of Keras 1, and of the first releases of Keras 2 that still knew them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kdoctor.rewrite import equals, given, not_given, rewrite
from kdoctor.rules.names._successors.successor import Successor

_MERGE = (
    "keras.layers.merge(inputs, mode='sum', concat_axis=-1, dot_axes=-1, output_shape=None, "
    "output_mask=None, arguments=None, name=None)"
)
_OTHERS = ("dot_axes", "output_shape", "output_mask", "arguments")
_MODES = {"sum": "add", "mul": "multiply", "ave": "average", "max": "maximum"}


# Keras 1: a layer whose inputs are the ends of other models, the first one of a Sequential.
_MERGE_LAYER = (
    "(layers=None, mode='sum', concat_axis=-1, dot_axes=-1, output_shape=None, "
    "output_mask=None, arguments=None, node_indices=None, tensor_indices=None, name=None)"
)
_OF_A_LAYER = ("dot_axes", "output_shape", "output_mask", "arguments", "node_indices")
_LAYERS = {"sum": "Add", "mul": "Multiply", "ave": "Average", "max": "Maximum"}
_HOMES = ("layers", "layers.core", "engine.topology")
_BRANCHES = "the merged models must have known inputs: they must start with an input shape"


def _merge_layer_rows() -> Iterator[Successor]:
    """Yield the rows of `Merge`, under the names that it had."""
    modes: dict[str, tuple[str, tuple[str, ...]]] = {
        mode: (f"{layer}(", ("concat_axis",)) for mode, layer in _LAYERS.items()
    } | {"concat": ("Concatenate(axis=concat_axis", ())}
    naming = ((not_given("name"), ""), (given("name"), "name=name"))
    for home, (mode, (layer, others)), (named, name) in product(_HOMES, modes.items(), naming):
        old = f"keras.{home}.Merge{_MERGE_LAYER}"
        fits = equals("mode", mode) & not_given(*others, *_OF_A_LAYER) & named
        comma = ", " if name and not layer.endswith("(") else ""
        alone = f"keras.layers.{layer}{comma}{name})"
        yield Successor(rewrite(old, alone, fits & not_given("layers")), "merged-tensors")
        model = (
            "keras.Model([each for model in layers for each in model.inputs], keras.layers."
            f"{layer})([model.outputs[0] for model in layers]){name and ', '}{name})"
        )
        yield Successor(rewrite(old, model, fits & given("layers")), unsafe_because=_BRANCHES)


_INITIALS = (
    ("normal(shape, scale=0.05, name=None)", "RandomNormal(stddev=scale)"),
    ("uniform(shape, scale=0.05, name=None)", "RandomUniform(-scale, scale)"),
    ("orthogonal(shape, scale=1.1, name=None)", "Orthogonal(gain=scale)"),
    ("identity(shape, scale=1, name=None)", "Identity(gain=scale)"),
    ("zero(shape, name=None)", "Zeros()"),
    ("one(shape, name=None)", "Ones()"),
    *(
        (f"{each}(shape, name=None)", f"{''.join(map(str.title, each.split('_')))}()")
        for each in (
            "lecun_uniform", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform",
        )
    ),
)  # fmt: skip
_NO_VARIABLE = (
    "its result created a variable in Keras 1 and creates a tensor now: write "
    "self.add_weight(shape=shape, initializer=…, name=…) where it is called with a shape"
)
_DRAWN = "other random numbers are drawn, and a name must not contain a slash"


def _initial_rows() -> Iterator[Successor]:
    yield Successor(
        rewrite(
            "keras.initializations.get(identifier, **kwargs)", "keras.initializers.get(identifier)"
        ),
        unsafe_because=_NO_VARIABLE,
    )
    for old, new in _INITIALS:
        yield Successor(
            rewrite(
                f"keras.initializations.{old}",
                f"keras.Variable(keras.initializers.{new}(shape), name=name)",
            ),
            unsafe_because=_DRAWN,
        )


_DENSE = "Dense also works on the last axis; its arguments had other names in Keras 1"
_FROM_CONFIG = "Keras 3 may not be able to load a configuration that Keras 1 or 2 saved"


def _merge_rows() -> Iterator[Successor]:
    for name, passed in (("", not_given("name")), (", name=name", given("name"))):
        for mode, function in _MODES.items():
            fits = equals("mode", mode) & not_given("concat_axis", *_OTHERS) & passed
            new = f"keras.layers.{function}(inputs{name})"
            yield Successor(rewrite(_MERGE, new, fits), "merged")
        fits = equals("mode", "concat") & not_given(*_OTHERS) & passed
        new = f"keras.layers.concatenate(inputs, axis=concat_axis{name})"
        yield Successor(rewrite(_MERGE, new, fits), "merged")


ROWS = (
    *_merge_rows(),
    *_merge_layer_rows(),
    *_initial_rows(),
    *(
        Successor(
            rewrite(f"keras.{home}.TimeDistributedDense", "keras.layers.Dense"),
            unsafe_because=_DENSE,
        )
        for home in ("layers", "layers.core")
    ),
    Successor(
        rewrite(
            "keras.utils.layer_utils.layer_from_config(config, custom_objects=None)",
            "keras.layers.deserialize(config, custom_objects=custom_objects)",
        ),
        unsafe_because=_FROM_CONFIG,
    ),
    Successor(
        rewrite(
            "keras.utils.visualize_util.plot(model, to_file='model.png', show_shapes=False, "
            "show_layer_names=True)",
            "keras.utils.plot_model(model, to_file=to_file, show_shapes=show_shapes, "
            "show_layer_names=show_layer_names)",
        ),
        unsafe_because="the image looks different; it needs pydot and graphviz as before",
    ),
    Successor(
        rewrite("keras.utils.visualize_util.plot", "keras.utils.plot_model"),
        unsafe_because="the image looks different; it needs pydot and graphviz as before",
    ),
    Successor(
        rewrite("keras.utils.visualize_util.model_to_dot", "keras.utils.model_to_dot"),
        unsafe_because="the image looks different; it needs pydot and graphviz as before",
    ),
    Successor(
        rewrite(
            "keras.regularizers.l1l2(l1=0.01, l2=0.01)", "keras.regularizers.L1L2(l1=l1, l2=l2)"
        ),
        "regularized",
    ),
    Successor(
        rewrite("keras.regularizers.activity_l1(l=0.01)", "keras.regularizers.L1(l1=l)"),
        unsafe_because="it was passed as activity_regularizer; Keras 1 summed its loss over the "
        "batch, Keras 3 divides by the batch size",
    ),
    Successor(
        rewrite("keras.regularizers.activity_l2(l=0.01)", "keras.regularizers.L2(l2=l)"),
        unsafe_because="it was passed as activity_regularizer; Keras 1 summed its loss over the "
        "batch, Keras 3 divides by the batch size",
    ),
)
