"""Stand-ins for failed imports, which raise only when they are used."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import re
import sys
import types
from collections.abc import Collection
from typing import Any

_FRAMEWORKS = frozenset({"keras", "tensorflow", "tf_keras", "keras_core"})
_OLD = frozenset({"keras", "tf_keras"})
_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")


def stand_in_for(error: BaseException, own: Collection[str], *, is_keras_2: bool) -> bool:
    """Install a stand-in for a failed import; say whether it is worth importing again.

    The chain of causes is followed to the first import error: the last may come from a handler in
    user code. Among the frameworks only Keras 2 has stand-ins, as the code may be written for an
    older one; the user's ``own`` modules have none.
    """
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, ModuleNotFoundError) and found.name:
            root = found.name.partition(".")[0]
            known = (root in _OLD and is_keras_2) if root in _FRAMEWORKS else root not in own
            return known and _FINDER.add(found.name)
        named = _NAME.search(str(found)) if isinstance(found, ImportError) else None
        if named is not None and is_keras_2 and named[2].partition(".")[0] in _OLD:
            module = sys.modules.get(named[2])
            if module is None or named[1] in vars(module):
                return False
            setattr(module, named[1], _StandIn(named[2], str(found), ImportError))
            return True
        found = found.__cause__ or found.__context__
    return False


class _StandIn:
    """Stand-in for a name of a missing module: has attributes, but raises when used."""

    def __init__(self, module: str, message: str, kind: type[ImportError]) -> None:
        self.__dict__.update(_module=module, _message=message, _kind=kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn(self._module, self._message, self._kind)

    def _use(self, *_: Any, **__: Any) -> Any:
        raise self._kind(self._message, name=self._module)

    __call__ = __mro_entries__ = __iter__ = __len__ = __bool__ = __getitem__ = __enter__ = _use
    __index__ = __int__ = __float__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = _use
    __rsub__ = __lt__ = __gt__ = __le__ = __ge__ = __array__ = __tf_tensor__ = __setattr__ = _use


class _Module(types.ModuleType):
    """Stand-in for a missing module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn(self.__name__, f"No module named {self.__name__!r}", ModuleNotFoundError)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader of stand-in modules; comes after all other finders."""

    def __init__(self) -> None:
        self._names = set[str]()

    def add(self, name: str) -> bool:
        """Add stand-ins for a module and its submodules; say whether they are new."""
        if name in self._names:
            return False
        self._names.add(name)
        if self not in sys.meta_path:
            sys.meta_path.append(self)
        return True

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        del path, target
        if not any(name == each or name.startswith(each + ".") for each in self._names):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: Any) -> None:
        del module


_FINDER = _Finder()
