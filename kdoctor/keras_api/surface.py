"""The API surface: the public names of one release under one import root."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache, cached_property, lru_cache
from typing import Final

from packaging.version import Version

from kdoctor.keras_api import tables
from kdoctor.keras_api.lent_modules import LENT
from kdoctor.keras_api.tables import EntryKind, NameSpan
from kdoctor.target import Target

# How a root is written, and what it is called here and in the tables.
_SPELLINGS: Final[dict[str, str]] = {
    "keras": "keras",
    "tensorflow.keras": "tf.keras",
    "tf.keras": "tf.keras",
    "tf_keras": "tf_keras",
    "keras_core": "keras_core",
    "tensorflow.python.keras": "tensorflow.python.keras",
    "tensorflow.contrib.keras": "tensorflow.contrib.keras",
    "tensorflow.compat.v1.keras": "tf.compat.v1.keras",
    "tensorflow.compat.v2.keras": "tf.compat.v2.keras",
    # `tf.compat.v1.keras` in a file with `import tensorflow.compat.v1 as tf`.
    "tensorflow.compat.v1.compat.v1.keras": "tf.compat.v1.keras",
    "tensorflow.compat.v1.compat.v2.keras": "tf.compat.v2.keras",
}
TABLES: Final = tuple(dict.fromkeys(_SPELLINGS.values()))

# Where TensorFlow 2 has some modules of `tf.keras` once more: `tf.losses` is `tf.keras.losses`.
_LENDERS: Final = ("tensorflow", "tensorflow.compat.v2", "tensorflow.compat.v1.compat.v2")

# TensorFlow's copy of Keras: never public, and stale since TensorFlow 2.6 took Keras from its
# own package.
PRIVATE_ROOT: Final = "tensorflow.python.keras"

# What TensorFlow hands on beside `tf.keras`: something else before Keras 3, the same since.
COMPATIBLE_1: Final = "tf.compat.v1.keras"
COMPATIBLE: Final = (COMPATIBLE_1, "tf.compat.v2.keras")

# The smallest of the tables that count TensorFlow's releases, all of them.
TENSORFLOW: Final = "tensorflow.contrib.keras"

# The first TensorFlow whose tf.keras is made by the package keras; before, it was its own.
_SPLIT: Final = Version("2.6")


@lru_cache(maxsize=2048)
def split_root(qualified: str) -> tuple[str, str] | None:
    """Split a dotted name into its import root and the rest; None for other packages' names.

    >>> split_root("tensorflow.keras.backend.sum")
    ('tf.keras', 'backend.sum')
    >>> split_root("tensorflow.losses.Loss")
    ('tf.keras', 'losses.Loss')
    """
    spelling = root_spelling(qualified)
    if spelling is None:
        return None
    return _SPELLINGS.get(spelling, "tf.keras"), qualified[len(spelling) + 1 :]


def root_spelling(qualified: str) -> str | None:
    """Return the root of a dotted name as it is written there: ``tensorflow.keras``.

    It is ``tensorflow`` in ``tensorflow.losses.Loss``.
    """
    parts = qualified.split(".")
    for length in (6, 4, 3, 2, 1):
        spelling = ".".join(parts[:length])
        if spelling in _SPELLINGS:
            return spelling
    return next((each for each in _LENDERS if _is_lent(qualified, each)), None)


def _is_lent(qualified: str, lender: str) -> bool:
    """Say whether a name is one of Keras that TensorFlow lends, and no other TensorFlow had.

    What TensorFlow 1 called so, too, may be meant for it: ``tf.losses.Reduction``.
    """
    if not qualified.startswith(f"{lender}."):
        return False
    module, _, rest = qualified[len(lender) + 1 :].partition(".")
    of_1 = LENT.get(module)
    return of_1 is not None and (bool(rest) or not of_1) and rest.partition(".")[0] not in of_1


def is_lender(spelling: str) -> bool:
    """Say whether it is no root of Keras, but TensorFlow, which lends some modules of it."""
    return spelling in _LENDERS


def spelled(spelling: str, name: str) -> str:
    """Return a dotted name behind a root, ``tensorflow.keras.layers.Dense``.

    >>> spelled("tensorflow", "losses.Loss"), spelled("tensorflow", "layers.Dense")
    ('tensorflow.losses.Loss', 'tensorflow.keras.layers.Dense')
    """
    written = f"{spelling}.{name}"
    if not is_lender(spelling) or _is_lent(written, spelling):
        return written
    return f"{spelling}.keras.{name}"


# One and the same Keras on a target with Keras 3, the most telling first. TensorFlow's private copy
# is none of them, but stands for what the other branch imports from Keras itself.
_INTERCHANGEABLE: Final = ("keras", "tf.keras", PRIVATE_ROOT)
_OF_TENSORFLOW: Final = ("tf.compat.v2.keras", "tf.compat.v1.keras")


def same_under_other_roots(names: Collection[str], *, keras_3: bool = False) -> list[str]:
    """Return names that are one thing under several roots, the most telling first, else nothing.

    With Keras 3, `tf.compat.v1.keras` is `tf.keras` itself; before, it had objects of its own.

    >>> same_under_other_roots(["tensorflow.keras.backend", "keras.backend"])
    ['keras.backend', 'tensorflow.keras.backend']
    """
    roots = _INTERCHANGEABLE + (_OF_TENSORFLOW if keras_3 else ())
    found: dict[str, str] = {}
    rests = set()
    for name in names:
        split = split_root(name)
        if split is None or split[0] not in roots:
            return []
        found[split[0]] = name
        rests.add(split[1])
    if len(rests) != 1 or not found.keys() - {PRIVATE_ROOT}:
        return []
    return [found[root] for root in roots if root in found]


def is_base_of(base: str, other: str) -> bool:
    """Say whether one dotted name is Keras' class of all layers, and the other a layer of its.

    >>> is_base_of("keras.layers.Layer", "keras.layers.Conv1D")
    True
    """
    module, _, leaf = base.rpartition(".")
    other_module, _, other_leaf = other.rpartition(".")
    return (leaf, module) == ("Layer", other_module) and other_leaf[:1].isupper()


def without_legacy(name: str) -> str:
    """Return an optimizer's name without the module that kept the old ones.

    >>> without_legacy("tensorflow.keras.optimizers.legacy.Adam")
    'tensorflow.keras.optimizers.Adam'
    """
    return name.replace(".optimizers.legacy.", ".optimizers.")


# Modules that each release has under each root.
_EVERYWHERE: Final = frozenset({
    "", "activations", "applications", "backend", "callbacks", "constraints", "datasets",
    "initializers", "layers", "losses", "metrics", "models", "optimizers", "regularizers", "utils",
})  # fmt: skip


def is_module_everywhere(qualified: str) -> bool:
    """Say whether a dotted name is Keras itself, or a module of it that no release lacks."""
    split = split_root(qualified)
    return split is not None and split[1] in _EVERYWHERE


def one_of_keras(names: Collection[str]) -> str | None:
    """Return what several dotted names all stand for, be it under other roots of Keras.

    ``optimizers.legacy.Optimizer`` is what ``optimizers.Optimizer`` was before.

    >>> one_of_keras(["keras.backend.mean", "tensorflow.keras.backend.mean"])
    'keras.backend.mean'
    >>> one_of_keras(["keras.backend.tf", "tensorflow.keras.backend.tf"])
    """
    if len(plain := {without_legacy(each) for each in names}) == 1:
        return plain.pop()
    same = same_under_other_roots(names)
    # What stands in a module of Keras may be there under one root only.
    known = same and (is_module_everywhere(same[0]) or all(map(_was_ever_public, same)))
    return same[0] if known else None


def _was_ever_public(name: str) -> bool:
    """Say whether a release had a name, in a module that no release lacks."""
    root, rest = split_root(name) or ("", "")
    return rest.rpartition(".")[0] in _EVERYWHERE and rest in tables.names_table(root).names


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
                return tuple(map(self.table.name_at, span.names))
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
                module = self._relative(self.home(entry))
                return name if module is None else ".".join([*module, *parts[length:]])
        return name

    def _relative(self, module: str) -> list[str] | None:
        """Return the parts of one of the root's own modules as its names have them."""
        root = self.entry("")
        base = f"{self.home(root)}." if root else ""
        return module.removeprefix(base).split(".") if module.startswith(base) else None

    def children(self, module: str) -> tuple[str, ...]:
        """Return the last parts of the names directly below ``module``, sorted."""
        names = self._there(self.table.names_in(module))
        return tuple(name.rpartition(".")[2] for name in names if name)

    def names_of(self, home: str) -> tuple[str, ...]:
        """Return the names of the object that is defined at ``home``, sorted."""
        return tuple(
            name
            for name in sorted(self.table.names_defined_at(home))
            if (entry := self.entry(name)) is not None and self.home(entry) == home
        )

    def names_ending_in(self, leaf: str) -> tuple[str, ...]:
        """Return the names with this last part, sorted."""
        return self._there(self.table.names_ending_in(leaf))

    def _there(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in sorted(names) if self.entry(name) is not None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names of this release, sorted."""
        there = (
            name
            for name, spans in self.table.all_spans()
            if any(each.first <= self.number <= each.last for each in spans)
        )
        return tuple(sorted(there))


def surface_on(root: str, target: Target) -> Surface | None:
    """Return the surface that ``root`` has on ``target``; None where the data cannot tell."""
    made_of = target.tf_keras_version
    match root:
        case "keras":
            return surface_at("keras", target.keras_version)
        case "tf.keras":
            return surface_at("tf.keras", made_of) or surface_at("tf_keras", made_of)
        case "tf.compat.v1.keras" | "tf.compat.v2.keras":
            if has_keras_3(target):
                return surface_at("tf.keras", made_of)
            if root == COMPATIBLE_1:
                # tf_keras goes on where keras 2.15 ended: its wheels list the same names here.
                return surface_at(root, made_of) or surface_at(root, _continued(root, made_of))
            return surface_at(root, made_of) or surface_on("tf.keras", target)
        case "tensorflow.python.keras" | "tensorflow.contrib.keras":
            return surface_at(root, tensorflow_release(target) or "")
        case "tf_keras":
            return surface_at("tf_keras", made_of) or surface_at("tf_keras", newest("tf_keras"))
        case "keras_core":
            return surface_at("keras_core", newest("keras_core"))
        case _:
            return None


def _continued(root: str, release: str) -> str:
    return newest(root) if release in known_releases("tf_keras") else ""


def has_keras_3(target: Target) -> bool:
    """Say whether ``tf.keras`` is Keras 3 on ``target``."""
    return target.tf_keras_version.startswith("3.")


def tensorflow_release(target: Target) -> str | None:
    """Return the TensorFlow to read for ``target``; None where any could stand beside it.

    Beside Keras 3 it is the newest: which one it is, the target does not say.
    """
    if not target.tf_keras_version:
        return None
    known = known_releases(TENSORFLOW)
    version = target.version if target.name == "tensorflow" else target.tf_keras_version
    if version.startswith("3."):
        return known[-1]
    return next((r for r in known if minor(r) == minor(version)), None)


def distribution_of(surface: Surface) -> str:
    """Return the distribution that the surface's objects are defined in."""
    if surface.root in {"keras", "tf_keras", "keras_core"}:
        return surface.root
    own = surface.root == PRIVATE_ROOT or Version(surface.release) < _SPLIT
    return "tensorflow" if own else "keras"


@cache
def minor(version: str) -> tuple[int, ...]:
    """Return major and minor number.

    >>> minor("2.15.1")
    (2, 15)
    """
    return Version(version).release[:2]


@cache
def surface_at(root: str, release: str) -> Surface | None:
    """Return the surface of ``root`` in a release; None where the data has no such release."""
    return Surface(root, release) if release in tables.names_table(root).releases else None


def known_releases(root: str) -> tuple[str, ...]:
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
