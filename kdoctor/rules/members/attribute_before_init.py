"""An optimizer sets attributes before `super().__init__()`: Keras 3 refuses them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import arguments
from kdoctor.analysis.models.user_classes import (
    is_init_of_base,
    is_old_optimizer,
    lineage_with_keras_3_base,
    methods_in,
    receiver,
)
from kdoctor.analysis.queries import Method, methods
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite.source_lines import lines_around, margin
from kdoctor.rules.idioms._optimizers.whole import is_rewritten
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_INIT: Final = "__init__"
_SETATTR: Final = "__setattr__"


@rule(
    "KD241",
    severity=Severity.ERROR,
    since="3.0",
    look_for=methods(_INIT, of=Kind.OPTIMIZER),
)
def check(init: Method) -> Finding | None:
    """Report the first attribute that is set too early."""
    parts = [*_statements(init.node.body.body)]
    at = next((place for place, each in enumerate(parts) if _begins(init, each)), 0)
    early = next((each for each in parts[:at] if _is_assignment(init, each)), None)
    if early is None or not _asks_keras(init) or is_rewritten(init.module, init.facts, init.node):
        return None
    name = init.owner.symbol
    return init.finding(
        f"the attribute is set before `super().__init__()`: RuntimeError: In optimizer '{name}', "
        "you forgot to call `super().__init__()` as the first statement in the `__init__()` "
        "method. Go add it!",
        at=early,
        symbol=f"{name}.{_INIT}",
        help="Call `super().__init__()` first.",
        fix=_fix(init, parts[parts.index(early) : at], parts[at]),
    )


def _statements(lines: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    for each in lines:
        yield from each.body if isinstance(each, cst.SimpleStatementLine) else (each,)


def _begins(init: Method, line: cst.CSTNode) -> bool:
    """Say whether a statement calls ``super().__init__(…)``, or has such a call in it."""
    return any(is_init_of_base(init.module, init.owner.node, each) for each in descendants(line))


def _is_assignment(init: Method, line: cst.CSTNode) -> bool:
    """Say whether a statement assigns an attribute of ``self``, be it among others."""
    own = receiver(init.node)
    return any(
        isinstance(target, cst.Attribute)
        and isinstance(target.value, cst.Name)
        and target.value.value == own
        for target in _targets(line)
    )


def _targets(statement: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    if isinstance(statement, cst.AnnAssign) and statement.value is not None:
        yield statement.target
    elif isinstance(statement, cst.Assign):
        for each in statement.targets:
            match each.target:
                case cst.Tuple(elements=elements) | cst.List(elements=elements):
                    yield from (element.value for element in elements)
                case _:
                    yield each.target


def _asks_keras(init: Method) -> bool:
    """Say whether it is Keras' own `__setattr__` that gets the attribute.

    Of an optimizer of Keras 2 times KD511, KD512 and KD524 tell.
    """
    line, base = lineage_with_keras_3_base(init.module, init.facts, init.owner.node)
    has_its_own = any(_SETATTR in methods_in(each) for each in line)
    is_old = is_old_optimizer(init.module, init.owner.node)
    return base is not None and not has_its_own and not is_old


def _fix(init: Method, between: Sequence[cst.CSTNode], begin: cst.CSTNode) -> Fix | NoFix:
    """Move the call of the base before the first attribute, if nothing between changes it."""
    module = init.module
    call, first = module.span(begin), module.span(between[0])
    moved, indent = lines_around(module, call), margin(module.text, first.start)
    around = module.text[moved.start : call.start] + module.text[call.end : moved.end]
    if not isinstance(begin, cst.Expr) or around.strip() or indent.strip():
        return NoFix("`super().__init__()` is not called in a line of its own")
    if not all(_is_assignment(init, each) for each in between) or _depends_on(init, begin, between):
        return NoFix("what is passed to `super().__init__()` may come from the lines before it")
    return init.fix(
        "Call `super().__init__()` first",
        Edit(Span(first.start, first.start), (f"{module.text[call.start : call.end]}\n{indent}",)),
        Edit(moved, ("",)),
        unsafe_because="a method that the base class calls may read the attribute",
    )


def _depends_on(init: Method, begin: cst.CSTNode, between: Sequence[cst.CSTNode]) -> bool:
    """Say whether what is passed reads ``self``, or what the lines before bind or may change."""
    module, own = init.module, init.owner.node
    call = next(each for each in descendants(begin) if is_init_of_base(module, own, each))
    assert isinstance(call, cst.Call)
    passed = _names(arguments(call))
    calls = (each for line in between for each in descendants(line) if isinstance(each, cst.Call))
    bound = {one.value for each in between for one in _targets(each) if isinstance(one, cst.Name)}
    return not passed.isdisjoint({receiver(init.node), *bound, *_names(calls)})


def _names(nodes: Iterable[cst.CSTNode]) -> set[str]:
    inside = (one for each in nodes for one in descendants(each))
    return {each.value for each in inside if isinstance(each, cst.Name)}
