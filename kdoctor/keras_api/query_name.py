"""Resolve names as people write them: ``K.dot``, ``layers.Dense``, ``Model.predict_classes``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from kdoctor.keras_api import tables
from kdoctor.keras_api.history import (
    CLASS_ROOTS,
    NameHistory,
    Owner,
    member_history,
    name_history,
    owners_of,
)
from kdoctor.keras_api.surface import split_root
from kdoctor.keras_api.tables import EntryKind

# The roots that people ask about, in the order of telling.
SHOWN_ROOTS: Final = ("keras", "tf.keras", "tf_keras", "keras_core")
_ALL_ROOTS: Final = (*SHOWN_ROOTS, "tf.compat.v1.keras", "tensorflow.python.keras")

# `from keras import backend as K`, as all of Keras' own examples had it.
_ABBREVIATIONS: Final = {"K": "backend"}
_ALIKE: Final = 0.75
_MAX_SUGGESTIONS: Final = 5
# Names of the second rank: the plain one is meant.
_ASIDE: Final = frozenset({"legacy", "experimental", "v1", "v2", "compat", "src", "engine"})


@dataclass(frozen=True, slots=True)
class NameQuery:
    """The answer to what was asked.

    ``name`` is what it was understood as, relative to the root, "" where nothing or several things
    are meant. ``histories`` tell about it, one a root. ``owners`` are the classes that define the
    member that was asked for. ``same`` are other names of the object, ``others`` the names of other
    things that may be meant; ``suggestions`` names that look alike, where nothing was found.
    """

    query: str
    root: str = ""
    name: str = ""
    histories: tuple[NameHistory, ...] = ()
    owners: tuple[Owner, ...] = ()
    same: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether something of this name ever existed."""
        return bool(self.histories or self.owners or self.others)


def inquire(query: str) -> NameQuery:
    """Return what is known of a name as people write it, with or without its root.

    >>> inquire("K.squeze").suggestions
    ('keras.backend.squeeze',)
    """
    text = re.sub(r"\(.*", "", query.strip(), flags=re.DOTALL).strip(". ")
    root, name = split_root(text) or ("", text)
    root = root if root in _ALL_ROOTS else ""
    head, dot, rest = name.partition(".")
    if not root and head in _ABBREVIATIONS:
        root, name = "keras", f"{_ABBREVIATIONS[head]}{dot}{rest}"
    if histories := _histories(name, _ALL_ROOTS):
        return NameQuery(query, root, name, histories, same=_same(name))
    if member := _member(query, root, name):
        return member
    found = [] if root else _by_end(name)
    owners = () if root or "." in name else owners_of(name)
    if owners and all(_rank(each)[0] for each in found):
        return NameQuery(query, name=name, owners=owners)
    if found:
        return _chosen(query, found)
    return NameQuery(query, root, suggestions=tuple(_alike(root, name)))


def _histories(name: str, roots: Iterable[str] = SHOWN_ROOTS) -> tuple[NameHistory, ...]:
    found = (name_history(root, name) for root in roots)
    return tuple(each for each in found if each is not None)


def _member(query: str, root: str, name: str) -> NameQuery | None:
    """Read ``Model.predict_classes`` as a member of a class."""
    owner, dot, member = name.rpartition(".")
    if not dot:
        return None
    classes = [owner] if _is_class(owner) else [] if root else _classes_by_end(owner)
    if not classes and not root:  # `optimizer.lr`: people write the thing for its class
        classes = _classes_by_end(owner[:1].upper() + owner[1:])
    for cls in classes[:_MAX_SUGGESTIONS]:
        found = (member_history(known, cls, member) for known in CLASS_ROOTS)
        histories = tuple(each for each in found if each is not None)
        if histories:
            return NameQuery(query, root, f"{cls}.{member}", histories)
    owners = owners_of(member) if classes else ()
    if not owners:
        return None
    return NameQuery(query, root, f"{classes[0]}.{member}", owners=owners)


def _is_class(name: str) -> bool:
    return any(EntryKind.CLASS in _kinds(root, name) for root in CLASS_ROOTS)


def _classes_by_end(end: str) -> list[str]:
    return [name for name in sorted(_by_end(end), key=_rank) if _is_class(name)]


