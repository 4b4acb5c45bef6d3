"""Members of Keras' classes: inherited ones and those that instances get, per release."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct

from kdoctor.keras_api import tables
from kdoctor.keras_api.presence import Presence
from kdoctor.keras_api.private_members import TOLD
from kdoctor.keras_api.tables import ClassFamily, ClassSpan, Member, MemberKind

# The public names of the bases that belong to other packages, by ``dir()`` on TensorFlow 2.21
# (a test asks it again). A class with any other foreign base is never said to lack a member.
FOREIGN_BASES: Final[dict[str, dict[str, MemberKind]]] = {
    "object": {},
    "abc.ABC": {},
    "collections.abc.MutableMapping": dict.fromkeys(
        ("clear", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"),
        MemberKind.METHOD,
    ),
    "tensorflow.__internal__.tracking.AutoTrackable": {},
    "tensorflow.__internal__.tracking.Trackable": {},
    "tensorflow.__internal__.types.Tensor": dict.fromkeys(("dtype", "shape"), MemberKind.PROPERTY),
    "tensorflow.Module": {
        **dict.fromkeys(("name", "name_scope", "submodules", "variables"), MemberKind.PROPERTY),
        **dict.fromkeys(("non_trainable_variables", "trainable_variables"), MemberKind.PROPERTY),
        "with_name_scope": MemberKind.CLASS,
    },
}

# Layers around other frameworks' modules: no one gets them from ``model.layers`` unawares.
_BRIDGES: Final = ("keras.src.utils.torch_utils.", "keras.src.utils.jax_layer.")

# Set by the node that makes a tensor, keras/src/ops/node.py (2.x: keras/engine/node.py).
_GIVEN: Final = {"KerasTensor": frozenset({"_keras_history"})}

# What Keras 3 layers and models have besides when the backend is PyTorch: they are modules then.
# Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
TORCH_MODULE: Final = frozenset(
    {
        *("T_destination", "add_module", "apply", "bfloat16", "buffers", "call_super_init"),
        *("children", "compile", "cpu", "cuda", "double", "dump_patches", "eval", "extra_repr"),
        *("float", "forward", "get_buffer", "get_extra_state", "get_parameter", "get_submodule"),
        *("half", "ipu", "load_state_dict", "modules", "mtia", "named_buffers", "named_children"),
        *("named_modules", "named_parameters", "parameters", "register_backward_hook"),
        *("register_buffer", "register_forward_hook", "register_forward_pre_hook"),
        *("register_full_backward_hook", "register_full_backward_pre_hook"),
        *("register_load_state_dict_post_hook", "register_load_state_dict_pre_hook"),
        *("register_module", "register_parameter", "register_state_dict_post_hook"),
        *("register_state_dict_pre_hook", "requires_grad_", "set_extra_state", "set_submodule"),
        *("share_memory", "state_dict", "to", "to_empty", "train", "training", "type", "xpu"),
        "zero_grad",
    }
)


class ClassInfo(Struct, frozen=True):
    """One class of one release with all that its instances have."""

    home: str
    family: ClassFamily
    complete: bool  # False: a base of another package or ``__getattr__`` may add members
    members: dict[str, Member]


class Classes(Struct, frozen=True):
    """The classes of one distribution's release."""

    distribution: str
    release: str

    def info(self, home: str) -> ClassInfo | None:
        """Return what is known of the class at ``home``."""
        number = _numbers(self.distribution)[self.release]
        return _info(self.distribution, _since(self.distribution, number, home), home)

    def by_leaf(self, name: str) -> tuple[ClassInfo, ...]:
        """Return the classes called ``name`` wherever they are defined."""
        homes = _homes_called(self.distribution, name)
        return tuple(info for home in homes if (info := self.info(home)))

    def of_family(self, family: ClassFamily) -> tuple[ClassInfo, ...]:
        """Return all classes that make one kind of object."""
        return _of_family(self, family)

    def presence(self, info: ClassInfo, member: str) -> Presence:
        """Say whether instances of the class have ``member``."""
        if member in info.members or member in _GIVEN.get(info.home.rpartition(".")[2], ()):
            return Presence.EXISTS
        if not info.complete or (member.startswith("_") and not self._tells_of(member)):
            return Presence.UNKNOWN
        if member in _set_from_outside(self.distribution, self.release):
            return Presence.UNKNOWN
        if info.family in {ClassFamily.LAYER, ClassFamily.MODEL} and member in TORCH_MODULE:
            return Presence.UNKNOWN
        return Presence.MISSING

    def _tells_of(self, private: str) -> bool:
        """Say whether the data of the release tells whether a class has such a private member.

        It does not of what those of Keras 2 had from TensorFlow: ``tf.Module._flatten``.
        """
        return private in TOLD and self.release.startswith("3.")

    def signature_text(self, member: Member) -> str | None:
        """Return a method's parameters without ``self``."""
        if member.signature < 0:
            return None
        return tables.classes_table(self.distribution).signatures[member.signature]


