"""Modules of other packages that run on first attribute access."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection, Sequence
from importlib.machinery import PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader


def install_lazy_module(name: str, folders: Sequence[str], functions: Collection[str] = ()) -> None:
    """Install a lazy module if it is in one of its package's folders.

    It runs when one of its names is asked for. Not so the ``functions``: what stands for one of
    them runs the module when it is called.
    """
    spec = PathFinder.find_spec(name, folders)
    if spec is None or spec.loader is None or name in sys.modules:
        return
    module = importlib.util.module_from_spec(spec)
    ask = vars(module)["__getattr__"] = _lazy_getattr(module, spec.loader)
    for each in functions:
        vars(module)[each] = _placeholder(each, ask)
    sys.modules[name] = module


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


def _placeholder(name: str, ask: Callable[[str], Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return ask(name)(*args, **kwargs)

    return call
