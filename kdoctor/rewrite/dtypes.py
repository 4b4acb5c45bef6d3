"""Short dtype names that TensorFlow accepts and Keras 3 rejects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import libcst as cst

# TensorFlow's other names of dtypes (`tf.as_dtype`). Keras 3: "ValueError: Invalid dtype: float".
SHORT_DTYPES: Final = {"half": "float16", "float": "float32", "double": "float64"}


def full_dtype(node: cst.SimpleString) -> str | None:
    """Return the literal with the name that Keras 3 knows, None where it has no short one."""
    full = SHORT_DTYPES.get(node.raw_value)
    return (
        None
        if full is None or "b" in node.prefix.lower()
        else node.value.replace(node.raw_value, full)
    )
