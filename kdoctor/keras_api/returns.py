"""The few facts that reading releases statically cannot tell: what functions and members give.

Sources: the docstrings of keras 2.15 and 3.15 and what they return when they are run
(``tests/keras_api/test_against_frameworks.py`` runs those that Keras 3 still has). Names are
relative to the import root, whichever it is.
"""

from __future__ import annotations

from typing import Final

from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1, ways_to
from kdoctor.value_types import EAGER_TENSOR, TF_VARIABLE, Context, Kind, Type

TENSOR: Final = Type(Kind.TENSOR, "KerasTensor")
# One symbolic tensor, or several in a list: which of the two nobody can tell from the class.
TENSORS: Final = Type(Kind.TENSOR)
MODEL: Final = Type(Kind.MODEL, "Functional")
_LOADED: Final = Type(Kind.MODEL)  # a Functional, a Sequential or the user's class
LAYER: Final = Type(Kind.LAYER)
_OPTIMIZER: Final = Type(Kind.OPTIMIZER)
_VARIABLE: Final = Type(Kind.VARIABLE)
# What TensorFlow makes has members that Keras' own variables lack.
_TF_VARIABLE: Final = Type(Kind.VARIABLE, TF_VARIABLE)
_HISTORY: Final = Type(Kind.HISTORY, "History")


def _list_of(item: Type) -> Type:
    return Type(Kind.LIST, item=item)


RETURNS: Final[dict[str, Type]] = {
    **dict.fromkeys(
        (
            *("models.load_model", "saving.load_model", "models.clone_model"),
            *("models.model_from_json", "models.model_from_config", "models.model_from_yaml"),
            *("engine.saving.load_model", "saving.save.load_model", "utils.multi_gpu_model"),
        ),
        _LOADED,
    ),
    **dict.fromkeys(("optimizers.get", "optimizers.deserialize"), _OPTIMIZER),
    "backend.placeholder": TENSOR,
    **dict.fromkeys(
        (
            *("backend.variable", "backend.zeros", "backend.ones", "backend.eye"),
            *("backend.random_uniform_variable", "backend.random_normal_variable"),
        ),
        _TF_VARIABLE,
    ),
    **dict.fromkeys(
        (
            *("backend.constant", "backend.arange", "backend.random_normal"),
            *("backend.random_uniform", "backend.truncated_normal", "backend.random_bernoulli"),
            *("ops.arange", "ops.zeros", "ops.ones", "ops.eye", "ops.full", "ops.linspace"),
            *("random.normal", "random.uniform", "random.truncated_normal", "random.randint"),
        ),
        EAGER_TENSOR,
    ),
}

# Functions of other packages, whole names.
LIBRARY_FUNCTIONS: Final[dict[str, Type]] = {
    **dict.fromkeys(
        ways_to(
            *("tensorflow.constant", "tensorflow.zeros", "tensorflow.ones", "tensorflow.fill"),
            *("tensorflow.range", "tensorflow.linspace", "tensorflow.eye"),
            *("tensorflow.random.normal", "tensorflow.random.uniform", "tensorflow.random_normal"),
            *("tensorflow.random.truncated_normal", "tensorflow.random_uniform"),
            "tensorflow.convert_to_tensor",
        ),
        EAGER_TENSOR,
    ),
    **dict.fromkeys(ways_to("tensorflow.Variable"), _TF_VARIABLE),
    # https://github.com/qubvel/segmentation_models: each returns a keras.models.Model
    **dict.fromkeys(
        (f"segmentation_models.{name}" for name in ("Unet", "FPN", "Linknet", "PSPNet")), MODEL
    ),
}

