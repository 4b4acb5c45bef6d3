"""Members of instances: has a ``Sequential`` a ``backend`` on the target?"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from packaging.version import Version

from kdoctor.keras_api import tables
from kdoctor.keras_api.members import FOREIGN_BASES, Classes, ClassInfo, ever_had, last_with
from kdoctor.keras_api.names import classes_behind, lookup
from kdoctor.keras_api.presence import Presence
from kdoctor.keras_api.surface import split_root, surface_on
from kdoctor.keras_api.tables import ClassFamily, EntryKind
from kdoctor.target import Target
from kdoctor.value_types import Kind, Type

# A model that was built by calls or loaded is one of these.
_MODELS: Final = ("Model", "Functional", "Sequential")

_CLASSES_BY_KIND: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.MODEL: _MODELS,
    Kind.TENSOR: ("KerasTensor",),
    Kind.VARIABLE: ("Variable",),
    Kind.HISTORY: ("History",),
    Kind.KERAS_HISTORY: ("KerasHistory",),
}
_FAMILY_BY_KIND: Final = {
    Kind.LAYER: ClassFamily.LAYER,
    Kind.OPTIMIZER: ClassFamily.OPTIMIZER,
    Kind.LOSS: ClassFamily.LOSS,
    Kind.METRIC: ClassFamily.METRIC,
    Kind.CALLBACK: ClassFamily.CALLBACK,
}


@lru_cache(maxsize=4096)
def member_lookup(owner: Type | Kind | str, member: str, target: Target) -> Presence:
    """Say whether an instance has ``member`` on ``target``.

    ``owner`` is a type, a kind (then all classes of that kind must lack the member for MISSING),
    or a Keras class, dotted (``keras.Sequential``) or bare (``Functional``). For an instance of the
    user's own class the answer is UNKNOWN unless its Keras base has the member: ask about the base
    (``Type(kind, qualified=…)``) once the class's own body is known not to define it.
    """
    match owner:
        case Kind():
            return _of_kind(owner, member, target)
        case str():
            return _of_class(owner, member, target)
        case Type(kind=kind, cls=None, qualified=None):
            return _of_kind(kind, member, target)
        case Type(cls=str() as cls, qualified=None):
            return _of_class(cls, member, target)
        case Type(kind=kind, cls=cls, qualified=str() as qualified):
            base = _of_class(_functional(qualified, kind, cls), member, target)
            own = cls is None or cls == "Functional" or _is_name_of(cls, qualified, target)
            return base if own or base is Presence.EXISTS else Presence.UNKNOWN
        case _:
            return Presence.UNKNOWN


# What all objects of a kind are, in the releases that told them apart: a member of one subclass
# (``LSTM.kernel_i``) is no member of "a layer".
BASES_BY_KIND: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.MODEL: ("Model", "Functional", "Sequential", "Network", "Container"),
    Kind.LAYER: ("Layer",),
    Kind.OPTIMIZER: ("Optimizer", "OptimizerV2", "Adam", "SGD", "RMSprop"),
    Kind.LOSS: ("Loss",),
    Kind.METRIC: ("Metric",),
    Kind.CALLBACK: ("Callback",),
}


@lru_cache(maxsize=1024)
def member_until(owner: Type, member: str, target: Target) -> str | None:
    """Return the last release of Keras before ``target``'s that had a member.

    That is: whose class of the same name (for the user's own class, that of its base) had it, or
    what the public name led to; where only the kind is known, one of the classes that all of that
    kind derive from. None for none.
    """
    version = target.keras_version or target.tf_keras_version
    if not version or member not in members_once(owner):
        return None  # nearly always
    before = _releases_before(version)
    last = last_with("keras", _names_of(owner), member, before)
    return None if last < 0 else tables.classes_table("keras").releases[last]


def members_once(owner: Type) -> frozenset[str]:
    """Return all that ``member_until`` could know an owner to have had, and more."""
    return _members_once(_names_of(owner))


@lru_cache(maxsize=4096)
def _members_once(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(ever_had("keras", name) for name in names))


@cache
def _releases_before(version: str) -> int:
    releases = tables.classes_table("keras").releases
    return sum(Version(each) < Version(version) for each in releases)  # they are in order


@cache
def ever_members() -> frozenset[str]:
    """Return the name of every member that any class of Keras had in any release."""
    foreign = (name for members in FOREIGN_BASES.values() for name in members)
    own = (each.name for each in tables.classes_table("keras").members)
    return frozenset((*own, *foreign))


def _names_of(owner: Type) -> tuple[str, ...]:
    if owner.kind is Kind.MODEL and owner.cls in {None, "Functional"}:
        return BASES_BY_KIND[Kind.MODEL]
    if owner.qualified is not None:
        return _called(owner.qualified)
    if owner.cls is not None:
        return (owner.cls,)
    return BASES_BY_KIND.get(owner.kind, _CLASSES_BY_KIND.get(owner.kind, ()))


@lru_cache(maxsize=1024)
def _called(qualified: str) -> tuple[str, ...]:
    """Return how the classes are called that a public name has led to, over the releases.

    ``keras.mixed_precision.LossScaleOptimizer`` was a ``BaseLossScaleOptimizer`` in 2.13 to 2.15.
    """
    table = tables.names_table("keras")
    split = split_root(qualified)
    row = table.names.get(split[1]) if split else None
    spans = () if row is None else tables.name_spans(row)
    homes = (table.homes[each.home] for each in spans if each.kind is EntryKind.CLASS)
    names = (qualified, *homes)
    return tuple(dict.fromkeys(each.rpartition(".")[2] for each in names))


def member_error(cls: str, member: str) -> str:
    """Return Python's message for an instance that has no such member."""
    return f"'{cls}' object has no attribute '{member}'"


def _functional(qualified: str, kind: Kind, cls: str | None) -> str:
    """``keras.Model(…)`` called with tensors makes a ``Functional``."""
    return "Functional" if kind is Kind.MODEL and cls == "Functional" else qualified


def _is_name_of(cls: str, qualified: str, target: Target) -> bool:
    """Say whether ``cls`` is the Keras class ``qualified`` itself, not the user's subclass."""
    leaf = qualified.rpartition(".")[2]
    return cls in {leaf, lookup(qualified, target).home.rpartition(".")[2]}


def _of_kind(kind: Kind, member: str, target: Target) -> Presence:
    if kind in _CLASSES_BY_KIND:
        names = _CLASSES_BY_KIND[kind]
        return _all(
            _among(classes, [i for n in names for i in classes.by_leaf(n)], member)
            for classes in _distributions(target)
        )
    if kind in _FAMILY_BY_KIND:
        family = _FAMILY_BY_KIND[kind]
        return _all(
            _among(classes, classes.of_family(family), member) for classes in _distributions(target)
        )
    return Presence.UNKNOWN


def _of_class(name: str, member: str, target: Target) -> Presence:
    if "." not in name:
        return _all(
            _among(classes, classes.by_leaf(name), member) for classes in _distributions(target)
        )
    found = lookup(name, target)
    if found.moved_to:
        found = lookup(found.moved_to[0], target)
    surface = surface_on(found.root, target) if found.root else None
    if found.kind is not EntryKind.CLASS or surface is None:
        return Presence.UNKNOWN
    classes = classes_behind(surface)
    info = classes.info(found.home) if classes else None
    return classes.presence(info, member) if classes and info else Presence.UNKNOWN


def _distributions(target: Target) -> Iterable[Classes]:
    """The distributions that instances can come from on this target."""
    for root in ("keras", "tf.keras"):
        surface = surface_on(root, target)
        classes = classes_behind(surface) if surface else None
        if classes is not None:
            yield classes


def _among(classes: Classes, infos: Iterable[ClassInfo], member: str) -> Presence:
    return _all(classes.presence(info, member) for info in infos)


def _all(answers: Iterable[Presence]) -> Presence:
    """One answer for several candidates: EXISTS or MISSING only where all agree."""
    distinct = set(answers)
    return distinct.pop() if len(distinct) == 1 else Presence.UNKNOWN
