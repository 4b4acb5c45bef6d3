"""The generated tables as they lie in ``data/``: what is in them, how they are written and read.

One ``names`` table an import root says which public name existed in which releases; one
``classes`` table a distribution says what members its classes have. Both are msgpack, deflated,
and keep their rows undecoded until a row is asked for. Dotted names are written once a module
(``{"layers": ["Conv2D", "Dense"]}``), and other names by their number: half the bytes.

Releases are counted from 0 in the order of ``releases``. A row is a list of spans; a span says
that something was the same in the releases ``first`` up to and including ``last``.
"""

from __future__ import annotations

import enum
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from kdoctor.keras_api.rows import ENCODER, DottedNames, Rows, joined

DATA: Final = "data"


class EntryKind(enum.IntEnum):
    """What a public name stands for."""

    MODULE = 0
    CLASS = 1
    FUNCTION = 2
    VALUE = 3  # a constant or the result of a call
    EXTERNAL = 4  # an object of another package that the module imports (``keras.backend.tf``)
    ALIAS = 5  # another name of one of the root's own modules; its names stand under that module


class ClassFamily(enum.IntEnum):
    """Which of Keras' kinds of object a class makes, by the nearest such base class."""

    OTHER = 0
    LAYER = 1
    MODEL = 2
    OPTIMIZER = 3
    LOSS = 4
    METRIC = 5
    CALLBACK = 6
    INITIALIZER = 7
    REGULARIZER = 8
    CONSTRAINT = 9
    VARIABLE = 10
    TENSOR = 11


class MemberKind(enum.IntEnum):
    """How a class has a member."""

    METHOD = 0
    PROPERTY = 1
    STATIC = 2  # a static method
    CLASS = 3  # a class method
    VALUE = 4  # assigned in the class body
    ATTRIBUTE = 5  # assigned on ``self`` in some method


