"""Notice functions of TensorFlow that are handed tensors of JAX or PyTorch.

Outside of what is traced or differentiated they run, on the CPU, through NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class CallsOfTensorFlow:
    """Part of a backend: TensorFlow asks each value that it converts for ``__tf_tensor__``."""

    def __init__(self) -> None:
        self._seen = False
        self._watched = set[type]()

    def watched(self, tensor: Any) -> Any:
        """Return a tensor; those of its class are noticed from now on."""
        kind = type(tensor)
        if kind not in self._watched:
            self._watched.add(kind)
            kind.__tf_tensor__ = self._converted()
        return tensor

    def _converted(self) -> Any:
        def converted(tensor: Any, dtype: Any = None, name: Any = None) -> Any:
            import tensorflow as tf

            self._seen = True
            return tf.constant(np.asarray(tensor), dtype=dtype, name=name)

        return converted

    def calls_of_tensorflow(self) -> bool:
        """Say whether one was noticed since this process began."""
        return self._seen
