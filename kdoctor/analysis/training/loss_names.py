"""Short names of losses and metrics, and the functions they stand for."""

from __future__ import annotations

from typing import Final

_NAMES: Final = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "bce": "binary_crossentropy",
    "kld": "kl_divergence",
}
LONG_NAMES: Final = _NAMES | {short.upper(): long for short, long in _NAMES.items()}
"""Each as Keras takes it, in small letters and in capitals."""
