"""Find the project's own modules that a module imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kdoctor.project.root import folders_to_root


@dataclass(frozen=True, slots=True)
class ModulePlace:
    """A module of the project: its dotted name in the worker, and its file.

    ``root`` is the folder that the project's absolute imports are relative to.
    """

    name: str
    path: Path
    root: Path

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__.py`` of a package."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        """The package that its relative imports are relative to."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def place_of(path: Path) -> ModulePlace:
    """Return the module of a file; ``__init__.py`` files above it give its package."""
    path = path.absolute()
    folder = path.parent
    parts = [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    name = ".".join(part if part.isidentifier() else "module" for part in parts) or "module"
    return ModulePlace(name, path, folder)


def imported_module(place: ModulePlace, node: ast.ImportFrom) -> str:
    """Return the absolute dotted name of the module in a ``from`` import."""
    if not node.level:
        return node.module or ""
    package = place.package.split(".") if place.package else []
    kept = package[: len(package) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def find(place: ModulePlace, name: str) -> ModulePlace | None:
    """Return the project's own module of a dotted name; None if there is none.

    Folders above the root are searched too: tests and scripts run from the project's folder, or
    import it as an installed package.
    """
    folders = [place.root, place.path.parent]
    if name.partition(".")[0] not in sys.stdlib_module_names:
        for folder in folders_to_root(place.root):
            folders += [folder, folder / "src"]
    for folder in dict.fromkeys(folders):
        base = folder.joinpath(*name.split("."))
        for path in (base.with_name(base.name + ".py"), base / "__init__.py"):
            if name and path.is_file():
                return ModulePlace(name, path, folder)
    return None


def packages_above(name: str) -> Iterator[str]:
    """Yield ``a`` and ``a.b`` of ``a.b.c``."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        yield ".".join(parts[:end])
