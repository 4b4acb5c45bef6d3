"""`call(self, x, training)` without a default: Keras 3 no longer fills in `training`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_of, methods_in
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_TRAINING = "training"
_FILLED_IN = frozenset({_TRAINING, "mask"})
_KINDS = frozenset({Kind.LAYER, Kind.MODEL})
_MISSING = "TypeError: missing a required argument: 'training'"
_REFUSED = (
    "ValueError: Layers added to a Sequential model can only have a single required positional "
    "argument, the input tensor."
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such parameter, once."""
    asked = dict(_asked(module))
    found: set[cst.ClassDef] = set()
    for call in module.nodes(cst.Call) if asked else ():
        used, error = _used(module, call)
        made = module.type_of(used)
        owner = class_of(module, made) if made is not None else None
        if made is None or owner is None or owner not in asked or owner in found:
            continue
        if made.kind not in _KINDS or module.is_guarded(call):
            continue
        call_method = asked[owner]
        if used is call.func and _passes(call, call_method):
            continue
        if not is_keras_3(facts, made.qualified):
            continue
        found.add(owner)
        yield _finding(module, facts, call_method, owner.name.value, module.source(call), error)


def _asked(module: Module) -> Iterator[tuple[cst.ClassDef, cst.FunctionDef]]:
    """Yield the classes whose ``call`` asks for ``training``, with it."""
    for each in module.nodes(cst.ClassDef):
        methods = methods_in(each)
        call = methods.get("call")
        if call is None or call.decorators or "__call__" in methods:
            continue
        if _asked_for(call) is not None:
            yield each, call


def _asked_for(call: cst.FunctionDef) -> cst.Param | None:
    given = (*call.params.params[2:], *call.params.kwonly_params)
    return next((each for each in given if each.name.value == _TRAINING and not each.default), None)


def _used(module: Module, call: cst.Call) -> tuple[cst.BaseExpression, str]:
    """Return the layer that a call uses, by calling it or by putting it into a ``Sequential``."""
    around = module.parent(call)
    if isinstance(around, cst.Element):
        around = module.parent(module.parent(around) or around)
    holder = module.parent(around) if isinstance(around, cst.Arg) else None
    if isinstance(holder, cst.Call) and _makes_or_adds(module, holder):
        return call, _REFUSED
    return call.func, _MISSING


def _makes_or_adds(module: Module, call: cst.Call) -> bool:
    """Say whether a call makes a ``Sequential``, or adds to one."""
    if (module.qualified(call.func) or "").endswith(".Sequential"):
        return True
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value="add")):
            made = module.type_of(owner)
            return made is not None and made.kind is Kind.MODEL and made.cls == "Sequential"
    return False


def _passes(call: cst.Call, method: cst.FunctionDef) -> bool:
    """Say whether a call may pass ``training``."""
    if any(each.star or (each.keyword and each.keyword.value == _TRAINING) for each in call.args):
        return True
    by_position = [each for each in call.args if each.keyword is None]
    names = [each.name.value for each in method.params.params[1:]]
    return _TRAINING in names[: len(by_position)]


def _finding(  # noqa: PLR0913, PLR0917 - what a finding tells
    module: Module, facts: TargetFacts, method: cst.FunctionDef, name: str, used: str, error: str
) -> Finding:
    parameter = _asked_for(method)
    assert parameter is not None
    without = _without_default(method, parameter)
    if parameter in method.params.kwonly_params:
        error = _MISSING  # a `Sequential` asks for parameters by position alone
    return rule.finding(
        module.place(parameter.name),
        f"`{_short(used)}` omits `training`, and Keras 3 does not fill it in: {error}",
        symbol=f"{name}.call",
        confidence=Confidence.LIKELY,
        help="Write `training=None`: Keras then fills it in.",
        fix=_fix(module, facts, without)
        if without
        else NoFix("a later parameter has no default, and Keras does not fill it in"),
    )


def _short(code: str) -> str:
    first, *more = code.split("\n")
    return f"{first.strip()} …" if more else first


def _without_default(method: cst.FunctionDef, parameter: cst.Param) -> Sequence[cst.Param]:
    """Return the parameters that are to get a default, nothing where that cannot be."""
    named = method.params.params
    behind = [*named[named.index(parameter) + 1 :]] if parameter in named else []
    bare = [each for each in behind if each.default is None]
    if any(each.name.value not in _FILLED_IN for each in bare):
        return ()
    return (parameter, *bare)


def _fix(module: Module, facts: TargetFacts, bare: Sequence[cst.Param]) -> Fix:
    edits = []
    for each in bare:
        last = each.annotation.annotation if each.annotation else each.name
        end = module.outer_span(last).end
        text = " = None" if each.annotation else "=None"
        edits.append(Edit(Span(end, end), (text,)))
    return Fix(
        "Give `training` a default of None",
        tuple(edits),
        facts.applicability(*(each for each in rule.invalid if each.after)),
    )


def _may_ask(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        function.name == "call" and _is_bare(function.args)
        for function in quick.nodes.get(ast.FunctionDef, ())
    )


def _is_bare(given: ast.arguments) -> bool:
    named = [*given.posonlyargs, *given.args]
    bare = named[: len(named) - len(given.defaults)]
    bare += [
        each
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is None
    ]
    return any(each.arg == _TRAINING for each in bare)


rule = Rule(
    code="KD319",
    name="call-without-training",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=word(_TRAINING) & Trigger(_may_ask),
    since="3.0",
)
