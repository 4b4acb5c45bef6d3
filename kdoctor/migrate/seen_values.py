"""What names held where tests failed: as facts for a scan, and in words.

The rows come from ``in_tests/kdoctor_frames.py``: classes, ranks and dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kdoctor.keras_api import oracle
from kdoctor.migrate import probe_log
from kdoctor.target import Target
from kdoctor.value_types import EAGER_TENSOR, TF_VARIABLE, Kind, Observation, Type

_MODULES: Final = (
    *("keras", "keras.models", "keras.layers", "keras.optimizers", "keras.losses"),
    *("keras.metrics", "keras.callbacks"),
)
"""Where the classes of Keras have public names."""
_KERAS: Final = ("keras.", "tf_keras.")
_SYMBOLIC: Final = Type(Kind.TENSOR, "KerasTensor")
_OF_TENSORFLOW: Final[Mapping[str, Type]] = {
    "EagerTensor": EAGER_TENSOR,
    TF_VARIABLE: Type(Kind.VARIABLE, TF_VARIABLE),
}
_FORMS: Final[Mapping[str, str]] = {
    "numpy.ndarray": "array",
    "pandas.core.frame.DataFrame": "frame",
    "pandas.core.series.Series": "column",
}
_HISTORY: Final = ".callbacks.history.History"
_AN: Final = "aeiouAEIOU"


class SeenValue(Struct, frozen=True, omit_defaults=True):
    """What a name held in a frame of an error; ``bases`` are the framework's classes it is of.

    ``path`` is absolute. ``function`` is qualified, "" for a module. ``name`` may be an attribute:
    ``self.model``. ``item`` is what each element of a list is.
    """

    path: str
    line: int
    function: str
    name: str
    cls: str
    bases: tuple[str, ...] = ()
    rank: int | None = None
    dtype: str = ""
    item: SeenValue | None = None

    @property
    def is_symbolic(self) -> bool:
        """Whether it is a tensor without values, from which a model is made."""
        return self.cls.startswith(_KERAS) and self.cls.endswith(".KerasTensor")

    @property
    def text(self) -> str:
        """What it is, in words: ``a symbolic KerasTensor of rank 3``."""
        if self.item is not None:
            return f"a {_leaf(self.cls)}, each {self.item.text}"
        known = next((each for each in self.bases if each != self.cls), "")
        is_own = bool(self.bases) and self.bases[0] != self.cls
        told = f"{'symbolic ' * self.is_symbolic}{_leaf(self.cls)}"
        told = f"{'an' if told[:1] in _AN else 'a'} {told}"
        if is_own:
            told += f" (a class of yours, made from {_leaf(known)})"
        if self.rank is not None:
            told += f" of rank {self.rank}"
        return f"{told}, {self.dtype}" if self.dtype else told

    @property
    def sentence(self) -> str:
        """What was seen, as the end of a sentence: ``x in head is a symbolic KerasTensor``."""
        where = f" in `{self.function}`" if self.function else ""
        return f"`{self.name}`{where} is {self.text}"


def seen_in(log: Path) -> Iterator[SeenValue]:
    """Yield what the processes of a run told of their frames, in order, each value once."""
    found = (_value(each["seen"]) for each in probe_log.entries(log) if "seen" in each)
    yield from dict.fromkeys(found)


def _value(told: Mapping[str, Any], within: Mapping[str, Any] | None = None) -> SeenValue:
    place = within or told
    item = told.get("item")
    return SeenValue(
        place["path"],
        place["line"],
        place["function"],
        place["name"],
        told["class"],
        tuple(told.get("bases", ())),
        told.get("rank"),
        told.get("dtype", ""),
        None if item is None else _value(item, place),
    )


def observation_of(seen: SeenValue, target: Target) -> Observation | None:
    """Return the fact for a scan, None where what was seen says nothing to it."""
    owner, _, member = seen.name.partition(".")
    if member and owner != "self":
        return None
    function, name = ("", f".{member}") if member else (seen.function, seen.name)
    form = _FORMS.get(seen.cls, "")
    if form:
        numbers = _numbers(seen.dtype)
        return Observation(seen.path, function, name, None, form, seen.rank, numbers)
    found = _type(seen, target)
    return None if found is None else Observation(seen.path, function, name, found)


def _type(seen: SeenValue, target: Target) -> Type | None:
    if seen.item is not None:
        item = _type(seen.item, target)
        return None if item is None or item.kind is Kind.EAGER else Type(Kind.LIST, item=item)
    if seen.is_symbolic:
        return _SYMBOLIC
    if seen.cls.startswith("tensorflow."):
        return _OF_TENSORFLOW.get(_leaf(seen.cls))
    known = oracle(target)
    if seen.cls.endswith(_HISTORY):  # a callback, too; nobody handles it as one
        return known.member_type(Type(Kind.MODEL), "fit", called=True)
    for each in seen.bases:
        if not each.startswith(_KERAS):
            continue
        named = (known.class_type(f"{module}.{_leaf(each)}") for module in _MODULES)
        found = next((one for one in named if one is not None), None)
        if found is not None:
            # Of a class of their own, nobody knows more than what sort of thing it is.
            return found if each == seen.cls else Type(found.kind)
    return None


def _numbers(dtype: str) -> str:
    kinds = {"bool": "bool", "int": "int", "uint": "int", "float": "float"}
    return kinds.get(dtype.rstrip("0123456789"), "")


def _leaf(name: str) -> str:
    return name.rpartition(".")[2]
