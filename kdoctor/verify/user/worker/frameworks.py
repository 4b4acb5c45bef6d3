"""Keras 2 or Keras 3 under the names that user code imports."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from dataclasses import dataclass
from typing import Any

KERAS_2, KERAS_3 = "keras_2", "keras_3"


@dataclass
class Side:
    """The frameworks of a process."""

    name: str
    tf: Any
    keras: Any
    versions: dict[str, str]
    seed: int = 7

    @property
    def is_old(self) -> bool:
        """Whether it is Keras 2."""
        return self.name == KERAS_2

    def fresh(self) -> None:
        """Reset layer names and seeds, so that both sides start alike."""
        self.keras.backend.clear_session()
        if hasattr(self.keras.utils, "set_random_seed"):  # since Keras 2.7
            self.keras.utils.set_random_seed(self.seed)


def load(name: str, shim: str) -> Side:
    """Import a side. ``shim`` is the file that maps ``keras`` and ``tf.keras`` to tf_keras."""
    import tensorflow as tf

    if name == KERAS_2 and importlib.util.find_spec("tf_keras") is None:
        return _of_its_time(name, tf)
    if name == KERAS_2:
        import tf_keras

        # Kept alive: a context manager that is collected exits.
        _KEPT.append(_loaded_from(shim).keras_2(with_all=True))
        _KEPT[-1].__enter__()
        return Side(
            name, tf, tf_keras, {"tensorflow": tf.__version__, "tf_keras": tf_keras.__version__}
        )
    import keras

    with contextlib.suppress(ImportError):
        tf.keras.layers  # noqa: B018 - loaded on first access
    return Side(name, tf, keras, {"tensorflow": tf.__version__, "keras": keras.__version__})


def _of_its_time(name: str, tf: Any) -> Side:
    """Return the Keras 2 that an old TensorFlow has, or that was installed beside it.

    Raises:
        ImportError: it is Keras 3.
    """
    keras = tf.keras
    if importlib.util.find_spec("keras") is not None:
        import keras as installed

        # From 2.4 to 2.15 it is what TensorFlow has, under another name.
        if tuple(map(int, installed.__version__.split(".")[:2])) < (2, 4):
            keras = installed
    version = getattr(keras, "__version__", "2")
    if not version.startswith("2"):
        raise ImportError(f"Keras {version} is no Keras 2, and there is no tf_keras")
    return Side(name, tf, keras, {"tensorflow": tf.__version__, "keras": version})


_KEPT: list[Any] = []


def _loaded_from(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("kdoctor_keras_2", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
