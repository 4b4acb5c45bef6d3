"""`flow.next()`: iterators of an `ImageDataGenerator` no longer have a `next` method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin, is_keras_3
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member, word
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.name_resolution import part_of
from kdoctor.syntax.scopes import BindingKind

_GENERATOR: Final = "ImageDataGenerator"
_FLOWS: Final = {
    "flow": "NumpyArrayIterator",
    "flow_from_directory": "DirectoryIterator",
    "flow_from_dataframe": "DataFrameIterator",
}
"""What the methods of a generator give."""
_MAX_DEPTH: Final = 16  # steps from name to name

Maker = Callable[[cst.Call, int], str | None]


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such method that is asked for."""
    flows = _Flows(module, facts)
    for asked in module.attributes:
        if asked.attr.value != "next" or module.is_guarded(asked):
            continue
        made = flows.named(asked.value)
        if made is None:
            continue
        fix = _fix(module, facts, asked)
        yield rule.finding(
            module.place(asked),
            f"this iterator no longer has `next`: AttributeError: '{made}' object has "
            "no attribute 'next'",
            symbol=f"{made}.next",
            confidence=Confidence.LIKELY,
            help="Write `next(flow)`, with Python's built-in function.",
            fix=fix or NoFix("`next` means something else here"),
        )


class _Flows:
    """The objects of one module that give batches: what made them is followed back."""

    def __init__(self, module: Module, facts: TargetFacts) -> None:
        self._module = module
        self._facts = facts
        self._points_to = points_to_of(module)

    def named(self, node: cst.BaseExpression) -> str | None:
        """Return what the class of such an object is called, None where it may be another."""
        return self._made(node, self._flow, 0)

    def _flow(self, call: cst.Call, depth: int) -> str | None:
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _FLOWS:
            generator = self._made(call.func.value, self._generator, depth)
            return _FLOWS[call.func.attr.value] if generator else None
        return self._keras(call, *_FLOWS.values())

    def _generator(self, call: cst.Call, _depth: int) -> str | None:
        return self._keras(call, _GENERATOR)

    def _keras(self, call: cst.Call, *classes: str) -> str | None:
        """Return which of these classes of the target's Keras 3 a call makes an object of."""
        name = self._module.qualified(call.func) or ""
        leaf = name.rpartition(".")[2]
        is_its = split_root(name) is not None and is_keras_3(self._facts, name)
        return leaf if leaf in classes and is_its else None

    def _made(self, node: cst.BaseExpression | None, by: Maker, depth: int) -> str | None:
        """Return what one of the calls makes from which an expression comes, if all are such."""
        if depth > _MAX_DEPTH:
            return None
        match node:
            case cst.Name():
                bound = self._module.bindings_at(node)
                values = [
                    part_of(each.value, each.path) if each.kind is BindingKind.ASSIGN else None
                    for each in bound
                ]
            case cst.Attribute():
                stored = self._points_to.stored(node)
                if stored is None or any(isinstance(each, str) for each in stored[1]):
                    return None
                path = [each for each in stored[1] if isinstance(each, int)]
                values = [part_of(stored[0], path)]
            case cst.Call():
                values = [*self._points_to.returned_by(node)]
                if not values:
                    return by(node, depth + 1)
            case _:
                return None
        names = [self._made(each, by, depth + 1) for each in values]
        return names[0] if names and all(names) else None


def _fix(module: Module, facts: TargetFacts, asked: cst.Attribute) -> Fix | None:
    call = module.parent(asked)
    rated = facts.applicability(*(each for each in rule.invalid if each.after))
    if not isinstance(call, cst.Call) or call.func is not asked:
        return Fix("Write `__next__`", (Edit(module.span(asked.attr), ("__next__",)),), rated)
    if not is_builtin(module, asked.attr) or call.args:
        return None
    flow = Hole(module.outer_span(asked.value), Precedence.LAMBDA, precedence_of(asked.value))
    edit = Edit(module.span(call), ("next(", flow, ")"), Precedence.PRIMARY, Precedence.ANY)
    return Fix("Write `next(…)`", (edit,), rated)


rule = Rule(
    code="KD230",
    name="iterator-without-next",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member("next") & word(_GENERATOR, *_FLOWS.values()),
    since="3.0",
)
