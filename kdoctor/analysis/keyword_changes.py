"""What became of keyword arguments: renamed, of no effect any more, or lost.

``tests/rules/test_argument_gone_tables.py`` holds the tables against the release data
and the installed Keras.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from packaging.version import Version

from kdoctor.keras_api import Signature
from kdoctor.value_types import Kind

# What Keras 3 takes out of ``**kwargs`` besides the parameters of ``Layer`` itself.
_LAYER: Final = frozenset(
    {
        *("activity_regularizer", "trainable", "dtype", "autocast", "name"),
        *("input_shape", "input_dim"),
    }
)
TAKEN: Final[dict[str, frozenset[str]]] = {
    "Embedding": frozenset({"input_length"}),
    "GRU": frozenset({"implementation"}),
    "GRUCell": frozenset({"implementation"}),
    "LSTM": frozenset({"implementation"}),
    "LSTMCell": frozenset({"implementation"}),
    "InputLayer": frozenset({"batch_input_shape", "input_shape"}),
    "LeakyReLU": frozenset({"alpha"}),
    "LayerNormalization": frozenset({"rms_scaling"}),
    "TextVectorization": frozenset({"vocabulary_size", "has_input_vocabulary"}),
    "LossScaleOptimizer": frozenset({"dynamic"}),
}
_OPTIMIZER: Final = frozenset({"decay"})
# What methods take out of their ``**kwargs`` that refuse all else, and what they say then.
_METHODS: Final = {"evaluate": frozenset({"_use_cached_eval_dataset"})}
REFUSALS: Final = {"evaluate": "ValueError: Arguments not recognized:"}
# They have no weight called `kernel`, and are made of `Conv` in Keras 2.
_IN_PARTS: Final = (
    *("SeparableConv1D", "SeparableConv2D", "SeparableConvolution1D", "SeparableConvolution2D"),
    *("DepthwiseConv1D", "DepthwiseConv2D"),
)
_OF_THE_KERNEL: Final = ("kernel_initializer", "kernel_regularizer", "kernel_constraint")

# What Keras 2 took out of ``**kwargs``: a test asks tf_keras.
WERE_TAKEN: Final[dict[Kind | str, frozenset[str]]] = {
    Kind.LAYER: frozenset({"weights", "batch_size", "implementation", "dynamic"}),
    **dict.fromkeys(_IN_PARTS, frozenset(_OF_THE_KERNEL)),
    **dict.fromkeys(("Attention", "AdditiveAttention"), frozenset({"causal"})),
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), frozenset({"enable_caching_device"})),
    "CategoryEncoding": frozenset({"max_tokens"}),
    "Discretization": frozenset({"bins"}),
    "Embedding": frozenset({"use_one_hot_matmul"}),
    "IntegerLookup": frozenset({"max_values", "mask_value", "oov_value"}),
    "image_dataset_from_directory": frozenset({"smart_resize"}),
    "BatchNormalization": frozenset({"fused", "virtual_batch_size", "adjustment"}),
    Kind.OPTIMIZER: frozenset({"lr", "clipnorm", "clipvalue"}),
    "Input": frozenset({"batch_input_shape"}),
    "to_categorical": frozenset({"nb_classes"}),  # that was Keras 1
    "compile": frozenset(
        {"experimental_run_tf_function", "experimental_steps_per_execution", "options"}
    )
    | frozenset({"run_metadata", "cloning", "target_tensors", "sample_weight_mode", "distribute"}),
    "apply_gradients": frozenset({"experimental_aggregate_gradients"}),
    "add_weight": frozenset(
        {"use_resource", "synchronization", "partitioner", "getter", "collections"}
    )
    | frozenset({"experimental_autocast"}),
    "TensorBoard": frozenset({"batch_size", "write_grads", "embeddings_layer_names"}),
    "ModelCheckpoint": frozenset({"period", "load_weights_on_restart", "options"}),
}


class Change(Struct, frozen=True):
    """What became of a keyword.

    ``renamed`` is its new name. ``drop``: it may be left out, and ``loses`` says what goes with it
    ("" for nothing at all). ``harmless`` are values with which it may be left out whatever else.
    ``from_release``: before this Keras 3, none of it is so.
    """

    renamed: str = ""
    drop: bool = False
    loses: str = ""
    harmless: tuple[str, ...] = ()
    help: str = ""
    no_fix_because: str = "the replacement depends on what the argument was for"
    loses_default: bool = False
    from_release: str = ""
    earlier: Change | None = None

    def on(self, release: Version) -> Change:
        """Return what became of the keyword in a release of Keras 3."""
        is_so = self.earlier is None or release >= Version(self.from_release)
        return self if is_so or self.earlier is None else self.earlier


_DATA: Final = Change(
    drop=True,
    loses="Keras 3 decides how, and in which order, batches are prepared",
    help="Pass it to the dataset: `class Mine(keras.utils.PyDataset)`, created with `Mine(…, "
    "workers=4, use_multiprocessing=True, max_queue_size=10)`.",
)
CHANGES: Final[dict[tuple[Kind | str, str], Change]] = {
    (Kind.OPTIMIZER, "lr"): Change(renamed="learning_rate", help="It is `learning_rate` now."),
    (Kind.OPTIMIZER, "jit_compile"): Change(
        drop=True, help="Use `compile(jit_compile=…)` to choose whether XLA compiles a step."
    ),
    ("Nadam", "schedule_decay"): Change(
        drop=True, loses="Keras 3 has a fixed value of 0.004", harmless=("0.004",)
    ),
    **{
        (method, name): _DATA
        for method in ("fit", "evaluate", "predict")
        for name in ("workers", "use_multiprocessing", "max_queue_size")
    },
    ("adapt", "batch_size"): Change(drop=True, help="`adapt` uses the whole array at once."),
    ("adapt", "steps"): Change(
        harmless=("None",),
        help="Pass only the part that counts: `dataset.take(steps)`, `array[: steps * "
        "batch_size]`.",
        no_fix_because="the batch size is not known here",
    ),
    ("reset_states", "states"): Change(
        harmless=("None",),
        help="Assign them one by one: `for state, value in zip(layer.states, values): "
        "state.assign(value)`.",
        no_fix_because="states must be assigned one by one",
    ),
    ("compile", "sample_weight_mode"): Change(
        drop=True,
        loses="the shape of the weights, (samples, steps), now says whether they are per time step",
        harmless=("None",),
    ),
    ("compile", "target_tensors"): Change(
        help="Pass targets to `fit`; add a loss on inner tensors in a layer.",
        harmless=("None",),
    ),
    ("compile", "experimental_run_tf_function"): Change(
        drop=True,
        loses="to train without `tf.function`, use `run_eagerly=True`",
    ),
    ("compile", "experimental_steps_per_execution"): Change(renamed="steps_per_execution"),
    ("compile", "options"): Change(drop=True, loses="there is no session to pass options to"),
    ("compile", "run_metadata"): Change(drop=True, loses="there is no session to collect it"),
    ("ModelCheckpoint", "period"): Change(
        harmless=("1",),
        help="`save_freq` counts batches: `save_freq=5 * steps_per_epoch` saves every fifth epoch, "
        "unless the monitored quantity is known only at the end of an epoch; in that case count "
        "epochs in a subclass.",
        no_fix_because="the number of batches per epoch is not known here",
    ),
    ("ModelCheckpoint", "options"): Change(
        drop=True, loses="the options applied to TensorFlow checkpoints", harmless=("None",)
    ),
    ("ModelCheckpoint", "load_weights_on_restart"): Change(
        harmless=("False",),
        help="Use `keras.callbacks.BackupAndRestore` to resume interrupted training.",
    ),
    ("TensorBoard", "write_grads"): Change(
        drop=True, loses="gradients are no longer written", harmless=("False",)
    ),
    # It said with how many samples the histograms of 2.3 and earlier were made.
    ("TensorBoard", "batch_size"): Change(drop=True),
    ("TensorBoard", "embeddings_layer_names"): Change(
        harmless=("None",), help="`embeddings_metadata` is a dict keyed by layer name."
    ),
    ("TensorBoard", "embeddings_data"): Change(harmless=("None",)),
    ("BatchNormalization", "fused"): Change(
        drop=True, help="Keras 3 uses the fused kernel where there is one."
    ),
    ("BatchNormalization", "virtual_batch_size"): Change(harmless=("None",)),
    ("BatchNormalization", "adjustment"): Change(harmless=("None",)),
    **{
        (name, keyword): Change(
            drop=True,
            help="Keras 2 accepted it and ignored it: these weights are configured with "
            f"`{keyword.replace('kernel', 'depthwise')}=`"
            + (
                f" and `{keyword.replace('kernel', 'pointwise')}=`."
                if name.startswith("Separable")
                else "."
            ),
        )
        for name in _IN_PARTS
        for keyword in _OF_THE_KERNEL
    },
    **{
        (name, "causal"): Change(
            harmless=("False",),
            help="Pass it in the call of the layer: `layer([query, value], use_causal_mask=True)`.",
            no_fix_because="it must be passed in each call of the layer",
        )
        for name in ("Attention", "AdditiveAttention")
    },
    **{
        (name, "enable_caching_device"): Change(
            drop=True, help="The backend decides where weights are read."
        )
        for name in ("LSTM", "GRU", "SimpleRNN")
    },
    ("Embedding", "use_one_hot_matmul"): Change(
        drop=True, help="The backend decides how rows are looked up."
    ),
    ("CategoryEncoding", "max_tokens"): Change(renamed="num_tokens"),
    ("Discretization", "bins"): Change(renamed="bin_boundaries"),
    ("IntegerLookup", "max_values"): Change(renamed="max_tokens"),
    ("IntegerLookup", "mask_value"): Change(renamed="mask_token"),
    ("IntegerLookup", "oov_value"): Change(renamed="oov_token"),
    ("image_dataset_from_directory", "smart_resize"): Change(renamed="crop_to_aspect_ratio"),
    (Kind.LAYER, "batch_size"): Change(
        help="Pass it to `keras.Input(shape, batch_size=…)` as the first layer.", harmless=("None",)
    ),
    (Kind.LAYER, "implementation"): Change(
        drop=True, help="The backend decides how it is computed."
    ),
    (Kind.LAYER, "dynamic"): Change(
        drop=True,
        loses="a layer that only runs eagerly needs `compile(run_eagerly=True)`",
        harmless=("False",),
    ),
    (Kind.LAYER, "time_major"): Change(
        harmless=("False",),
        help="Transpose around the layer: `keras.ops.transpose(x, (1, 0, 2))`.",
        no_fix_because="the inputs and outputs must be transposed where they are made and used",
    ),
    ("Embedding", "sparse"): Change(
        drop=True, loses="the gradients of the embedding table are dense", harmless=("False",)
    ),
    ("Input", "batch_input_shape"): Change(renamed="batch_shape"),
    ("relu", "alpha"): Change(renamed="negative_slope"),
    ("l1", "l"): Change(renamed="l1"),
    ("l2", "l"): Change(renamed="l2"),
    ("to_categorical", "y"): Change(renamed="x"),
    ("to_categorical", "nb_classes"): Change(renamed="num_classes"),
    ("to_categorical", "dtype"): Change(
        no_fix_because="the result is float64 whatever dtype is passed: it must be converted",
        help="Convert the result: `to_categorical(y).astype(dtype)`.",
    ),
    ("load_img", "grayscale"): Change(
        harmless=("False",), help="It is `color_mode='grayscale'` now."
    ),
    # It was taken, and not looked at: a layer's loss is that of each of its calls.
    ("add_loss", "inputs"): Change(drop=True, help="Keras 2 accepted it and ignored it."),
    ("add_loss", "losses"): Change(renamed="loss"),
    ("compute_mask", "mask"): Change(renamed="previous_mask"),
    **{
        (method, "reset_metrics"): Change(
            drop=True,
            loses="metrics are those of each batch, and no longer of all since they were reset",
            harmless=("True",),
            from_release="3.15",
            earlier=Change(
                loses="before Keras 3.15 metrics go on from batch to batch, until "
                "`model.reset_metrics()` is called (KD490)",
                loses_default=True,
                help="Before Keras 3.15 metrics go on from batch to batch, as with "
                "`reset_metrics=False`: call `model.reset_metrics()` where they are to begin anew.",
                no_fix_because="without it the call looks as if the metrics of each batch were "
                "meant (KD490)",
            ),
        )
        for method in ("train_on_batch", "test_on_batch")
    },
    ("add_weight", "use_resource"): Change(drop=True),
    ("add_weight", "synchronization"): Change(
        drop=True, loses="`aggregation` now decides how replicas are combined"
    ),
    ("add_weight", "experimental_autocast"): Change(renamed="autocast"),
    ("add_weight", "partitioner"): Change(harmless=("None",)),
    ("add_weight", "aggregation"): Change(
        help="In a metric, write `self.add_variable(shape, initializer, aggregation=…, name=…)`, "
        "with 'sum', 'mean' or 'only_first_replica', and `()` as the shape of a scalar."
    ),
    ("apply_gradients", "experimental_aggregate_gradients"): Change(
        drop=True, loses="gradients are always summed over replicas", harmless=("True",)
    ),
    ("apply_gradients", "skip_gradients_aggregation"): Change(
        drop=True, loses="gradients are always summed over replicas", harmless=("False",)
    ),
    ("apply_gradients", "name"): Change(drop=True),
    ("plot_model", "layer_range"): Change(harmless=("None",)),
    **{
        (name, "use_legacy_format"): Change(
            drop=True, loses="there is only one format now", harmless=("False",)
        )
        for name in ("serialize", "deserialize")
    },
}


def is_taken(leaf: str, kind: Kind | None, keyword: str) -> bool | None:
    """Say whether a callable with ``**kwargs`` takes a keyword; None where that is not known."""
    if keyword in TAKEN.get(leaf, ()):
        return True
    match kind:
        case Kind.LAYER:
            return keyword in _LAYER
        case Kind.OPTIMIZER:
            return keyword in _OPTIMIZER
        case None if leaf in _METHODS:
            return keyword in _METHODS[leaf]
        case _:
            return None


def is_refused(leaf: str, kind: Kind | None, new: Signature, keyword: str) -> bool:
    """Say whether a callable with these parameters surely refuses a keyword."""
    if new.parameter(keyword) is not None:
        return False
    return not new.takes_any_keyword or is_taken(leaf, kind, keyword) is False


def was_taken(leaf: str, kind: Kind | None, keyword: str) -> bool:
    """Say whether Keras 2 took a keyword out of its ``**kwargs``."""
    return keyword in WERE_TAKEN.get(leaf, ()) or (
        kind is not None and keyword in WERE_TAKEN.get(kind, ())
    )


def change_of(leaf: str, kind: Kind | None, keyword: str, release: Version) -> Change:
    """Return what became of a keyword in a release of Keras 3."""
    found = CHANGES.get((leaf, keyword))
    if found is None and kind is not None:
        found = CHANGES.get((kind, keyword))
    return (found or Change()).on(release)