@cache
def _of_family(classes: Classes, family: ClassFamily) -> tuple[ClassInfo, ...]:
    number = _numbers(classes.distribution)[classes.release]
    infos = (
        classes.info(home)
        for home in tables.classes_table(classes.distribution).classes
        if not home.startswith(_BRIDGES)
        and (span := _span(classes.distribution, number, home)) is not None
        and span.family is family
    )
    return tuple(info for info in infos if info is not None)


def last_with(distribution: str, names: Iterable[str], member: str, before: int) -> int:
    """Return the number of the last release in which a class of such a name had a member.

    Only releases with a number below ``before`` count; -1 where there is none.
    """
    last = -1
    for home in (home for name in names for home in _homes_called(distribution, name)):
        had_it = any(member in _ever_own(distribution, each) for each in _line(distribution, home))
        number = before - 1 if had_it else -1
        while number > last:
            since = _since(distribution, number, home)
            info = _info(distribution, since, home)
            if info is not None and member in info.members:
                last = number
            number = since - 1
    return last


def ever_had(distribution: str, name: str) -> frozenset[str]:
    """Return all members that a class called ``name`` ever had, and some that it had not."""
    homes = _homes_called(distribution, name)
    return frozenset().union(*(_ever(distribution, home) for home in homes))


# Not kept: who asks for many of them keeps what it makes of them.
def _ever(distribution: str, home: str) -> frozenset[str]:
    """Return the members of a class, and of all that was a base of it, in whatever release."""
    return frozenset().union(*(_ever_own(distribution, e) for e in _line(distribution, home)))


@cache
def _line(distribution: str, home: str) -> tuple[str, ...]:
    """Return a class and all that was a base of it, in whatever release."""
    lineage = [home]
    for each in lineage:  # it grows meanwhile
        lineage += _ever_bases(distribution, each).difference(lineage)
    return tuple(lineage)


@cache
def _ever_bases(distribution: str, home: str) -> frozenset[str]:
    homes = tables.classes_table(distribution).homes
    return frozenset(homes[base] for span in _spans(distribution, home) for base in span.bases)


@cache
def _ever_own(distribution: str, home: str) -> frozenset[str]:
    members = tables.classes_table(distribution).members
    numbers = {number for span in _spans(distribution, home) for number in span.members}
    return frozenset((*(members[number].name for number in numbers), *(_foreign(home) or ())))


@cache
def serves_as_base(home: str) -> bool:
    """Say whether a class of any release of any distribution derives from the one defined here."""
    return any(home in tables.classes_table(each).homes for each in tables.distributions())


def derived_from(classes: Classes, home: str) -> tuple[str, ...]:
    """Return the homes of the classes of a release that derive from the one defined at ``home``."""
    return _derived(classes.distribution, classes.release).get(home, ())


def bases_of(classes: Classes, home: str) -> tuple[str, ...]:
    """Return where the bases of a class are defined, nearest first."""
    number = _numbers(classes.distribution)[classes.release]
    return _mro(classes.distribution, _since(classes.distribution, number, home), home)[1:]


