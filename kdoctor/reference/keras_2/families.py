"""The layers that had one private base class in Keras 2, for `isinstance` and `issubclass`."""

import keras

MERGING = (
    keras.layers.Add,
    keras.layers.Average,
    keras.layers.Concatenate,
    keras.layers.Dot,
    keras.layers.Maximum,
    keras.layers.Minimum,
    keras.layers.Multiply,
    keras.layers.Subtract,
)
CONVOLUTIONS = (
    keras.layers.Conv1D,
    keras.layers.Conv2D,
    keras.layers.Conv3D,
    keras.layers.Conv1DTranspose,
    keras.layers.Conv2DTranspose,
    keras.layers.Conv3DTranspose,
    keras.layers.DepthwiseConv1D,
    keras.layers.DepthwiseConv2D,
    keras.layers.SeparableConv1D,
    keras.layers.SeparableConv2D,
)
POOLING_1D = (keras.layers.AveragePooling1D, keras.layers.MaxPooling1D)
POOLING_2D = (keras.layers.AveragePooling2D, keras.layers.MaxPooling2D)
POOLING_3D = (keras.layers.AveragePooling3D, keras.layers.MaxPooling3D)
GLOBAL_POOLING_1D = (
    keras.layers.GlobalAveragePooling1D,
    keras.layers.GlobalMaxPooling1D,
)
GLOBAL_POOLING_2D = (
    keras.layers.GlobalAveragePooling2D,
    keras.layers.GlobalMaxPooling2D,
)
GLOBAL_POOLING_3D = (
    keras.layers.GlobalAveragePooling3D,
    keras.layers.GlobalMaxPooling3D,
)
PREPROCESSING = (
    keras.layers.Discretization,
    keras.layers.IntegerLookup,
    keras.layers.Normalization,
    keras.layers.StringLookup,
    keras.layers.TextVectorization,
)
