"""Names that ``from module import *`` would carry into other files, over names of theirs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from kdoctor.keras_api import split_root
from kdoctor.modules.module_summary import Imported, ModuleSummary, summary_of
from kdoctor.modules.project_files import bytes_of

Importers = Callable[[str], Iterable[str]]
Find = Callable[[str, str, int], str | None]


def may_hide_a_name(module: str, name: str, importers: Importers, find: Find) -> bool:
    """Say whether a file that takes all of a module has something else by a name.

    What the module binds newly may then hide it there: an own ``config`` behind one of Keras.
    ``importers`` are the files that take all of a module by a star, ``find`` the path of an import.
    """
    if name.startswith("_") or not any(importers(module)) or _is_listed(module):
        return False
    waiting = [module]
    for each in waiting:  # it grows meanwhile
        for importer in importers(each):
            if importer in waiting:
                continue
            if _has_a_submodule(importer, name) or _has_another(importer, name, find):
                return True
            waiting.append(importer)
    return False


def _is_listed(module: str) -> bool:
    """Say whether ``__all__`` says in one place what a star takes."""
    own = summary_of(module)
    return own is not None and own.listed is not None and not own.listed_in_parts


def mentions(path: str, name: str) -> bool:
    """Say whether a word, or code such as `sparse=`, is in a file."""
    return re.search(rb"\b" + re.escape(name.encode()) + rb"\b", bytes_of(path)) is not None


def binds(path: str, name: str) -> bool:
    """Say whether a module binds a name itself, whatever a star brings."""
    summary = summary_of(path)
    return summary is not None and name in summary.names


def _has_a_submodule(path: str, name: str) -> bool:
    """Say whether it is a package in which a module has the name: ``net/ops.py``."""
    folder, file = os.path.split(path)
    below = os.path.join(folder, name)  # noqa: PTH118
    return file == "__init__.py" and (
        os.path.isfile(f"{below}.py") or os.path.isdir(below)  # noqa: PTH112, PTH113
    )


def _has_another(path: str, name: str, find: Find) -> bool:
    if not mentions(path, name):
        return False
    summary = summary_of(path)
    if summary is None:
        return True
    if _binds_another(summary, name):
        return True
    stars = (find(path, each.module, each.level) for each in summary.stars)
    found = (summary_of(each) for each in stars if each is not None)
    return any(each is not None and _binds_another(each, name) for each in found)


def _binds_another(summary: ModuleSummary, name: str) -> bool:
    """Say whether a module binds a name to anything but what Keras calls so."""
    return not all(
        isinstance(each, Imported) and each.name == name and split_root(each.module) is not None
        for each in summary.names.get(name, ())
    )
