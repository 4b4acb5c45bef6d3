"""Replacements in ``keras.ops`` for TensorFlow functions, one table per subject.

``REWRITES`` are tried in order, the first that holds wins. ``BY_HAND`` says, by name, what to do
where no rewrite holds. Names are those of TensorFlow 2, without aliases: ``canonical`` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from kdoctor.keras_api.tensorflow_aliases import FIRST, by_the_short_way
from kdoctor.rewrite import Rewrite
from kdoctor.rules.idioms._tensorflow import elementwise, networks, reductions, shapes

__all__ = [
    "BY_HAND",
    "REWRITES",
    "Gone",
    "all_old_keywords",
    "canonical",
    "is_of_tensorflow_1",
    "old_keywords",
    "only_1",
    "refuses_symbolic_tensors",
    "renames",
]

_TABLES = (elementwise, reductions, shapes, networks)
_ROOT = "tensorflow."
_API = f"{_ROOT}_api.v2."

REWRITES: tuple[Rewrite, ...] = tuple(row for table in _TABLES for row in table.REWRITES)
BY_HAND: dict[str, str] = {name: text for table in _TABLES for name, text in table.BY_HAND.items()}


class Gone(Struct, frozen=True):
    """What only TensorFlow 1 had: ``parent`` is what an error calls the module that lacks it.

    It is "" where a module of ``tf.compat.v1`` is there, and nothing in it beside Keras 3.
    """

    name: str  # without the root: "log", "train.Saver"
    renamed: str  # the same object's name now, "" where it has none
    parent: str

    @property
    def leaf(self) -> str:
        """The name without its module."""
        return self.name.rpartition(".")[2]


def canonical(name: str) -> str:
    """Return the name under which the tables have a function: ``tensorflow.abs`` for ``math.abs``.

    Also where the module is that of TensorFlow 1, whose functions take the same arguments in the
    same order; names that only TensorFlow 1 had (``tensorflow.log``) are such aliases, too.
    """
    rest = by_the_short_way(name).removeprefix(_ROOT)
    return _ROOT + _data()["aliases"].get(rest, rest)


def refuses_symbolic_tensors(name: str) -> bool:
    """Say whether a function of TensorFlow raises when it is called with a symbolic tensor."""
    rest = canonical(name).removeprefix(_ROOT).removeprefix("compat.v1.")
    return name.startswith(_ROOT) and (rest in _data()["refuses"] or rest in _with_rows())


def is_of_tensorflow_1(name: str) -> bool:
    """Say whether it is a function that only TensorFlow 1 had: ``tensorflow.log``."""
    return by_the_short_way(name).removeprefix(_ROOT) in _data()["gone"]


@lru_cache(maxsize=2048)
def only_1(name: str) -> Gone | None:
    """Return what is gone of a dotted name: of ``tensorflow.app.run`` it is ``app``."""
    short = by_the_short_way(name)
    if not short.startswith(_ROOT):
        return None
    for way in FIRST:
        if short.startswith(way):
            return _not_in_first(short.removeprefix(way).split("."))
    data, parts = _data(), short.removeprefix(_ROOT).split(".")
    heads = [".".join(parts[: count + 1]) for count in range(len(parts))]
    lost = next((head for head in heads if head in data["only_1"]), None)
    if lost is None or (short != name and (lost in data["second"] or parts[0] == "python")):
        return None  # there, or never there: `tf.compat.v2.python`
    renamed = next((head for head in reversed(heads) if data["only_1"].get(head)), "")
    parent = data["modules"].get(lost.rpartition(".")[0], "tensorflow")
    if short != name and parent.startswith("tensorflow"):
        parent = _API + "compat.v2" + parent.removeprefix("tensorflow").removeprefix("._api.v2")
    return Gone(lost, data["only_1"][renamed] if renamed else "", parent)


def _not_in_first(parts: list[str]) -> Gone | None:
    """Return what not even ``tf.compat.v1`` has: ``contrib``, ``layers.dense``."""
    known = _data()["first"]
    for count in range(1, len(parts) + 1):
        head = ".".join(parts[:count])
        if known.get(head):
            return Gone(head, "", known[head])
        if head in known and count < len(parts):
            return Gone(f"{head}.{parts[count]}", "", "")
    return None


@cache
def old_keywords(name: str) -> Mapping[str, str]:
    """Return the arguments that a function of TensorFlow 2 refuses, and TensorFlow 1 took.

    Each with its new name, "" where it has none.
    """
    return _by_function().get(by_the_short_way(name), {})


@cache
def all_old_keywords() -> frozenset[str]:
    """Return all the arguments that ``old_keywords`` speaks of."""
    return frozenset(each for known in _by_function().values() for each in known)


@cache
def _by_function() -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row, new in _data()["keywords"].items():
        name, _, keyword = row.rstrip(")").partition("(")
        found.setdefault(_ROOT + name, {})[keyword] = new
    return found


@cache
def renames() -> dict[str, str]:
    """Return the names that only TensorFlow 1 had, of what TensorFlow 2 calls something else."""
    return {name: new for name, new in _data()["only_1"].items() if new}


@cache
def _with_rows() -> frozenset[str]:
    return frozenset(row.left.partition("(")[0].removeprefix(_ROOT) for row in REWRITES)


@cache
def _data() -> Mapping[str, Mapping[str, str]]:
    """Return what ``python -m tools.tensorflow_names`` wrote."""
    data: Mapping[str, Mapping[str, str]] = msgspec.json.decode(
        Path(__file__).with_name("names.json").read_bytes()
    )
    return data