def _kinds(root: str, name: str) -> Collection[EntryKind]:
    row = tables.names_table(root).names.get(name)
    return () if row is None else {span.kind for span in tables.name_spans(row)}


def _by_end(end: str) -> list[str]:
    """Return the names that end so, of whatever root and release."""
    return [name for name in _names_by_leaf().get(end.rpartition(".")[2], ()) if _ends(name, end)]


def _ends(name: str, end: str) -> bool:
    return name == end or name.endswith(f".{end}")


@cache
def _names_by_leaf() -> dict[str, tuple[str, ...]]:
    groups: dict[str, dict[str, None]] = {}
    for root in SHOWN_ROOTS:
        for name in tables.names_table(root).names:
            groups.setdefault(name.rpartition(".")[2], {})[name] = None
    return {leaf: tuple(names) for leaf, names in groups.items()}


def _chosen(query: str, names: Iterable[str]) -> NameQuery:
    """Take the one name that is meant, or list them: what still exists first, the plain first."""
    ranked = sorted(names, key=_rank)
    top = [name for name in ranked if _rank(name)[:2] == _rank(ranked[0])[:2]]
    objects = {_object(name): name for name in reversed(top)}
    if len(objects) > 1:
        return NameQuery(query, others=tuple(map(_spelled, ranked)))
    name = ranked[0]
    return NameQuery(
        query,
        name=name,
        histories=_histories(name, _ALL_ROOTS),
        same=_same(name),
        others=tuple(
            _spelled(other)
            for other in ranked
            if _object(other) != _object(name) and _rank(other)[0] == _rank(name)[0]
        ),
    )


@cache
def _rank(name: str) -> tuple[bool, bool, int, str]:
    histories = _histories(name)
    is_gone = all(history.gone_in for history in histories)
    is_aside = any(part in _ASIDE or part.startswith("_") for part in name.split("."))
    is_foreign = all(history.kind is None for history in histories)
    is_stub = any(history.stub for history in histories if not history.gone_in)
    return is_gone, is_aside or is_foreign or is_stub, name.count("."), name


def _object(name: str) -> str:
    """Return where the object was last defined, the same for all names of one object."""
    for root in SHOWN_ROOTS:
        table = tables.names_table(root)
        row = table.names.get(name)
        if row is not None:
            return f"{root}:{table.homes[tables.name_spans(row)[-1].home]}"
    return name


def _same(name: str) -> tuple[str, ...]:
    """Return the other names that the object has in the newest release with it."""
    leaf = name.rpartition(".")[2]
    alike = (other for other in _by_end(leaf) if other != name and _object(other) == _object(name))
    return tuple(_spelled(other) for other in sorted(alike, key=_rank) if not _rank(other)[0])


def _spelled(name: str) -> str:
    """Return the name with the first root that has it, those where it still exists before."""
    histories = sorted(_histories(name), key=lambda history: bool(history.gone_in))
    if not histories:
        histories = list(_histories(name, _ALL_ROOTS))
    return f"{histories[0].root}.{name}" if histories else name


def _alike(root: str, name: str) -> Iterator[str]:
    """Yield names that look like one that never was, nearest first."""
    parent, _, leaf = name.rpartition(".")
    roots = [root] if root else SHOWN_ROOTS
    seen: set[str] = set()
    same_leaf = sorted(_by_end(leaf), key=_rank) if leaf else []
    siblings = [
        other
        for known in roots
        for other in tables.names_table(known).names
        if other.rpartition(".")[0] == parent
    ]
    close = _close(leaf, [other.rpartition(".")[2] for other in siblings])
    near = [f"{parent}.{each}" if parent else each for each in close]
    if not near and not same_leaf:
        near = [
            name
            for each in _close(leaf, _names_by_leaf())
            for name in sorted(_by_end(each), key=_rank)[:1]
        ]
    for found in [*near, *same_leaf]:
        if found not in seen and len(seen) < _MAX_SUGGESTIONS:
            seen.add(found)
            yield f"{root}.{found}" if root and name_history(root, found) else _spelled(found)


def _close(leaf: str, names: Iterable[str]) -> list[str]:
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.lower(), name)
    found = difflib.get_close_matches(leaf.lower(), folded, n=_MAX_SUGGESTIONS, cutoff=_ALIKE)
    return [folded[each] for each in found]
