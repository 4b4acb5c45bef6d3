"""Masks that tensors carry: as an attribute, or beside them where tensors take none."""

from __future__ import annotations

import contextlib
from typing import Any

_ATTRIBUTE = "_keras_mask"


def mask_of(tensor: Any) -> Any:
    """Return the mask of a tensor; None if there is none."""
    own = getattr(tensor, _ATTRIBUTE, None)
    if own is None:
        with contextlib.suppress(ImportError):
            from keras.src.backend.common.masking import get_keras_mask

            return get_keras_mask(tensor)
    return own


def give(tensor: Any, mask: Any) -> None:
    """Give a tensor a mask.

    Raises:
        ImportError: it cannot carry one, and this Keras keeps none beside it.
    """
    try:
        setattr(tensor, _ATTRIBUTE, mask)  # both Keras read it
    except AttributeError:
        from keras.src.backend.common.masking import set_keras_mask

        set_keras_mask(tensor, mask)


def hand_on(before: Any, after: Any) -> None:
    """Give one tensor the mask of another."""
    mask = mask_of(before)
    if mask is not None:
        give(after, mask)
