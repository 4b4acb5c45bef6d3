"""``import keras`` as it was in Keras 2, served by ``tf_keras``. Nothing is invented.

``keras.a.b`` offers the names of ``tf_keras.a.b``, then those of the private ``tf_keras.src.a.b``
(what ``keras`` on PyPI let one import up to 2.12), then, for modules of older releases that are
gone (``keras.layers.core``, ``keras.utils.np_utils``), those of the nearest public module above.
Every object is the one of ``tf_keras`` itself.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types

import tf_keras

# Modules that went, whole, to another one.
MOVED = {
    "engine": ("layers", "models", "utils"),
    "models": ("models", "layers"),
    "utils": ("utils", "layers"),
    "legacy": ("layers",),
    "objectives": ("losses",),
    "initializations": ("initializers",),
    "optimizer_v1": ("optimizers",),
    "optimizer_v2": ("optimizers",),
}


def real_modules(tail):
    """Return the modules of tf_keras whose names ``keras.<tail>`` offers, best first."""
    head = tail.partition(".")[0]
    names = [tail, f"src.{tail}", *MOVED.get(head, (head,))]
    found = [_imported(f"tf_keras.{name}") for name in names]
    return list(dict.fromkeys(module for module in found if module is not None))


def _imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class OldModule(types.ModuleType):
    """A module of Keras 2 that looks its names up where tf_keras keeps them."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        for module in self.__dict__["real"]:
            value = getattr(module, name, None)
            if isinstance(value, types.ModuleType):
                return importlib.import_module(f"{self.__name__}.{name}")
            if hasattr(module, name):
                return value
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class OldModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``keras.<anything>`` where tf_keras has a home for it."""

    def find_spec(self, name, path=None, target=None):  # noqa: ARG002 - the protocol's
        tail = name.partition("keras.")[2] if name.startswith("keras.") else ""
        if not tail or not real_modules(tail):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = OldModule(spec.name)
        module.real = real_modules(spec.name.removeprefix("keras."))
        public = (name for real in module.real for name in getattr(real, "__all__", dir(real)))
        module.__all__ = sorted({name for name in public if not name.startswith("_")})
        return module

    def exec_module(self, module):
        """There is nothing to run."""


sys.meta_path.insert(0, OldModules())
__version__ = tf_keras.__version__


def __getattr__(name):
    value = getattr(tf_keras, name, None)
    if value is not None and not isinstance(value, types.ModuleType):
        return value
    if not name.startswith("_") or name == "__internal__":
        try:
            return importlib.import_module(f"keras.{name}")
        except ImportError:
            pass
    raise AttributeError(f"module 'keras' has no attribute {name!r}")
