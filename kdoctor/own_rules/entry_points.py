"""Rules that installed packages bring: entry points of the group ``kdoctor.rules``.

Only what lies in a folder of installed packages is asked, never the working folder, which
``python -m kdoctor`` puts on the path: a checkout must not pass for an installation. Nothing is
imported to find them: an entry point names a package of rules, of which the folder is looked up.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import Final

from kdoctor.rules.own import RuleFolder

GROUP: Final = "kdoctor.rules"
_INSTALLED: Final = ("site-packages", "dist-packages")


@cache
def installed_folders() -> tuple[RuleFolder, ...]:
    """Return the folders with rules of installed packages. They are looked up once a process."""
    found = []
    for distribution, name, module in _entry_points():
        folder, only = _folder_of(module)
        place = f"the entry point {name} = {module} of {distribution}"
        found.append(RuleFolder(folder, place, only, installed=True))
    return tuple(found)


def _entry_points() -> Iterator[tuple[str, str, str]]:
    """Yield each with its distribution: ``acme_rules 1.0``, ``acme``, ``acme_rules.rules``."""
    seen: set[str] = set()
    here = os.path.realpath(os.curdir)
    for place in sys.path:
        if os.path.basename(place) not in _INSTALLED or os.path.realpath(place) == here:  # noqa: PTH119
            continue
        for entry in _scanned(place):
            if not entry.endswith(".dist-info"):
                continue
            name, _, version = entry.removesuffix(".dist-info").partition("-")
            text = _text(os.path.join(place, entry, "entry_points.txt"))  # noqa: PTH118
            if GROUP not in text or name in seen:
                continue
            seen.add(name)
            yield from ((f"{name} {version}", key, value) for key, value in _group(text))


def _scanned(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - hot
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - hot
            return file.read()
    except OSError:
        return ""


def _group(text: str) -> Iterator[tuple[str, str]]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, module = line.partition("=")
            yield name.strip(), module.partition(":")[0].strip()


def _folder_of(module: str) -> tuple[str, str]:
    """Return the folder of a package's files, and of a module its one file; "" where none is."""
    from importlib.util import find_spec  # noqa: PLC0415 - most machines have no such package

    top, *rest = module.split(".")
    try:
        spec = find_spec(top)  # of a top-level name: nothing is imported
    except (ImportError, ValueError):
        return "", ""
    if spec is None:
        return "", ""
    if not rest and spec.origin and not spec.submodule_search_locations:
        return os.path.split(spec.origin)
    for start in spec.submodule_search_locations or ():
        place = os.path.join(start, *rest)  # noqa: PTH118
        if os.path.isdir(place):  # noqa: PTH112
            return place, ""
        if os.path.isfile(f"{place}.py"):  # noqa: PTH113
            return os.path.split(f"{place}.py")
    return "", ""