# Functions of `keras.backend` and `keras.ops` that make no single tensor of a tensor.
NOT_TENSOR_FUNCTIONS: Final = frozenset(
    (
        *("shape", "int_shape", "ndim", "dtype", "eval", "get_value", "batch_get_value"),
        *("get_variable_shape", "count_params", "is_tensor", "is_keras_tensor", "is_sparse"),
        *("is_variable", "is_placeholder", "is_int_dtype", "is_float_dtype", "function"),
        *("gradients", "set_value", "batch_set_value", "update", "update_add", "update_sub"),
        *("moving_average_update", "rnn", "normalize_batch_in_training", "learning_phase"),
        *("standardize_dtype", "convert_to_numpy", "get_uid", "cond", "while_loop", "fori_loop"),
        *("scan", "associative_scan", "map", "vectorized_map", "switch", "top_k", "moments"),
        *("qr", "svd", "eig", "eigh", "slogdet", "lu_factor", "histogram"),
        *("nonzero", "unravel_index", "meshgrid", "ctc_decode", "fft", "fft2", "rfft"),
        *("stft", "custom_gradient", "vectorize", "get_session", "map_fn"),
        *("ifft2", "irfft", "set_session", "foldl", "foldr", "in_train_phase", "in_test_phase"),
    )
)
TENSOR_LIST_FUNCTIONS: Final = frozenset(
    ("split", "unstack", "array_split", "hsplit", "vsplit", "dsplit")
)
# Functions of `keras.layers` that call a layer on what they are given, as tensors of that sort.
MERGING_FUNCTIONS: Final = frozenset(
    ("add", "subtract", "multiply", "average", "maximum", "minimum", "concatenate", "dot")
)
# Functions of TensorFlow, by the last part of their names, that make one tensor of a tensor.
TENSOR_FUNCTIONS: Final = frozenset(
    (
        *("abs", "accumulate_n", "acos", "add", "add_n", "argmax", "argmin", "argsort", "asin"),
        *("atan", "atan2", "avg_pool", "avg_pool2d", "batch_to_space", "bias_add", "boolean_mask"),
        *("broadcast_to", "cast", "ceil", "clip_by_norm", "clip_by_value", "concat", "conv1d"),
        *("conv2d", "conv2d_transpose", "conv3d", "convert_to_tensor", "cos", "cosh", "cumprod"),
        *("cumsum", "depth_to_space", "divide", "dropout", "einsum", "elu", "ensure_shape"),
        *("equal", "erf", "exp", "expand_dims", "expm1", "flip_left_right", "flip_up_down"),
        *("floor", "floordiv", "floormod", "gather", "gather_nd", "gelu", "greater"),
        *("greater_equal", "grayscale_to_rgb", "identity", "l2_loss", "l2_normalize"),
        *("leaky_relu", "less", "less_equal", "lgamma", "log", "log1p", "log_sigmoid"),
        *("log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul"),
        *("matrix_transpose", "max_pool", "max_pool2d", "maximum", "minimum", "mod", "multiply"),
        *("negative", "norm", "not_equal", "one_hot", "ones_like", "pad"),
        *("pow", "random_shuffle", "real", "reciprocal", "reduce_all", "reduce_any"),
        *("reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod"),
        *("reduce_std", "reduce_sum", "reduce_variance", "relu", "relu6", "repeat", "reshape"),
        *("resize", "resize_bicubic", "resize_bilinear", "resize_images"),
        *("resize_nearest_neighbor", "resize_with_crop_or_pad", "reverse", "rgb_to_grayscale"),
        *("roll", "round", "rsqrt", "selu", "scatter_nd", "sigmoid", "sign", "silu"),
        *("sin", "sinh", "size", "slice", "softmax", "softplus", "softsign", "sort"),
        *("space_to_batch", "space_to_depth", "sqrt", "square", "squared_difference", "squeeze"),
        *("stack", "stop_gradient", "strided_slice", "subtract", "swish", "tan", "tanh"),
        *("tensordot", "tensor_scatter_nd_update", "tile", "to_float", "to_int32", "transpose"),
        *("truediv", "where", "zeros_like", "sigmoid_cross_entropy_with_logits"),
        *("softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits"),
    )
)
# Layers that surely have weights: nobody makes one anew at each call, but to build a model.
WEIGHTED_LAYERS: Final = frozenset(
    (
        *("Dense", "EinsumDense", "Embedding", "BatchNormalization", "LayerNormalization"),
        *("Conv1D", "Conv2D", "Conv3D", "SeparableConv1D", "SeparableConv2D", "DepthwiseConv1D"),
        *("DepthwiseConv2D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "LSTM"),
        *("GRU", "SimpleRNN", "ConvLSTM2D", "Bidirectional", "PReLU", "LocallyConnected1D"),
        *("LocallyConnected2D", "CuDNNLSTM", "CuDNNGRU", "MultiHeadAttention"),
        *("GroupNormalization", "AtrousConvolution2D"),
    )
)

# Layers that may give several tensors: they give what others give, or their states, too. All other
# layers of Keras give one.
LAYERS_OF_SEVERAL: Final = frozenset(
    (
        *("Layer", "Wrapper", "Bidirectional", "TimeDistributed", "SpectralNormalization"),
        *("Lambda", "Pipeline", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"),
        *("RNN", "LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
        *("CuDNNLSTM", "CuDNNGRU", "StackedRNNCells", "AbstractRNNCell", "LSTMCell", "GRUCell"),
        *("SimpleRNNCell", "Attention", "AdditiveAttention", "MultiHeadAttention"),
        "GroupedQueryAttention",
    )
)

_WEIGHTS: Final = (
    *("weights", "trainable_weights", "non_trainable_weights"),
    *("variables", "trainable_variables", "non_trainable_variables"),
)

MEMBERS: Final[dict[tuple[Kind, str], Type]] = {
    **{(kind, name): _list_of(_VARIABLE) for kind in (Kind.MODEL, Kind.LAYER) for name in _WEIGHTS},
    **{(kind, name): TENSORS for kind in (Kind.MODEL, Kind.LAYER) for name in ("input", "output")},
    # A layer that has layers is a model in a model, or one of the user's own that keeps some.
    **{(kind, "layers"): _list_of(LAYER) for kind in (Kind.MODEL, Kind.LAYER)},
    (Kind.MODEL, "inputs"): _list_of(TENSOR),
    (Kind.MODEL, "outputs"): _list_of(TENSOR),
    (Kind.MODEL, "optimizer"): Type(Kind.OPTIMIZER),
    (Kind.MODEL, "metrics"): _list_of(Type(Kind.METRIC)),
    (Kind.MODEL, "history"): _HISTORY,
    (Kind.TENSOR, "_keras_history"): Type(Kind.KERAS_HISTORY, "KerasHistory"),
    (Kind.KERAS_HISTORY, "layer"): LAYER,
    (Kind.KERAS_HISTORY, "operation"): LAYER,
    # `set_model` gives it to a callback before anything is called.
    (Kind.CALLBACK, "model"): _LOADED,
    (Kind.OPTIMIZER, "iterations"): _VARIABLE,
    **{
        (Kind.LAYER, name): _VARIABLE
        for name in (
            *("kernel", "bias", "recurrent_kernel", "depthwise_kernel", "pointwise_kernel"),
            *("gamma", "beta", "moving_mean", "moving_variance", "embeddings"),
        )
    },
}

_WRAPPERS: Final = frozenset(
    {"Wrapper", "TimeDistributed", "Bidirectional", "SpectralNormalization"}
)
PARTS: Final[dict[str, frozenset[str]]] = {
    "layer": _WRAPPERS,
    "forward_layer": frozenset({"Bidirectional"}),
    "backward_layer": frozenset({"Bidirectional"}),
    "cell": frozenset({"RNN"}),
}
"""The members that are a layer, and which layers of Keras have them: other classes of a user may
keep anything by these names."""

CALLED: Final[dict[tuple[Kind, str], Type]] = {
    (Kind.MODEL, "__call__"): TENSORS,
    (Kind.LAYER, "__call__"): TENSORS,
    (Kind.TENSOR, "__getitem__"): TENSOR,
    (Kind.MODEL, "get_layer"): LAYER,
    (Kind.MODEL, "fit"): _HISTORY,
    (Kind.MODEL, "fit_generator"): _HISTORY,
    **{(Kind.LAYER, name): TENSORS for name in ("get_input_at", "get_output_at")},
    **{
        (kind, "add_weight"): _VARIABLE
        for kind in (Kind.MODEL, Kind.LAYER, Kind.METRIC, Kind.OPTIMIZER)
    },
}

# Methods that only models have, called with one of these keywords. (Agents, tuners and estimators
# have a `compile` or a `fit` as well, and other parameters.)
RECEIVERS: Final[dict[str, tuple[frozenset[str], Type]]] = {
    "compile": (frozenset({"loss"}), _LOADED),
    "fit_generator": (frozenset({"steps_per_epoch", "validation_steps"}), _LOADED),
    "evaluate_generator": (frozenset({"steps", "max_queue_size"}), _LOADED),
    "predict_generator": (frozenset({"steps", "max_queue_size"}), _LOADED),
}

METHOD_CONTEXTS: Final[dict[tuple[Kind, str], Context]] = {
    (Kind.LAYER, "call"): Context.CALL,
    (Kind.MODEL, "call"): Context.CALL,
    **{
        (Kind.MODEL, step): Context.TRAIN_LOOP
        for step in ("train_step", "test_step", "compute_loss")
    },
    (Kind.LOSS, "call"): Context.LOSS_OR_METRIC,
    (Kind.LOSS, "__call__"): Context.LOSS_OR_METRIC,
    (Kind.METRIC, "update_state"): Context.LOSS_OR_METRIC,
    (Kind.METRIC, "result"): Context.LOSS_OR_METRIC,
    **{
        (Kind.CALLBACK, f"on_{what}_{when}"): Context.EAGER
        for what in ("epoch", "batch", "train", "test", "predict", "train_batch", "test_batch")
        for when in ("begin", "end")
    },
}

# The callee is relative to its Keras root, or a bare method name.
ARGUMENT_CONTEXTS: Final[dict[tuple[str, int | str], Context]] = {
    **{
        (f"{module}.{name}", argument): Context.CALL
        for module in ("layers", "layers.core")
        for name, argument in (
            ("Lambda", 0),
            ("Lambda", "function"),
            ("Activation", 0),
            ("Activation", "activation"),
        )
    },
    **dict.fromkeys(
        (("compile", argument) for argument in (1, "loss", 2, "metrics", "weighted_metrics")),
        Context.LOSS_OR_METRIC,
    ),
}

BLOCK_CONTEXTS: Final = dict.fromkeys(ways_also_by_1("tensorflow.GradientTape"), Context.TRAIN_LOOP)
