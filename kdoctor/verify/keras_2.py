"""Import shim that temporarily makes ``keras`` and ``tensorflow.keras`` mean tf_keras.

It has only paths that existed in Keras 2. Optimizers are those of Keras up to 2.10, whose arguments
and attributes most old code uses; tf_keras keeps them as ``optimizers.legacy``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import tensorflow as tf
import tf_keras

_ROOTS = ("tensorflow.keras", "keras")
# Modules of Keras 2.0 to 2.3, and the modules of tf_keras with their contents.
_HISTORIC = {
    "applications": ("applications",),
    "backend": ("backend", "src.backend"),
    "backend.tensorflow_backend": ("backend", "src.backend"),
    "engine": ("layers", "models"),
    "layers": ("layers",),
    "legacy": (),
    "models": ("models", ""),
    "objectives": ("losses",),
    "optimizers": ("optimizers.legacy", "optimizers"),
    "utils": ("utils", "layers"),
}
_HISTORIC_LEAVES = {
    "engine": ("base_layer", "input_layer", "network", "sequential", "topology", "training"),
    "layers": (
        *("advanced_activations", "convolutional", "convolutional_recurrent", "core"),
        *("cudnn_recurrent", "embeddings", "local", "merge", "noise", "normalization"),
        *("pooling", "recurrent", "wrappers"),
    ),
    "utils": ("conv_utils", "data_utils", "generic_utils", "layer_utils", "np_utils", "vis_utils"),
}


# Private modules of tf_keras with contents of those modules that user code needs.
_OUT_OF_SIGHT = {
    "layers.merge": ("src.layers.merging.base_merge",),
    "utils.conv_utils": ("src.utils.conv_utils",),
    "utils.generic_utils": ("src.utils.generic_utils",),
    "utils.layer_utils": ("src.utils.layer_utils",),
}


@contextlib.contextmanager
def keras_2(*, with_all: bool = False) -> Iterator[None]:
    """Make ``import keras`` and ``import tensorflow.keras`` mean tf_keras in the block.

    ``with_all`` adds names that tf_keras no longer exports, such as ``keras.layers.merge._Merge``.
    """
    finder = _Finder(_OUT_OF_SIGHT if with_all else {})
    kept = {name: sys.modules.pop(name) for name in _of_keras()}
    lazy = tf.__dict__.get("keras")
    sys.meta_path.insert(0, finder)
    try:
        tf.keras = importlib.import_module("tensorflow.keras")
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in _of_keras():
            del sys.modules[name]
        sys.modules.update(kept)
        tf.keras = lazy


def _of_keras() -> list[str]:
    return [name for name in sys.modules if _path_below_root(name) is not None]


def _path_below_root(name: str) -> str | None:
    """Return ``layers`` for ``keras.layers`` and ``tensorflow.keras.layers``; None for others."""
    for root in _ROOTS:
        if name == root:
            return ""
        if name.startswith(f"{root}."):
            return name.removeprefix(f"{root}.")
    return None


class _Alias(ModuleType):
    """A module that looks names up in other modules, in order; assignments stay its own."""

    def __init__(self, name: str, homes: Sequence[ModuleType]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._homes = homes

    def __getattr__(self, name: str) -> Any:
        for home in self.__dict__.get("_homes", ()) if not name.startswith("__") else ():
            if not hasattr(home, name):
                continue
            found = getattr(home, name)
            if isinstance(found, ModuleType) and found.__name__.startswith("tf_keras"):
                return importlib.import_module(f"{self.__name__}.{name}")
            return found
        if name == "__version__":
            return tf_keras.__version__
        if name == "__all__":  # otherwise `from keras.layers import *` would import nothing
            return [each for each in dir(self) if self._is_brought(each)]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def _is_brought(self, name: str) -> bool:
        found = [getattr(home, name) for home in self._homes if hasattr(home, name)]
        return not name.startswith("_") and bool(found) and not isinstance(found[0], ModuleType)

    def __dir__(self) -> list[str]:
        return sorted({name for home in self._homes for name in dir(home)})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader of the modules of Keras 2; ``homes`` adds more sources by path."""

    def __init__(self, homes: Mapping[str, Sequence[str]]) -> None:
        self._further = homes

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Return the spec of a module that existed in Keras 2."""
        del path, target
        below = _path_below_root(fullname)
        if below is None or not self._homes(below):
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Create the alias module."""
        return _Alias(spec.name, self._homes(_path_below_root(spec.name) or ""))

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the alias is complete."""

    def _homes(self, path: str) -> list[ModuleType]:
        return _homes(path, self._further.get(path, ()))


def _homes(path: str, further: Sequence[str]) -> list[ModuleType]:
    if path in _HISTORIC:
        homes = [*_HISTORIC[path], path]
    else:
        head, _, leaf = path.partition(".")
        homes = [path]
        if leaf in _HISTORIC_LEAVES.get(head, ()):
            homes += _HISTORIC.get(head, (head,))
    found = [_imported(f"tf_keras.{home}".rstrip(".")) for home in (*homes, *further)]
    return list({id(each): each for each in found if each is not None}.values())


def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
