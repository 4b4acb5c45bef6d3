"""Which functions give floats, bools, what is not negative, or what goes in: tables of names."""

from __future__ import annotations

import libcst as cst

# By the last part of a name in keras.backend, keras.ops, tf, tf.math and tf.nn.
FLOAT = frozenset({
    "exp", "log", "sqrt", "sin", "cos", "sigmoid", "hard_sigmoid", "softmax", "softplus",
    "softsign", "tanh", "elu", "std", "var", "logsumexp", "dropout", "random_normal",
    "random_uniform", "truncated_normal", "binary_crossentropy", "categorical_crossentropy",
    "sparse_categorical_crossentropy", "l2_normalize", "epsilon", "cast_to_floatx",
    "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits", "weighted_cross_entropy_with_logits",
    "log_softmax", "log_sigmoid", "leaky_relu", "gelu", "selu", "silu", "swish",
    "erf", "expm1", "log1p", "rsqrt", "reduce_logsumexp", "reduce_std", "reduce_variance",
})  # fmt: skip
BOOL = frozenset({
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "any", "all",
    "in_top_k", "logical_and", "logical_not", "logical_or", "is_finite", "is_inf", "is_nan",
    "reduce_all", "reduce_any",
})  # fmt: skip
ELEMENTWISE = frozenset({
    "abs", "square", "sqrt", "exp", "log", "round", "sign", "sin", "cos", "sigmoid",
    "hard_sigmoid", "softplus", "softsign", "tanh", "elu", "relu", "stop_gradient", "identity",
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum",
    "pow", "add", "subtract", "multiply", "divide",
})  # fmt: skip
FIRST_ONLY = frozenset({"cast", "cast_to_floatx", "clip", "elu", "relu"})
REDUCING = frozenset({"sum", "prod", "max", "min", "mean", "any", "all", "std", "var"})
# The result has the type of the first argument, or of either of the first two.
SAME_TYPE = frozenset({
    "abs", "square", "sum", "prod", "max", "min", "mean", "clip", "round", "sign", "reshape",
    "flatten", "batch_flatten", "transpose", "permute_dimensions", "expand_dims", "squeeze",
    "reverse", "repeat", "repeat_elements", "tile", "gather", "stop_gradient", "identity",
    "cumsum", "cumprod", "relu", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min",
    "reduce_prod", "boolean_mask", "broadcast_to", "flip", "relu6", "roll", "slice", "take",
})  # fmt: skip
EITHER_TYPE = frozenset({
    "maximum", "minimum", "pow", "dot", "batch_dot", "matmul", "add", "subtract", "multiply",
    "tensordot", "squared_difference",
})  # fmt: skip
NOT_NEGATIVE = frozenset({
    "abs", "square", "exp", "sigmoid", "hard_sigmoid", "softmax", "softplus", "sqrt", "var", "std",
    "epsilon",
})  # fmt: skip
SAME_SIGN = SAME_TYPE - {"clip", "round", "sign", "abs", "square", "relu"} | {"round", "cast"}
# Of losses and metrics: of integers these give integers, all others a float, or an error.
TYPE_OF_PREDICTION = frozenset({"mae", "mean_absolute_error", "mean_squared_error", "mse"})
MADE_AS_FLOAT = frozenset({"constant", "variable", "zeros", "ones"})  # unless dtype= is given
# Layers whose output is a float whatever goes in.
FLOAT_LAYERS = frozenset({
    "Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "SeparableConv2D", "DepthwiseConv2D",
    "Embedding", "LSTM", "GRU", "SimpleRNN", "BatchNormalization", "LayerNormalization",
})  # fmt: skip
# Of keras.Input. A tensor that is passed in (`tensor=`) has a type of its own.
INPUT_ARGUMENTS = frozenset({"", "shape", "batch_size", "batch_shape", "name", "sparse", "dtype"})
LIBRARIES = ("tensorflow.", "tensorflow.math.", "tensorflow.nn.")
ARITHMETIC = (
    cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.BitAnd, cst.BitOr,
)  # fmt: skip
