"""Find the file of a module name, as seen from an importing file.

The answer comes from the file system alone, never from the list of files to be scanned: a
pre-commit hook that is given two files says the same about them as a scan of the whole project.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache, partial

from msgspec import Struct

from kdoctor.modules.dependencies import Dependencies, TrackedMemo

_PROJECT_MARKS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg"})
_SOURCE_FOLDERS = ("src", "lib")
# Other packages that are installed beside one are not its own.
_INSTALLED = ("site-packages", "dist-packages")
# Whatever folder of the project is named so: `import keras` means Keras.
_FRAMEWORKS = frozenset({"keras", "tensorflow", "tf_keras", "keras_core"})


class ModuleFinder:
    """Maps module names to the project's own files.

    Relative paths count from ``start``, by default from the working folder. What is found is
    kept: the files, and the working folder, stay as they are while it is in use. ``trace`` learns
    which folders an answer was made of.
    """

    def __init__(self, start: str = "", trace: Dependencies | None = None) -> None:
        self._trace = trace = trace or Dependencies()
        # Bounded: a scan may walk millions of folders, and memory must not grow with them.
        self._listing = TrackedMemo(trace, trace.names_in, 4096)
        self._is_package = TrackedMemo(trace, self._ask_package, 4096)
        self._roots = TrackedMemo(trace, self._find_roots, 4096)
        self._folder = lru_cache(maxsize=4096)(partial(_folder, start))
        self._find_from = TrackedMemo(trace, self._find, 16384)
        self._may_hold = TrackedMemo(trace, self._look_for, 16384)

    def forget(self) -> None:
        """Drop all caches, which refer to each other in cycles."""
        for known in (
            self._listing,
            self._is_package,
            self._roots,
            self._find_from,
            self._may_hold,
        ):
            known.forget()
        self._folder.cache_clear()

    def canonical_path(self, path: str) -> str:
        """Return a path in the form that ``find`` returns."""
        return f"{self._folder(path)}{os.sep}{os.path.basename(path)}"  # noqa: PTH119 - hot

    def find(self, importer: str, module: str, level: int) -> str | None:
        """Return the file of ``module`` as ``importer`` (a path) means it, or None.

        ``level`` is the number of leading dots. A folder without ``__init__.py`` has no file.
        """
        return self._find_from(self._folder(importer), module, level)

    def relative_path(self, path: str, found: str) -> str:
        """Return a project file's path relative to another file's folder."""
        return os.path.relpath(found, self._folder(path)).replace(os.sep, "/")

    def may_hold(self, importer: str, top: str) -> bool:
        """Say whether ``find`` can find a module ``top`` or one below; False is sure."""
        return self._may_hold(self._folder(importer), top)

    def has_file(self, importer: str, relative: str) -> bool:
        """Say whether a relative path exists, from a file's folder or its project's."""
        folder = self._folder(importer)
        above, leaf = os.path.split(relative)
        starts = dict.fromkeys((folder, *(root.folder for root in self._roots(folder))))
        return any(
            leaf in self._listing(os.path.normpath(f"{start}{os.sep}{above}")) for start in starts
        )

    def top_of(self, path: str) -> tuple[str, str | None]:
        """Return the folder that contains all possible importers of the module at ``path``.

        With the one package in it that may, "" where only its own files and packages can, for there
        is no project around them, None where all can.
        """
        roots = self._roots(self._folder(path))
        top = min((root.folder for root in roots), key=len)
        only = roots[0].only
        is_project = not _PROJECT_MARKS.isdisjoint(self._listing(top))
        return top, only if only or is_project else ""

    def modules_in(self, folder: str) -> list[str]:
        """Return the names of the module files in a folder, sorted."""
        return sorted(name for name in self._listing(folder) if name.endswith(".py"))

    def packages_around(self, path: str) -> tuple[str, ...]:
        """Return the folders of the packages that a file is in, the outermost last.

        A folder in a package is part of it also where it has no ``__init__.py``.
        """
        folder = self._folder(path)
        own = tuple(self._packages_at(folder))
        return own or tuple(self._packages_at(os.path.dirname(folder)))  # noqa: PTH120

    def folders_above(self, path: str) -> tuple[str, ...]:
        """Return the folders from a file's packages, or its own folder, up to the project's."""
        folder = self._folder(path)
        roots = (
            root.folder
            for root in self._roots(folder)
            if f"{folder}{os.sep}".startswith(root.folder + os.sep)
        )
        return (*self._packages_at(folder), *roots)

    def _packages_at(self, folder: str) -> Iterator[str]:
        while self._is_package(folder) and folder != os.path.dirname(folder):  # noqa: PTH120
            yield folder
            folder = os.path.dirname(folder)  # noqa: PTH120

    def _look_for(self, folder: str, top: str) -> bool:
        return any(
            root.may_hold(top) and not {top, f"{top}.py"}.isdisjoint(self._listing(root.folder))
            for root in self._roots(folder)
        )

    def _find(self, folder: str, module: str, level: int) -> str | None:
        parts = module.split(".") if module else []
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)  # noqa: PTH120
            return self._in_folder(folder, parts)
        if not parts:
            return None
        for root in self._roots(folder):
            if root.may_hold(parts[0]):
                found = self._in_folder(root.folder, parts)
                if found is not None:
                    return found
        return None

    def _in_folder(self, folder: str, parts: list[str]) -> str | None:
        *packages, last = parts or [""]
        for package in packages:
            if package not in self._listing(folder):
                return None
            folder = f"{folder}{os.sep}{package}"
        listing = self._listing(folder)
        if not last:
            return f"{folder}{os.sep}__init__.py" if "__init__.py" in listing else None
        # A package wins over a module of the same name, as in Python's own finder.
        if last in listing and "__init__.py" in self._listing(f"{folder}{os.sep}{last}"):
            return f"{folder}{os.sep}{last}{os.sep}__init__.py"
        return f"{folder}{os.sep}{last}.py" if f"{last}.py" in listing else None

    def _ask_package(self, folder: str) -> bool:
        return self._trace.contains_any(folder, ("__init__.py",))

    def _is_project(self, folder: str) -> bool:
        # A folder above, such as a home, may hold thousands of names: it is asked for a few.
        return self._trace.contains_any(folder, _PROJECT_MARKS)

    def _find_roots(self, folder: str) -> tuple[_Root, ...]:
        """List where ``import x`` looks: beside the outermost package, then up to the project."""
        package: str | None = None
        while self._is_package(folder) and folder != os.path.dirname(folder):  # noqa: PTH120
            folder, package = os.path.split(folder)
        if os.path.basename(folder) in _INSTALLED:  # noqa: PTH119
            return (_Root(folder, package or ""),)
        climbed = [folder]
        while not self._is_project(climbed[-1]):
            parent = os.path.dirname(climbed[-1])  # noqa: PTH120
            if parent == climbed[-1]:  # no project: what lies further up is none of ours
                return (_Root(folder),)
            climbed.append(parent)
        sources = [
            f"{place}{os.sep}{name}"
            for place in climbed
            for name in _SOURCE_FOLDERS
            if name in self._listing(place)
        ]
        return tuple(map(_Root, [*climbed, *sources]))


class _Root(Struct, frozen=True):
    """A folder on the path of imports. ``only``: the one package in it that is of the tree."""

    folder: str
    only: str | None = None

    def may_hold(self, name: str) -> bool:
        return name not in _FRAMEWORKS and self.only in (None, name)


def _folder(start: str, path: str) -> str:
    return os.path.dirname(os.path.abspath(os.path.join(start, path)))  # noqa: PTH100, PTH118, PTH120