class NameSpan(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A public name, the same in the releases ``first`` to ``last``.

    ``home`` (an index into ``homes``) is where the object is defined: names with the same home
    are the same object. ``signature`` indexes ``signatures``; -1 where there is none to read.
    ``stub`` is what the object raises as soon as it is called, "" for a working one.
    ``import_only``: a module file that its package does not import; ``import keras.x`` finds it,
    ``keras.x`` alone does not (``tf.keras.saving`` of Keras 3).
    """

    first: int
    last: int
    kind: EntryKind
    home: int
    signature: int = -1
    family: ClassFamily = ClassFamily.OTHER
    stub: str = ""
    import_only: bool = False


class MoveSpan(msgspec.Struct, array_like=True, frozen=True):
    """Where the object of a name that is gone is found in ``first`` to ``last``: best first.

    ``names`` are numbers, see ``NamesTable.name_at``.
    """

    first: int
    last: int
    names: list[int]


class NamesTable(Struct, frozen=True, dict=True):
    """The names of one root, dotted and relative to it; "" is the root.

    A release with no name at all is one without the root (TensorFlow 2 has no ``contrib``).
    """

    root: str
    releases: list[str]
    homes: Sequence[str]
    signatures: list[str]
    open_modules: dict[str, list[list[int]]]  # may bind more than could be read: [first, last]…
    names: Mapping[str, msgspec.Raw]  # list[NameSpan]
    moves: Mapping[str, msgspec.Raw]  # list[MoveSpan], by the name that is gone

    def name_at(self, number: int) -> str:
        """Return one of ``names`` by its number: modules in order, in each the last parts so."""
        return self._rows.listed[number]

    def all_spans(self) -> Iterable[tuple[str, list[NameSpan]]]:
        """Return all names, each with its spans."""
        return self._rows.decoded(_NAME_SPANS_OF_ALL)

    def names_in(self, module: str) -> Iterable[str]:
        """Return the names directly below a module, in whatever release they were there."""
        return self._rows.listed.within(module)

    def names_ending_in(self, leaf: str) -> Iterable[str]:
        """Return the names with this last part, in whatever release they were there."""
        return self._rows.listed.ending_in(leaf)

    def names_defined_at(self, home: str) -> Iterable[str]:
        """Return the names of an object, in whatever release it was called so."""
        try:
            number = self.homes.index(home)
        except ValueError:
            return []
        rows = self._rows.decoded(_NAME_SPANS_OF_ALL, holding=number)
        return [name for name, spans in rows if any(span.home == number for span in spans)]

    @cached_property
    def _rows(self) -> Rows:
        return _as_rows(self.names)


class _PackedNames(msgspec.Struct, array_like=True, frozen=True):
    """A names table as it is written; names and homes by module."""

    root: str
    releases: list[str]
    homes: dict[str, msgspec.Raw]
    signatures: list[str]
    open_modules: dict[str, list[list[int]]]
    # Last parts by module, and for each module, in the same order, a row for each of them: apart
    # from each other they deflate better.
    names: dict[str, msgspec.Raw]
    rows: list[msgspec.Raw]
    moved: dict[str, msgspec.Raw]
    moves: list[msgspec.Raw]


class Member(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One member that a class itself defines or sets."""

    name: str
    kind: MemberKind
    signature: int = -1
    stub: str = ""


class ClassSpan(msgspec.Struct, array_like=True, frozen=True):
    """A class, the same in ``first`` to ``last``.

    ``bases`` are homes, the nearest first; a base that is in no table belongs to another package.
    ``dynamic``: it answers to names that no one can read off (``__getattr__``).
    """

    first: int
    last: int
    bases: list[int]
    family: ClassFamily
    dynamic: bool
    members: list[int]  # into ``members``


class ClassesTable(Struct, frozen=True):
    """The classes of one distribution. ``homes`` are those that serve as bases."""

    distribution: str
    releases: list[str]
    homes: Sequence[str]
    signatures: list[str]
    members: list[Member]
    set_from_outside: dict[str, list[list[int]]]  # assigned on some object: [first, last]…
    classes: Mapping[str, msgspec.Raw]  # list[ClassSpan], by home

    def homes_called(self, name: str) -> Iterable[str]:
        """Return the homes of the classes of a name, of whatever release."""
        return _as_rows(self.classes).listed.ending_in(name)


class _PackedClasses(msgspec.Struct, array_like=True, frozen=True):
    """A classes table as it is written; homes by module."""

    distribution: str
    releases: list[str]
    homes: dict[str, msgspec.Raw]
    signatures: list[str]
    members: list[Member]
    set_from_outside: dict[str, list[list[int]]]
    classes: dict[str, msgspec.Raw]
    rows: list[msgspec.Raw]


_NAME_SPANS: Final = msgspec.msgpack.Decoder(list[NameSpan])
_NAME_SPANS_OF_ALL: Final = msgspec.msgpack.Decoder(list[list[NameSpan]])
_MOVE_SPANS: Final = msgspec.msgpack.Decoder(list[MoveSpan])
_CLASS_SPANS: Final = msgspec.msgpack.Decoder(list[ClassSpan])
_PACKED_CLASSES: Final = msgspec.msgpack.Decoder(_PackedClasses)
_PACKED_NAMES: Final = msgspec.msgpack.Decoder(_PackedNames)
_SPAN_DEFAULTS: Final = (None,) * 4 + NameSpan.__struct_defaults__


def raw(value: object) -> msgspec.Raw:
    """Encode one row."""
    return msgspec.Raw(ENCODER.encode(value))


def raw_spans(spans: list[NameSpan]) -> msgspec.Raw:
    """Encode one row of ``NamesTable.names``, each span without the defaults at its end."""
    return raw([_trimmed(span) for span in spans])


def _trimmed(span: NameSpan) -> list[object]:
    values = list(msgspec.structs.astuple(span))
    while values[-1] == _SPAN_DEFAULTS[len(values) - 1]:
        values.pop()
    return values


def pack(table: NamesTable | ClassesTable) -> bytes:
    """Write a table; the same table always gives the same bytes."""
    packed = _packed_names(table) if isinstance(table, NamesTable) else _packed_classes(table)
    return zlib.compress(ENCODER.encode(packed), 9)


def in_written_order(names: Iterable[str]) -> list[str]:
    """Return dotted names in the order of a table: by module, then by last part."""
    return sorted(names, key=lambda name: (name.rpartition(".")[0], name.rpartition(".")[2]))


def _packed_names(table: NamesTable) -> _PackedNames:
    return _PackedNames(
        table.root,
        table.releases,
        _leaves_by_module(table.homes),
        table.signatures,
        table.open_modules,
        *_rows_by_module(table.names),
        *_rows_by_module(table.moves),
    )


def _packed_classes(table: ClassesTable) -> _PackedClasses:
    return _PackedClasses(
        table.distribution,
        table.releases,
        _leaves_by_module(table.homes),
        table.signatures,
        table.members,
        table.set_from_outside,
        *_rows_by_module(table.classes),
    )


def _as_rows(rows: Mapping[str, msgspec.Raw]) -> Rows:
    return rows if isinstance(rows, Rows) else Rows(*_rows_by_module(rows))


def _rows_by_module(
    rows: Mapping[str, msgspec.Raw],
) -> tuple[dict[str, msgspec.Raw], list[msgspec.Raw]]:
    names = in_written_order(rows)
    return _leaves_by_module(names), [
        raw([rows[joined(module, leaf)] for leaf in leaves])
        for module, leaves in _by_module(names).items()
    ]


def _leaves_by_module(names: Iterable[str]) -> dict[str, msgspec.Raw]:
    return {module: raw(leaves) for module, leaves in _by_module(names).items()}


def _by_module(names: Iterable[str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name in names:
        module, _, leaf = name.rpartition(".")
        grouped.setdefault(module, []).append(leaf)
    return grouped


def unpack_names(data: bytes) -> NamesTable:
    """Read a table written by :func:`pack`; its rows stay undecoded."""
    packed = _PACKED_NAMES.decode(zlib.decompress(data))
    return NamesTable(
        packed.root,
        packed.releases,
        DottedNames(packed.homes),
        packed.signatures,
        packed.open_modules,
        Rows(packed.names, packed.rows),
        Rows(packed.moved, packed.moves),
    )


def unpack_classes(data: bytes) -> ClassesTable:
    """Read a table written by :func:`pack`; its rows stay undecoded."""
    packed = _PACKED_CLASSES.decode(zlib.decompress(data))
    return ClassesTable(
        packed.distribution,
        packed.releases,
        DottedNames(packed.homes),
        packed.signatures,
        packed.members,
        packed.set_from_outside,
        Rows(packed.classes, packed.rows),
    )


def name_spans(row: msgspec.Raw) -> list[NameSpan]:
    """Decode one row of ``NamesTable.names``."""
    return _NAME_SPANS.decode(row)


def move_spans(row: msgspec.Raw) -> list[MoveSpan]:
    """Decode one row of ``NamesTable.moves``."""
    return _MOVE_SPANS.decode(row)


def class_spans(row: msgspec.Raw) -> list[ClassSpan]:
    """Decode one row of ``ClassesTable.classes``."""
    return _CLASS_SPANS.decode(row)


@cache
def names_table(root: str) -> NamesTable:
    """Load the shipped names of ``root``: ``keras``, ``tf.keras``, ``tf_keras`` and so on."""
    return unpack_names(_data(f"{root}.names"))


@cache
def classes_table(distribution: str) -> ClassesTable:
    """Load the shipped classes of ``distribution``: ``keras``, ``tf_keras``, ``tensorflow``."""
    return unpack_classes(_data(f"{distribution}.classes"))


def distributions() -> list[str]:
    """Return the distributions whose classes are known."""
    ending = ".classes.bin"
    files = Path(__file__).with_name(DATA).glob(f"*{ending}")
    return sorted(file.name.removesuffix(ending) for file in files)


def _data(name: str) -> bytes:
    return Path(__file__).with_name(DATA).joinpath(f"{name}.bin").read_bytes()
