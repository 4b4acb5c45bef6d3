"""What tensorflow_addons called the types of arguments."""

import typing

import keras
import numpy as np
import tensorflow as tf

Number = typing.Union[
    float,
    int,
    np.float16,
    np.float32,
    np.float64,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
]
Initializer = typing.Union[
    None, dict, str, typing.Callable, keras.initializers.Initializer
]
Regularizer = typing.Union[
    None, dict, str, typing.Callable, keras.regularizers.Regularizer
]
Constraint = typing.Union[
    None, dict, str, typing.Callable, keras.constraints.Constraint
]
Activation = typing.Union[None, str, typing.Callable]
Optimizer = typing.Union[keras.optimizers.Optimizer, str]
TensorLike = typing.Union[
    typing.List[typing.Union[Number, list]],
    tuple,
    Number,
    np.ndarray,
    tf.Tensor,
    tf.SparseTensor,
    tf.Variable,
    keras.Variable,
    keras.KerasTensor,
]
FloatTensorLike = typing.Union[tf.Tensor, float, np.float16, np.float32, np.float64]
AcceptableDTypes = typing.Union[tf.DType, np.dtype, type, int, str, None]
