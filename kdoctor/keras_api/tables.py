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
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

DATA: Final = "data"
T = TypeVar("T")


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
        # Those of a written table lie so.
        return self._listed[number]

    @cached_property
    def _listed(self) -> Sequence[str]:
        return self.names.listed if isinstance(self.names, Rows) else in_written_order(self.names)

    @cached_property
    def names_by_home(self) -> dict[str, list[str]]:
        """The names of each object, in whatever release it was called so."""
        found: dict[int, list[str]] = {}
        for name, spans in all_name_spans(self.names):
            for home in {span.home for span in spans}:
                found.setdefault(home, []).append(name)
        return {self.homes[home]: names for home, names in found.items()}


class DottedNames(Sequence[str]):
    """Dotted names; those of a module are read when one of them is asked for."""

    def __init__(self, leaves: Mapping[str, msgspec.Raw]) -> None:
        self._modules = leaves
        self._read: dict[str, list[str]] = {}

    def __iter__(self) -> Iterator[str]:
        for module, leaves in self._modules.items():
            yield from _all_joined(module, _LEAVES.decode(leaves))

    def __len__(self) -> int:
        return self._starts[-1]

    # Nobody takes a slice.
    def __getitem__(self, number: int) -> str:  # type: ignore[override]
        if not 0 <= number < len(self):
            raise IndexError(number)
        at = bisect_right(self._starts, number) - 1
        module = self._named[at]
        if module not in self._read:
            self._read[module] = _all_joined(module, _LEAVES.decode(self._modules[module]))
        return self._read[module][number - self._starts[at]]

    @cached_property
    def _named(self) -> list[str]:
        return list(self._modules)

    @cached_property
    def _starts(self) -> list[int]:
        """The number of the first name of each module, and of all names."""
        return list(accumulate(map(_length, self._modules.values()), initial=0))


class Rows(Mapping[str, msgspec.Raw]):
    """Rows by dotted name; those of a module are read when one of them is asked for."""

    def __init__(self, leaves: Mapping[str, msgspec.Raw], rows: Iterable[msgspec.Raw]) -> None:
        self.listed: Final = DottedNames(leaves)
        self._modules = dict(zip(leaves, zip(leaves.values(), rows, strict=True), strict=True))
        self._read: dict[str, dict[str, msgspec.Raw]] = {}

    def __getitem__(self, name: str) -> msgspec.Raw:
        module, _, leaf = name.rpartition(".")
        return self._module(module)[leaf]

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    def decoded(self, decoder: msgspec.msgpack.Decoder[list[T]]) -> Iterator[tuple[str, T]]:
        """Yield all names with what their rows say, those of a module decoded at once."""
        for module, (leaves, rows) in self._modules.items():
            names = _all_joined(module, _LEAVES.decode(leaves))
            yield from zip(names, decoder.decode(rows), strict=True)

    def _module(self, module: str) -> dict[str, msgspec.Raw]:
        if module not in self._read:
            leaves, rows = self._modules.get(module, (_EMPTY, _EMPTY))
            pairs = zip(_LEAVES.decode(leaves), _ROWS.decode(rows), strict=True)
            self._read[module] = dict(pairs)
        return self._read[module]


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
_LEAVES: Final = msgspec.msgpack.Decoder(list[str])
_ROWS: Final = msgspec.msgpack.Decoder(list[msgspec.Raw])
_PACKED_CLASSES: Final = msgspec.msgpack.Decoder(_PackedClasses)
_PACKED_NAMES: Final = msgspec.msgpack.Decoder(_PackedNames)
_SPAN_DEFAULTS: Final = (None,) * 4 + NameSpan.__struct_defaults__
_ENCODER: Final = msgspec.msgpack.Encoder(order="sorted")
_EMPTY: Final = msgspec.Raw(_ENCODER.encode([]))
_ARRAY_16: Final = 0xDC
_ARRAY_32: Final = 0xDD


def _length(array: msgspec.Raw) -> int:
    """Return how many elements an array of msgpack has, without reading them.

    https://github.com/msgpack/msgpack/blob/master/spec.md#array-format-family
    """
    head = memoryview(array)
    if head[0] == _ARRAY_16:
        return int.from_bytes(head[1:3])
    return int.from_bytes(head[1:5]) if head[0] == _ARRAY_32 else head[0] & 0x0F


def raw(value: object) -> msgspec.Raw:
    """Encode one row."""
    return msgspec.Raw(_ENCODER.encode(value))


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
    return zlib.compress(_ENCODER.encode(packed), 9)


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


def _rows_by_module(
    rows: Mapping[str, msgspec.Raw],
) -> tuple[dict[str, msgspec.Raw], list[msgspec.Raw]]:
    names = in_written_order(rows)
    return _leaves_by_module(names), [
        raw([rows[_joined(module, leaf)] for leaf in leaves])
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


def _joined(module: str, leaf: str) -> str:
    return f"{module}.{leaf}" if module else leaf


def _all_joined(module: str, leaves: list[str]) -> list[str]:
    return [f"{module}.{leaf}" for leaf in leaves] if module else leaves


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


def all_name_spans(
    names: Mapping[str, msgspec.Raw],
) -> Iterable[tuple[str, list[NameSpan]]]:
    """Decode all rows of ``NamesTable.names``."""
    if isinstance(names, Rows):
        return names.decoded(_NAME_SPANS_OF_ALL)
    return ((name, name_spans(row)) for name, row in names.items())


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
