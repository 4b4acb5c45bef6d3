"""Under which public names the target has an object, by where it is defined."""

from __future__ import annotations

from functools import lru_cache

from kdoctor.keras_api import EntryKind, Lookup, split_root
from kdoctor.keras_api.surface import Surface, surface_on
from kdoctor.rules.facts import Facts
from kdoctor.target import Target


@lru_cache(maxsize=8)
def public_names(root: str, target: Target) -> dict[str, tuple[str, ...]]:
    """Map where classes and functions are defined to their names under ``root``, best first.

    A name that plain attribute access does not reach (``tf.keras.saving.…``) is left out.
    """
    surface = surface_on(root, target)
    if surface is None:
        return {}
    found: dict[str, list[str]] = {}
    for name in surface.names:
        entry = surface.entry(name)
        if entry is None or entry.kind not in (EntryKind.CLASS, EntryKind.FUNCTION):
            continue
        if not entry.stub and not _is_hidden(surface, name):
            found.setdefault(surface.home(entry), []).append(name)
    return {home: tuple(sorted(names, key=_rank)) for home, names in found.items()}


def home_of(root: str, name: str, target: Target) -> str:
    """Return where the object of a public name is defined, "" where there is none."""
    surface = surface_on(root, target)
    entry = surface.entry(name) if surface else None
    return surface.home(entry) if surface and entry else ""


def twins(found: Lookup, facts: Facts) -> tuple[str, ...]:
    """Return the other names that a missing object had in its last release, best first."""
    split = split_root(found.qualified)
    if split is None or found.until is None:
        return ()
    root, name = split
    last = facts.at_release(found.until).target
    names = public_names(root, last).get(home_of(root, name, last), ())
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
