"""Under which public names the target has an object, by where it is defined."""

from __future__ import annotations

from functools import lru_cache

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import EntryKind, Lookup, split_root
from kdoctor.keras_api.surface import Surface, surface_on
from kdoctor.target import Target


@lru_cache(maxsize=1024)
def public_names(root: str, home: str, target: Target) -> tuple[str, ...]:
    """Return the names under ``root`` of the class or function defined at ``home``, best first.

    A name that plain attribute access does not reach (``tf.keras.saving.…``) is left out.
    """
    surface = surface_on(root, target)
    if surface is None or not home:
        return ()
    found = [
        name
        for name in surface.names_of(home)
        if (entry := surface.entry(name)) is not None
        and entry.kind in (EntryKind.CLASS, EntryKind.FUNCTION)
        and not entry.stub
        and not _is_hidden(surface, name)
    ]
    return tuple(sorted(found, key=_rank))


def home_of(root: str, name: str, target: Target) -> str:
    """Return where the object of a public name is defined, "" where it is none, or a module."""
    surface = surface_on(root, target)
    entry = surface.entry(name) if surface else None
    if surface is None or entry is None or entry.kind in (EntryKind.MODULE, EntryKind.ALIAS):
        return ""
    return surface.home(entry)


def twins(found: Lookup, facts: TargetFacts) -> tuple[str, ...]:
    """Return the other names that a missing object had in its last release, best first."""
    split = split_root(found.qualified)
    if split is None or found.until is None:
        return ()
    root, name = split
    last = facts.at_release(found.until).target
    names = public_names(root, home_of(root, name, last), last)
    spelling = found.qualified.removesuffix(name)
    return tuple(f"{spelling}{each}" for each in names if each != name)


def _rank(name: str) -> tuple[bool, int, str]:
    return "legacy" in name, name.count("."), name


def _is_hidden(surface: Surface, name: str) -> bool:
    module = name.rpartition(".")[0]
    while module:
        entry = surface.entry(module)
        if entry is None or entry.import_only:
            return True
        module = module.rpartition(".")[0]
    return False
