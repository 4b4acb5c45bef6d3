"""By which names a class of Keras goes, beside its own: known without reading a table of names.

``tests/keras_api/test_class_aliases.py`` holds it against all tables.
"""

from __future__ import annotations

from typing import Final

_ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "Adadelta": ("adadelta",),
    "Adagrad": ("adagrad",),
    "Adam": ("adam",),
    "Adamax": ("adamax",),
    "AveragePooling1D": ("AvgPool1D",),
    "AveragePooling2D": ("AvgPool2D",),
    "AveragePooling3D": ("AvgPool3D",),
    "BackupAndRestoreExperimental": ("BackupAndRestore",),
    "BatchNormalization": (
        "BatchNorm",
        "BatchNormalizationV1",
        "BatchNormalizationV2",
    ),
    "CategoryEncoding": (
        "CategoryEncodingV1",
        "CategoryEncodingV2",
    ),
    "Conv1D": ("Convolution1D",),
    "Conv1DTranspose": ("Convolution1DTranspose",),
    "Conv2D": ("Convolution2D",),
    "Conv2DTranspose": (
        "Convolution2DTranspose",
        "Deconv2D",
        "Deconvolution2D",
    ),
    "Conv3D": ("Convolution3D",),
    "Conv3DTranspose": (
        "Convolution3DTranspose",
        "Deconv3D",
        "Deconvolution3D",
    ),
    "Dense": ("FullyConnected",),
    "Functional": (
        "Model",
        "Network",
    ),
    "GRU": (
        "CuDNNGRU",
        "GRUV1",
        "GRUV2",
        "GRU_v2",
    ),
    "GRUCell": (
        "GRUCellV1",
        "GRUCellV2",
        "GRUCell_v2",
    ),
    "GlobalAveragePooling1D": ("GlobalAvgPool1D",),
    "GlobalAveragePooling2D": ("GlobalAvgPool2D",),
    "GlobalAveragePooling3D": ("GlobalAvgPool3D",),
    "GlobalMaxPooling1D": ("GlobalMaxPool1D",),
    "GlobalMaxPooling2D": ("GlobalMaxPool2D",),
    "GlobalMaxPooling3D": ("GlobalMaxPool3D",),
    "GroupedQueryAttention": ("GroupQueryAttention",),
    "IntegerLookup": (
        "IntegerLookupV1",
        "IntegerLookupV2",
    ),
    "LSTM": (
        "CuDNNLSTM",
        "LSTMV1",
        "LSTMV2",
        "LSTM_v2",
    ),
    "LSTMCell": (
        "LSTMCellV1",
        "LSTMCellV2",
        "LSTMCell_v2",
    ),
    "LossScaleOptimizerV1": ("LossScaleOptimizer",),
    "MaxPooling1D": ("MaxPool1D",),
    "MaxPooling2D": ("MaxPool2D",),
    "MaxPooling3D": ("MaxPool3D",),
    "Nadam": ("nadam",),
    "Normalization": (
        "NormalizationV1",
        "NormalizationV2",
    ),
    "OptimizerV2": ("Optimizer",),
    "RMSprop": (
        "RMSProp",
        "rmsprop",
    ),
    "SGD": ("sgd",),
    "SeparableConv1D": ("SeparableConvolution1D",),
    "SeparableConv2D": ("SeparableConvolution2D",),
    "StringLookup": (
        "StringLookupV1",
        "StringLookupV2",
    ),
    "TextVectorization": (
        "TextVectorizationV1",
        "TextVectorizationV2",
    ),
}


def names_of_class(cls: str) -> tuple[str, ...]:
    """Return the last parts of all names that a class, by the name of ``Type.cls``, ever had."""
    return (cls, *_ALIASES.get(cls, ()))


def canonical_name(name: str) -> str:
    """Return the name of the class that a name was once for."""
    return _CANONICAL.get(name, name)


_CANONICAL: Final = {alias: cls for cls, aliases in _ALIASES.items() for alias in aliases}
