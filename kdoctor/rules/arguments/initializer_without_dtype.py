"""`Dense(3, kernel_initializer=drawn)`: an initializer function must accept `dtype`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, instances, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

ALWAYS_CALLED: Final = (
    *("kernel_initializer", "embeddings_initializer", "recurrent_initializer"),
    *("depthwise_initializer", "pointwise_initializer", "alpha_initializer"),
)
"""Arguments of Keras' layers of which every layer that is built makes a weight."""
_BIAS = "bias_initializer"  # a weight is made of it, too, unless `use_bias` says otherwise
_BEFORE_USE_BIAS = 2  # arguments by position: in `Dense` the third is `use_bias`
_DTYPE = "dtype"
_NAME = "name"
_NAMED = "Keras 1 passed a name; now it is None"

_Function = cst.FunctionDef | cst.Lambda


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such function once."""
    seen: set[_Function] = set()
    for _, call, _ in instances(module, Kind.LAYER, facts):
        for name in (*ALWAYS_CALLED, *((_BIAS,) if _has_bias(call) else ())):
            given = argument(call, name)
            function = None if given is None else _function(module, given.value)
            if function is None or function in seen or _takes_dtype(function):
                continue
            if module.is_guarded(call):
                continue
            seen.add(function)
            fix = _fix(module, facts, function)
            is_named = isinstance(function, cst.FunctionDef)
            said = function.name.value if isinstance(function, cst.FunctionDef) else "<lambda>"
            yield rule.finding(
                module.place(function.name if isinstance(function, cst.FunctionDef) else function),
                f"`{said if is_named else 'lambda'}` is used as `{name}`, and Keras calls it "
                f"with `dtype`: TypeError: {said}() got an unexpected keyword argument 'dtype'",
                symbol=name,
                confidence=Confidence.LIKELY,
                help="Add a parameter `dtype=None`.",
                fix=fix or NoFix("it has more required parameters than the shape"),
            )


def _has_bias(call: cst.Call) -> bool:
    by_position = sum(each.keyword is None for each in call.args)
    return argument(call, "use_bias") is None and by_position <= _BEFORE_USE_BIAS


def _function(module: Module, value: cst.BaseExpression) -> _Function | None:
    """Return the one function of this module that an expression stands for."""
    value = value_of(module, value)
    if isinstance(value, cst.Lambda):
        return value
    bound = module.bindings_at(value) if isinstance(value, cst.Name) else ()
    node = bound[0].node if len(bound) == 1 else None
    return node if isinstance(node, cst.FunctionDef) and not node.decorators else None


def _takes_dtype(function: _Function) -> bool:
    given = function.params
    named = (*given.posonly_params, *given.params, *given.kwonly_params)
    # Without a parameter by position it makes the initializer, and is none.
    return (
        given.star_kwarg is not None
        or not given.params
        or _DTYPE in {each.name.value for each in named}
    )


def _fix(module: Module, facts: TargetFacts, function: _Function) -> Fix | None:
    parameters = function.params
    _, *others = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    wanted = [each for each in others if each.default is None]
    if [each.name.value for each in wanted] not in ([], [_NAME]):
        return None
    last = parameters.params[-1]
    ends = [_end(module, each) for each in (*wanted, last)]
    # One edit where both are put at one place.
    named = "" if not wanted else " = None" if wanted[0].annotation else "=None"
    texts = [*([named] if wanted else []), f", {_DTYPE}=None"]
    if len(set(ends)) < len(ends):
        ends, texts = ends[:1], ["".join(texts)]
    return Fix(
        "Add a `dtype` parameter",
        tuple(Edit(Span(end, end), (text,)) for end, text in zip(ends, texts, strict=True)),
        Applicability.UNSAFE
        if wanted
        else facts.applicability(
            *(each for each in rule.invalid if each.after and not each.unsafe)
        ),
        unsafe_because=_NAMED if wanted else "",
    )


def _end(module: Module, parameter: cst.Param) -> int:
    annotation = parameter.annotation.annotation if parameter.annotation else parameter.name
    return module.outer_span(parameter.default or annotation).end


def _may_be_given(quick: QuickFacts, _: TargetFacts) -> bool:
    functions = {
        node.name
        for node in quick.nodes.get(ast.FunctionDef, ())
        if node.args.kwarg is None
        and _DTYPE not in {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    }
    return any(
        isinstance(given, ast.Lambda)
        or (isinstance(given, ast.Name) and (given.id in functions or _is_lambda(quick, given)))
        for name in (*ALWAYS_CALLED, _BIAS)
        for called in quick.calls_with(name)
        for given in (called.argument(name),)
    )


def _is_lambda(quick: QuickFacts, name: ast.Name) -> bool:
    return any(isinstance(each, ast.Lambda) for each in quick.values_of(name))


rule = Rule(
    code="KD316",
    name="initializer-without-dtype",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(*ALWAYS_CALLED, _BIAS) & Trigger(_may_be_given),
    since="3.0",
)
