"""Suggest existing names similar to a missing one."""

from __future__ import annotations

from functools import lru_cache

from kdoctor.keras_api.surface import Surface
from kdoctor.keras_api.tables import EntryKind

_MAX_SUGGESTIONS = 3
_ALIKE = 0.75  # below it, difflib's matches in Keras' names are mostly noise


@lru_cache(maxsize=2048)
def suggestions(
    surface: Surface, missing: str, rest: str = "", kind: EntryKind | None = None
) -> tuple[str, ...]:
    """Return up to three existing names for ``missing``, the first dotted prefix that is gone.

    ``rest`` is what stood behind it: for ``layers.core.Dense`` the leaf ``Dense`` is looked for
    elsewhere, too. ``kind`` is what the name stood for in older releases, if it did.
    """
    parent, _, leaf = missing.rpartition(".")
    wanted = rest.rpartition(".")[2] or leaf
    found = [f"{parent}.{wanted}" if parent else wanted] if rest else []
    found = [name for name in found if surface.entry(name)]
    found += sorted(surface.names_ending_in(wanted), key=lambda name: (len(name), name))
    found = [name for name in found if kind is None or _kind(surface, name) is kind]
    if not rest:
        folded = [name for name in surface.children(parent) if name.lower() == leaf.lower()]
        found += [f"{parent}.{name}" if parent else name for name in folded]
        import difflib  # noqa: PLC0415 - most names that are asked for are there

        siblings = surface.children(parent)
        close = difflib.get_close_matches(leaf, siblings, n=_MAX_SUGGESTIONS, cutoff=_ALIKE)
        found += [f"{parent}.{name}" if parent else name for name in close]
    return tuple(dict.fromkeys(found))[:_MAX_SUGGESTIONS]


def _kind(surface: Surface, name: str) -> EntryKind | None:
    entry = surface.entry(name)
    return entry.kind if entry else None
