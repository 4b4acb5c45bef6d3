"""What Keras calls things by the names of their classes and functions."""

from __future__ import annotations

import re


def in_snake_case(name: str) -> str:
    """Return what Keras makes of a class' or function's name (``keras.src.utils.naming``).

    >>> in_snake_case("BatchNormalization"), in_snake_case("Conv2D")
    ('batch_normalization', 'conv2d')
    """
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
