"""The API surface: the public names of one release under one import root."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Final

from kdoctor.keras_api import tables
from kdoctor.keras_api.tables import EntryKind, NameSpan
from kdoctor.target import Target

# How a root is written, and which table knows its names. None: known to exist, not in the data
# (private copies and old facades), so nothing is ever called missing there.
_SPELLINGS: Final[dict[str, tuple[str, bool]]] = {
    "keras": ("keras", True),
    "tensorflow.keras": ("tf.keras", True),
    "tf.keras": ("tf.keras", True),
    "tf_keras": ("tf_keras", True),
    "keras_core": ("keras_core", True),
    "tensorflow.python.keras": ("tensorflow.python.keras", False),
    "tensorflow.contrib.keras": ("tensorflow.contrib.keras", False),
    "tensorflow.compat.v1.keras": ("tf.compat.v1.keras", False),
    "tensorflow.compat.v2.keras": ("tf.compat.v2.keras", False),
}
ROOTS: Final = tuple(dict.fromkeys(root for root, _ in _SPELLINGS.values()))
TABLES: Final = tuple(dict.fromkeys(root for root, known in _SPELLINGS.values() if known))


def split_root(qualified: str) -> tuple[str, str] | None:
    """Split a dotted name into its import root and the rest; None for other packages' names.

    >>> split_root("tensorflow.keras.backend.sum")
    ('tf.keras', 'backend.sum')
    """
    spelling = root_spelling(qualified)
    if spelling is None:
        return None
    return _SPELLINGS[spelling][0], qualified[len(spelling) + 1 :]


def root_spelling(qualified: str) -> str | None:
    """Return the root of a dotted name as it is written there: ``tensorflow.keras``."""
    parts = qualified.split(".")
    for length in (4, 3, 2, 1):
        spelling = ".".join(parts[:length])
        if spelling in _SPELLINGS:
            return spelling
    return None


class Surface:
    """The public names of one root in one release. Names are dotted and relative to the root."""

    def __init__(self, root: str, release: str) -> None:
        self.root = root
        self.release = release
        self.table = tables.names_table(root)
        self.number = self.table.releases.index(release)
        self._entries: dict[str, NameSpan | None] = {}

    def entry(self, name: str) -> NameSpan | None:
        """Return what ``name`` is in this release; None where it is not there."""
        if name not in self._entries:
            row = self.table.names.get(name)
            spans = tables.name_spans(row) if row is not None else ()
            self._entries[name] = next((s for s in spans if s.first <= self.number <= s.last), None)
        return self._entries[name]

    def home(self, entry: NameSpan) -> str:
        """Return where the object is defined; for a module, its real name."""
        return self.table.homes[entry.home]

    def signature(self, entry: NameSpan) -> str | None:
        """Return the parameters as text, without annotations."""
        return None if entry.signature < 0 else self.table.signatures[entry.signature]

    def is_open(self, module: str) -> bool:
        """Say whether the module may bind more names than the data could tell."""
        spans = self.table.open_modules.get(module, ())
        return any(first <= self.number <= last for first, last in spans)

    def moved_to(self, name: str) -> tuple[str, ...]:
        """Return the names, best first, under which the object of a name that is gone is found."""
        row = self.table.moves.get(name)
        if row is None:
            return ()
        for span in tables.move_spans(row):
            if span.first <= self.number <= span.last:
                return tuple(span.names)
        return ()

    def canonical(self, name: str) -> str:
        """Follow module aliases (keras 2: ``layers.core.K`` is the module ``backend``)."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            name = self._follow_one(name)
        return name

    def _follow_one(self, name: str) -> str:
        parts = name.split(".")
        for length in range(1, len(parts)):
            entry = self.entry(".".join(parts[:length]))
            if entry is None:
                return name
            if entry.kind is EntryKind.ALIAS:
                home = self.home(entry).split(".")[1:]
                return ".".join([*home, *parts[length:]])
        return name

    def children(self, module: str) -> tuple[str, ...]:
        """Return the last parts of the names directly below ``module``, sorted."""
        return self.children_by_module.get(module, ())

    @cached_property
    def children_by_module(self) -> dict[str, tuple[str, ...]]:
        """All names of this release, grouped by what they stand under."""
        groups: dict[str, list[str]] = {}
        for name in self.names:
            if name:
                parent, _, leaf = name.rpartition(".")
                groups.setdefault(parent, []).append(leaf)
        return {parent: tuple(leaves) for parent, leaves in groups.items()}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names of this release, sorted."""
        return tuple(
            name
            for name, row in self.table.names.items()
            if any(s.first <= self.number <= s.last for s in tables.name_spans(row))
        )


def surface_on(root: str, target: Target) -> Surface | None:
    """Return the surface that ``root`` has on ``target``; None where the data cannot tell."""
    match root:
        case "keras":
            return _surface("keras", target.keras_version)
        case "tf.keras":
            return _surface("tf.keras", target.tf_keras_version) or _surface(
                "tf_keras", target.tf_keras_version
            )
        case "tf_keras":
            found = _surface("tf_keras", target.tf_keras_version)
            return found or _surface("tf_keras", newest("tf_keras"))
        case "keras_core":
            return _surface("keras_core", newest("keras_core"))
        case _:
            return None


@cache
def _surface(root: str, release: str) -> Surface | None:
    return Surface(root, release) if release in tables.names_table(root).releases else None


def releases(root: str) -> tuple[str, ...]:
    """Return the releases that the data knows under ``root``, oldest first."""
    return tuple(tables.names_table(root).releases)


def newest(root: str) -> str:
    """Return the newest release that the data knows under ``root``."""
    return tables.names_table(root).releases[-1]


def periods(root: str, name: str) -> tuple[tuple[str, str], ...]:
    """Return when ``name`` existed under ``root``: pairs of first and last known release."""
    table = tables.names_table(root)
    row = table.names.get(name)
    hidden = table.open_modules.get(name.rpartition(".")[0], ())
    joined: list[tuple[int, int]] = []
    for span in tables.name_spans(row) if row is not None else ():
        # A release between, whose module could not be read whole, does not end a period.
        if joined and (
            joined[-1][1] == span.first - 1
            or any(a <= joined[-1][1] + 1 and span.first - 1 <= b for a, b in hidden)
        ):
            joined[-1] = (joined[-1][0], span.last)
        else:
            joined.append((span.first, span.last))
    return tuple((table.releases[a], table.releases[b]) for a, b in joined)


def last_kind(root: str, name: str) -> EntryKind | None:
    """Return what ``name`` was when it was last there; None if it never was, or was foreign."""
    row = tables.names_table(root).names.get(name)
    if row is None:
        return None
    kind = tables.name_spans(row)[-1].kind
    return kind if kind is not EntryKind.EXTERNAL else None
