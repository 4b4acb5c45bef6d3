"""`layer.axis[0]`, `layer.input_spec[0]`: what was a list of one is the one thing itself."""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.uses import index_read
from kdoctor.analysis.queries import Instance, Read, reads
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind


class _Single(Struct, frozen=True):
    """A member that held a list: the classes, what it is now, the error, and how it differs."""

    classes: tuple[str, ...]
    now: str
    type: str
    unlike: str = ""


_SINGLE: Final = {
    "axis": _Single(
        ("BatchNormalization",),
        "the number itself",
        "int",
        "it is the number as it was given, -1 by default, which Keras 2 counted from the front",
    ),
    "input_spec": _Single(("Bidirectional", "ConvLSTM2D", "GRU", "LSTM"), "one spec", "InputSpec"),
}


def _owners(member: str) -> tuple[Instance, ...]:
    return tuple(Instance(Kind.LAYER, each) for each in _SINGLE[member].classes)


@rule(
    "KD251",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads("axis", on=_owners("axis")) | reads("input_spec", on=_owners("input_spec")),
)
def check(read: Read) -> Finding | None:
    """Report each such member that is taken for a list."""
    module, single = read.module, _SINGLE[read.member]
    if not read.owner.is_of_imported_class or _is_asked_first(module, read):
        return None
    match module.parent(read.node):
        case cst.Subscript(value=value) as taken if value is read.node:
            if not isinstance(index_read(taken), int):
                return None
            error, fix = f"'{single.type}' object is not subscriptable", _fix(read, taken)
        case cst.For(iter=looped) | cst.CompFor(iter=looped) if looped is read.node:
            error, fix = f"'{single.type}' object is not iterable", _in_a_list(read)
        case _:
            return None
    return read.finding(
        f"`{read.member}` is {single.now}, no list: TypeError: {error}",
        help=f"Read `{module.source(read.node)}` itself.",
        fix=fix,
    )


def _is_asked_first(module: Module, read: Read) -> bool:
    """Say whether a condition around it looks at what the member holds."""
    return any(
        isinstance(node, cst.Attribute) and node.attr.value == read.member
        for above in module.ancestors(read.node)
        if isinstance(above, cst.If | cst.IfExp | cst.While)
        for node in (above.test, *descendants(above.test))
    )


def _fix(read: Read, taken: cst.Subscript) -> Fix | NoFix:
    if index_read(taken) not in {0, -1}:
        return NoFix("the list had one element")
    module = read.module
    end = Span(module.span(read.node).end, module.span(taken).end)
    return read.fix("Read it itself", Edit(end, ("",)), unsafe_because=_SINGLE[read.member].unlike)


def _in_a_list(read: Read) -> Fix | NoFix:
    span = read.module.span(read.node)
    return read.fix(
        "Put it into a list",
        Edit(Span(span.start, span.start), ("[",)),
        Edit(Span(span.end, span.end), ("]",)),
        unsafe_because=_SINGLE[read.member].unlike,
    )