@cache
def _derived(distribution: str, release: str) -> dict[str, tuple[str, ...]]:
    number = _numbers(distribution)[release]
    found: dict[str, tuple[str, ...]] = {}
    for home in tables.classes_table(distribution).classes:
        for base in _mro(distribution, number, home)[1:]:
            found[base] = (*found.get(base, ()), home)
    return found


def _foreign(home: str) -> dict[str, MemberKind] | None:
    return FOREIGN_BASES.get(home.replace("tensorflow.compat.v2.", "tensorflow."))


def classes_of(distribution: str, release: str) -> Classes | None:
    """Return the classes of a release; None where the data has no such release."""
    try:
        known = tables.classes_table(distribution).releases
    except FileNotFoundError:
        return None
    return Classes(distribution, release) if release in known else None


@cache
def _numbers(distribution: str) -> dict[str, int]:
    """Return the numbers of the releases."""
    return {each: at for at, each in enumerate(tables.classes_table(distribution).releases)}


# Those of a class and its bases: decoded, all of them take more than what is made of them.
@lru_cache(maxsize=64)
def _spans(distribution: str, home: str) -> list[ClassSpan]:
    row = tables.classes_table(distribution).classes.get(home)
    return [] if row is None else tables.class_spans(row)


def _span(distribution: str, number: int, home: str) -> ClassSpan | None:
    return next((s for s in _spans(distribution, home) if s.first <= number <= s.last), None)


@cache
def _since(distribution: str, number: int, home: str) -> int:
    """Return the first of the releases up to one in which all that makes a class is the same.

    What is worked out for one of them holds for all.
    """
    span = _span(distribution, number, home)
    if span is None:
        before = [each.last for each in _spans(distribution, home) if each.last < number]
        return max(before, default=-1) + 1
    homes = tables.classes_table(distribution).homes
    bases = (_since(distribution, number, homes[base]) for base in span.bases)
    return max([span.first, *bases])


@cache
def _info(distribution: str, number: int, home: str) -> ClassInfo | None:
    span = _span(distribution, number, home)
    if span is None:
        return None
    table = tables.classes_table(distribution)
    members: dict[str, Member] = {}
    complete = True
    for base in reversed(_mro(distribution, number, home)):
        found = _span(distribution, number, base)
        foreign = _foreign(base)
        if found is not None:
            own = [table.members[each] for each in found.members]
            complete = complete and not found.dynamic
        elif foreign is not None:
            own = [Member(name, kind) for name, kind in sorted(foreign.items())]
        else:
            own, complete = [], False
        for member in own:
            # ``self.built = True`` leaves a base's property ``built`` what it is.
            if member.kind is not MemberKind.ATTRIBUTE or member.name not in members:
                members[member.name] = member
    return ClassInfo(home, span.family, complete, members)


@cache
def _mro(distribution: str, number: int, home: str) -> tuple[str, ...]:
    """Return the class and its bases in Python's order, those of other packages among them."""
    span = _span(distribution, number, home)
    if span is None:
        return (home,)
    homes = tables.classes_table(distribution).homes
    bases = tuple(homes[base] for base in span.bases)
    lists = [*(_mro(distribution, number, base) for base in bases), bases]
    order = [home]
    while lists := [rest for rest in lists if rest]:
        tails = {name for rest in lists for name in rest[1:]}
        # Of bases that Python would refuse, the first goes on: one was read wrong.
        head = next((rest[0] for rest in lists if rest[0] not in tails), lists[0][0])
        order.append(head)
        lists = [tuple(name for name in rest if name != head) for rest in lists]
    return tuple(order)


@cache
def _homes_called(distribution: str, name: str) -> tuple[str, ...]:
    """Return the homes of the classes, of whatever release, that are called so."""
    return tuple(tables.classes_table(distribution).homes_called(name))


@cache
def _set_from_outside(distribution: str, release: str) -> frozenset[str]:
    """Return the members that other code of a release assigns to some object."""
    table = tables.classes_table(distribution)
    number = _numbers(distribution)[release]
    return frozenset(
        member
        for member, spans in table.set_from_outside.items()
        if any(first <= number <= last for first, last in spans)
    )
