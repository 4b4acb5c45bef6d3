"""`self.seen = defaultdict(list)` in a layer: it becomes a plain dict without a default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import has_builtin, hidden_builtin, is_builtin, keras_version
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.models.user_classes import (
    class_around,
    class_of,
    methods_in,
    with_bases,
)
from kdoctor.analysis.queries import Store, stores
from kdoctor.analysis.queries.conditions import derives_from, word
from kdoctor.analysis.queries.made_of import subclass_of
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite.source_lines import margin
from kdoctor.rules.behaviour._copied_containers import (
    OF_COLLECTIONS,
    TRACKED,
    Container,
    container_of,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_NAMES: Final = tuple(each.rpartition(".")[2] for each in OF_COLLECTIONS)
_SETATTR: Final = "__setattr__"
# Methods that put something into a container, and functions of Python that give nothing tracked.
_PUTTING: Final = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
_NUMBERS: Final = frozenset({"bool", "float", "int", "len", "repr", "round", "str"})
_PLAIN: Final = _NUMBERS | {"dict", "list", "set", "tuple"}
_NOT_TRACKED: Final = "no_automatic_dependency_tracking"


_OWNERS: Final = (Kind.LAYER, Kind.MODEL, Kind.METRIC, Kind.OPTIMIZER)
_STORES: Final = stores(
    on=_OWNERS, overridden=True, made_of=subclass_of(*TRACKED, or_of=OF_COLLECTIONS)
).beside(word(*_NAMES) | derives_from(*TRACKED))


class _Made(Struct, frozen=True):
    """A container that is made, and whether it stands in a list, tuple or dict of others."""

    call: cst.Call
    container: Container
    is_inside: bool


@rule("KD486", severity=Severity.CHANGE, since="3.0", look_for=_STORES)
def check(store: Store) -> Finding | None:
    """Report each container that loses its class."""
    value = part_of(store.store.value, store.store.path)
    if value is None or _goes_another_way(store):
        return None
    made = next(_made(store, value, is_inside=False), None)
    return None if made is None else _finding(store, made, value)


def _goes_another_way(store: Store) -> bool:
    """Say whether Keras does not get the value: a property does, or their own `__setattr__`."""
    cls = class_of(store.module, store.owner) or class_around(store.module, store.node)
    classes = [] if cls is None else with_bases(store.module, cls)
    methods = {name for each in classes for name in methods_in(each)}
    around = (each for each in store.module.ancestors(store.node))
    decorated = (each for each in around if isinstance(each, cst.FunctionDef) and each.decorators)
    return (
        _SETATTR in methods
        or store.member in methods
        or any(_NOT_TRACKED in store.source(one) for each in decorated for one in each.decorators)
    )


def _made(store: Store, value: cst.BaseExpression, *, is_inside: bool) -> Iterator[_Made]:
    for each in _parts(value):
        yield from _made(store, each, is_inside=True)
    call = points_to_of(store.module).creation_of(value)
    keras = keras_version(store.facts)
    found = None if call is None else container_of(store.module, call, keras)
    if call is not None and found is not None:
        yield _Made(call, found, is_inside)


def _parts(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match value:
        case cst.List() | cst.Tuple() | cst.Dict():
            yield from (each.value for each in value.elements)
        case cst.ListComp():
            yield value.elt
        case cst.DictComp():
            yield value.value


def _finding(store: Store, made: _Made, value: cst.BaseExpression) -> Finding:
    container = made.container
    error = None if made.is_inside else _error(store, container)
    what = "its class and what that adds are lost"
    return store.finding(
        f"Keras 3 keeps a copy of the `{container.name}`, a plain `{container.tracked}`: "
        f"{error or what}",
        at=value,
        symbol=f"{store.owner.kind.capitalize()}.__setattr__",
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=f'Keep it as it is: `object.__setattr__({store.source(store.node.value)}, '
        f'"{store.member}", …)`.',
        fix=_fix(store, made, value),
    )  # fmt: skip


def _error(store: Store, container: Container) -> str | None:
    """Return what a use of the attribute raises, as far as the file shows one."""
    module = store.module
    for read in _reads(store):
        parent = module.parent(read)
        if isinstance(parent, cst.Attribute) and parent.attr.value in container.members:
            member = parent.attr.value
            if not isinstance(module.parent(parent), cst.AssignTarget):
                return f"AttributeError: '{container.tracked}' object has no attribute '{member}'"
        if container.gives_defaults and isinstance(parent, cst.Subscript):
            around = module.parent(parent)
            if not isinstance(around, cst.AssignTarget | cst.Del):
                return "KeyError: … for a key that is not there yet"
    return None


def _reads(store: Store) -> Iterator[cst.Attribute]:
    """Yield the reads of the attribute: in the class, or of the same name in the file."""
    module = store.module
    owner = store.source(store.node.value)
    within = class_around(module, store.node) or module.tree
    for each in descendants(within):
        if not isinstance(each, cst.Attribute) or each is store.node:
            continue
        if each.attr.value == store.member and module.source(each.value) == owner:
            yield each


def _fix(store: Store, made: _Made, value: cst.BaseExpression) -> Fix | NoFix:
    module = store.module
    if made.is_inside:
        return NoFix("it is inside another container, which is copied as well")
    if not has_builtin(module, store.node, "object"):
        return NoFix(hidden_builtin("object"))
    place, owner = module.outer_span(value), store.source(store.node.value)
    begin = f'object.{_SETATTR}({owner}, "{store.member}", '
    start = _start_of_value(module, store, value)
    if start is None:
        return NoFix("it is not assigned in a statement of its own")
    edits = (
        Edit(Span(start[0], place.start), (f"{start[1]}{begin}",)),
        Edit(Span(place.end, place.end), (")",)),
    )
    return store.fix(
        "Assign it without tracking",
        *edits,
        unsafe_because="layers or variables in it are then not tracked"
        if _may_hold_weights(store, made, value)
        else "",
    )


def _start_of_value(
    module: Module, store: Store, value: cst.BaseExpression
) -> tuple[int, str] | None:
    """Return from where to write anew up to the value, and what the new text begins with."""
    target = module.parent(store.node)
    if isinstance(target, cst.AnnAssign) and target.value is value:
        line = module.span(store.node).start
        indent = margin(module.text, line)
        return None if indent.strip() else (module.span(target.annotation).end, f"\n{indent}")
    statement = None if target is None else module.parent(target)
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        return (module.outer_span(store.node).start, "") if statement.value is value else None
    return None


def _may_hold_weights(store: Store, made: _Made, value: cst.BaseExpression) -> bool:
    """Say whether a layer or variable may be in it from the start, or be put in by the file.

    What is put in later Keras 2 did not track either; but code that is written on Keras 3 trains
    it.
    """
    if made.container.name == "Counter":
        return False
    is_default = made.container.name == "defaultdict"  # its first argument makes values, later
    if value is not made.call or len(made.call.args) > is_default:
        return True
    return not all(_holds_no_weight(store.module, each) for each in _given_later(store))


def _given_later(store: Store) -> Iterator[cst.BaseExpression]:
    """Yield what is put into the attribute or one of its elements; itself where it gets a name."""
    module = store.module
    for read in _reads(store):
        place: cst.CSTNode = read
        while isinstance(parent := module.parent(place), cst.Subscript):
            place = parent
        match parent:
            case cst.AssignTarget() if isinstance(made := module.parent(parent), cst.Assign):
                yield made.value
            case cst.AugAssign(target=target, value=value) if target is place:
                yield value
            case cst.Assign(value=value) if value is place:
                yield value
            case cst.Attribute(attr=cst.Name(value=name)) if name in _PUTTING:
                call = module.parent(parent)
                if isinstance(call, cst.Call) and call.func is parent:
                    yield from (each.value for each in call.args)


def _holds_no_weight(module: Module, value: cst.BaseExpression) -> bool:
    """Say whether a value is seen to be neither a layer or variable, nor to hold one."""
    match value:
        case cst.BaseNumber() | cst.BaseString() | cst.Comparison() | cst.UnaryOperation():
            return True
        case cst.Name(value="None" | "True" | "False"):
            return True
        case cst.Attribute(attr=cst.Name(value="shape" | "name" | "dtype")):
            return True
        case cst.BinaryOperation(left=left, right=right):
            return _holds_no_weight(module, left) and _holds_no_weight(module, right)
        case cst.Tuple() | cst.List() | cst.Set():
            return all(_holds_no_weight(module, each.value) for each in value.elements)
        case cst.Call(func=cst.Name(value=name) as func) if name in _PLAIN:
            inner = (each.value for each in value.args)
            is_number = name in _NUMBERS
            return is_builtin(module, func) and (
                is_number or all(_holds_no_weight(module, each) for each in inner)
            )
    return False
