"""Keras 2 or Keras 3 under the names that user code imports."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass, field
from typing import Any

from .backend import Backend
from .backends import TENSORFLOW, backend_named
from .measurement import Case, Sides

# The code before the fix runs on Keras 2, or on Keras 3 with TensorFlow; the code after it on
# Keras 3, alone or with each backend that was asked for.
KERAS_2, BEFORE, KERAS_3 = "keras_2", "keras_3_before", "keras_3"
_OF_BACKEND = f"{KERAS_3}-"


@dataclass
class Side:
    """The frameworks of a process.

    ``tf`` is None where the process runs on another backend. ``compared_with`` is the label of the
    side that a job is compared with, and ``random`` what was random there: cases and values.
    """

    name: str
    tf: Any
    keras: Any
    versions: dict[str, str]
    backend: Backend
    seed: int = 7
    compared_with: str = "Keras 2"
    random: set[tuple[str, str]] = field(default_factory=set)

    @property
    def is_old(self) -> bool:
        """Whether it runs the code before the fix."""
        return self.name in {KERAS_2, BEFORE}

    @property
    def is_keras_2(self) -> bool:
        """Whether it is Keras 2."""
        return self.name == KERAS_2

    @property
    def label(self) -> str:
        """Its name in messages."""
        if self.name == BEFORE:
            return "Keras 3 before the fix"
        if self.name.startswith(_OF_BACKEND):
            return f"Keras 3 with {self.backend.title}"
        return "Keras 2" if self.is_keras_2 else "Keras 3"

    @property
    def optimizers(self) -> tuple[type, ...]:
        """The base classes of its optimizers."""
        module = self.keras.optimizers
        homes = [module, *(getattr(module, each, None) for each in ("legacy", "experimental"))]
        bases = [getattr(home, "Optimizer", None) for home in homes]
        return tuple(each for each in bases if isinstance(each, type))

    def knows_as_random(self, case: Case, name: str) -> bool:
        """Say whether a value is random on the other side; two draws may be equal by chance."""
        return (case.part_of or case.label, name) in self.random

    @property
    def sides(self) -> Sides:
        """What it is compared with, and itself."""
        return Sides(self.compared_with, self.label, self.backend.narrowed)

    def fresh(self) -> None:
        """Reset layer names and seeds, so that both sides start alike."""
        self.keras.backend.clear_session()
        if self.tf is None:
            # Keras cannot write its own details into errors of JAX, and raises another instead.
            self.keras.config.disable_traceback_filtering()
        if hasattr(self.keras.utils, "set_random_seed"):  # since Keras 2.7
            self.keras.utils.set_random_seed(self.seed)


def load(name: str, shim: str) -> Side:
    """Import a side. ``shim`` is the file that maps ``keras`` and ``tf.keras`` to tf_keras.

    The backend of Keras 3 is that of ``KERAS_BACKEND``, and the end of the side's name.
    """
    named = name.partition("-")[2] or TENSORFLOW
    if named != TENSORFLOW:
        return _of_another_backend(name, named)
    import tensorflow as tf

    if name == KERAS_2 and importlib.util.find_spec("tf_keras") is None:
        return _of_its_time(name, tf)
    if name == KERAS_2:
        import tf_keras

        # Kept alive: a context manager that is collected exits.
        _KEPT.append(_loaded_from(shim).keras_2(with_all=True))
        _KEPT[-1].__enter__()
        versions = {"tensorflow": tf.__version__, "tf_keras": tf_keras.__version__}
        return Side(name, tf, tf_keras, versions, backend_named(TENSORFLOW))
    import keras

    with contextlib.suppress(ImportError):
        tf.keras.layers  # noqa: B018 - loaded on first access
    versions = {"tensorflow": tf.__version__, "keras": keras.__version__}
    return Side(name, tf, keras, versions, backend_named(TENSORFLOW))


def _of_another_backend(name: str, named: str) -> Side:
    import keras

    framework = importlib.import_module(named)
    versions = {named: framework.__version__, "keras": keras.__version__}
    return Side(name, None, keras, versions, backend_named(named))


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
    versions = {"tensorflow": tf.__version__, "keras": version}
    return Side(name, tf, keras, versions, backend_named(TENSORFLOW))


_KEPT: list[Any] = []


def _loaded_from(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("kdoctor_keras_2", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
