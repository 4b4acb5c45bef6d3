"""Import the modules of a folder from bytes that were read before, as a package of its own.

What runs is what was read, and what the digest of a cache was made of: Python's own bytecode knows
a file by its size and second, and would not see each change. Nothing is added to ``sys.path``;
files of one folder import each other by ``from . import _shared``.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType

from kdoctor.digests import blake2b

_PREFIX = "kdoctor_own_rules_"


class FolderPackage(MetaPathFinder, Loader):
    """The modules of one folder, as a package that is called after the folder's path."""

    def __init__(self, folder: str, python: Mapping[str, bytes]) -> None:
        digest = blake2b(os.fsencode(folder), digest_size=8).hexdigest()
        self.name = f"{_PREFIX}{digest}"
        self._folder = Path(folder)
        self._python = python
        _forget(self.name)
        sys.meta_path.append(self)

    def module(self, file: str) -> ModuleType:
        """Import the module of a file of the folder."""
        return importlib.import_module(f"{self.name}.{file.removesuffix('.py')}")

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return where a module of the folder lies, None for any other."""
        if fullname == self.name:
            return spec_from_loader(fullname, self, is_package=True)
        package, _, stem = fullname.rpartition(".")
        if package != self.name or f"{stem}.py" not in self._python:
            return None
        return spec_from_file_location(fullname, self._folder / f"{stem}.py", loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run what was read of a module's file; the package itself is empty."""
        if module.__name__ == self.name:
            return
        file = f"{module.__name__.rpartition('.')[2]}.py"
        code = compile(self._python[file], str(self._folder / file), "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - the caller trusts it


def _forget(package: str) -> None:
    """Let go of what was imported from the same folder before."""
    sys.meta_path[:] = [
        each
        for each in sys.meta_path
        if not (isinstance(each, FolderPackage) and each.name == package)
    ]
    for name in [*sys.modules]:
        if name == package or name.startswith(f"{package}."):
            del sys.modules[name]
