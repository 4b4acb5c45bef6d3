"""Modules of other packages that run on first attribute access."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.machinery import PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader


def install_lazy_module(name: str, folders: Sequence[str], imported: Collection[str] = ()) -> None:
    """Install a lazy module if it is in one of its package's folders.

    It runs when one of its names is asked for. Not so what is ``imported`` from it meanwhile: that
    gets placeholders, until ``take_back_placeholders`` is called.
    """
    spec = PathFinder.find_spec(name, folders)
    if spec is None or spec.loader is None or name in sys.modules:
        return
    module = importlib.util.module_from_spec(spec)
    vars(module)["__getattr__"] = _lazy_getattr(module, spec.loader)
    vars(module).update((each, _Placeholder(name, each)) for each in imported)
    sys.modules[name] = module


def take_back_placeholders(package: ModuleType, lazy: Iterable[str]) -> None:
    """Let a package and its lazy modules give what placeholders stand for, once it is asked for."""
    for each in (package, *(sys.modules[name] for name in lazy if name in sys.modules)):
        found = {name: held for name, held in vars(each).items() if isinstance(held, _Placeholder)}
        for name in found:
            del vars(each)[name]
        if each is package and found:
            vars(package)["__getattr__"] = _getattr_of(package, found)


class _Placeholder:
    """What a name of a module stands for that did not run."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def resolved(self) -> object:
        """Return it: the module runs."""
        return getattr(sys.modules[self._module], self._name)


def _getattr_of(
    package: ModuleType, missing: Mapping[str, _Placeholder]
) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package that took placeholders from its modules."""
    usual = vars(package).get("__getattr__")

    def __getattr__(name: str) -> object:  # noqa: N807
        if name in missing:
            return vars(package).setdefault(name, missing[name].resolved())
        if usual is not None:
            return usual(name)
        raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")

    return __getattr__


def _lazy_getattr(module: ModuleType, loader: Loader) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module that was not run yet."""
    lock = RLock()
    to_run = [module]

    def __getattr__(name: str) -> Any:  # noqa: N807
        with lock:
            while to_run and name != "__path__":  # that each import asks for
                loader.exec_module(to_run.pop())
        if name in vars(module):
            return vars(module)[name]
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    return __getattr__
