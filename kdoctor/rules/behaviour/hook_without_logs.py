"""`def on_train_batch_end(self, batch, log=None)`: Keras 3 passes `logs` by keyword."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import instances, is_not_a_variable
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import holds_original_argument, kind_of_class, methods_in
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_LOGS: Final = "logs"
HOOKS: Final = tuple(
    f"on_{sort}batch_{end}"
    for sort in ("", "train_", "test_", "predict_")
    for end in ("begin", "end")
)
_ERROR: Final = "TypeError: {}() got an unexpected keyword argument 'logs'"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such parameter."""
    for node in module.nodes(cst.ClassDef):
        if kind_of_class(module, node) is not Kind.CALLBACK or module.is_guarded(node):
            continue
        methods = methods_in(node)
        for name in HOOKS:
            method = methods.get(name)
            found = None if method is None else _other(method, 2)
            if found is not None and not _is_called_by_hand(module, name):
                yield _finding(module, facts, name, f"{node.name.value}.{name}", found)
    for _, call, made in instances(module, Kind.CALLBACK, facts):
        for each in call.args if made.cls == "LambdaCallback" else ():
            name = each.keyword.value if each.keyword is not None else ""
            is_hook = name in HOOKS and isinstance(each.value, cst.Lambda)
            found = _other(each.value, 1) if is_hook else None
            if found is not None and not module.is_guarded(call):
                yield _finding(module, facts, name, "<lambda>", found)


def _other(function: cst.CSTNode, place: int) -> cst.Param | None:
    """Return the parameter at the place of the logs, where they cannot be passed by name."""
    if not isinstance(function, cst.FunctionDef | cst.Lambda):
        return None
    params = function.params
    in_order = [*params.posonly_params, *params.params]
    if isinstance(function, cst.FunctionDef) and function.decorators:
        return None
    if params.star_kwarg is not None or params.posonly_params or len(in_order) != place + 1:
        return None
    if any(each.name.value == _LOGS for each in params.kwonly_params):
        return None
    return None if in_order[place].name.value == _LOGS else in_order[place]


def _is_called_by_hand(module: Module, name: str) -> bool:
    """Say whether the file calls the method itself: by a keyword of its own, perhaps."""
    return any(each.attr.value == name for each in module.attributes)


def _finding(
    module: Module, facts: TargetFacts, name: str, called: str, parameter: cst.Param
) -> Finding:
    old = parameter.name.value
    edits = _renamed(module, parameter)
    return rule.finding(
        module.place(parameter.name),
        f"Keras 3 passes the logs to `{name}` as `logs=`, not `{old}`: {_ERROR.format(called)}",
        symbol=f"Callback.{name}({old})",
        confidence=Confidence.CERTAIN,
        help=f"Rename it to `{_LOGS}`.",
        fix=Fix(
            f"Rename it to `{_LOGS}`",
            edits,
            facts.applicability(*(each for each in rule.invalid if each.after)),
        )
        if edits
        else NoFix(f"`{_LOGS}` is another name in the function"),
    )


def _renamed(module: Module, parameter: cst.Param) -> tuple[Edit, ...]:
    """Return the edits that call a parameter ``logs``, none where that means something already."""
    around = module.ancestors(parameter)
    function = next(each for each in around if isinstance(each, cst.FunctionDef | cst.Lambda))
    nodes: list[cst.CSTNode] = [parameter.name]
    for each in descendants(function.body):
        if not isinstance(each, cst.Name) or is_not_a_variable(module, each):
            continue
        if each.value == _LOGS:
            return ()
        if each.value == parameter.name.value:
            if not holds_original_argument(module, each, parameter):
                return ()  # it is bound anew
            nodes.append(each)
    return tuple(Edit(module.span(each), (_LOGS,)) for each in nodes)


def _may_be_called_otherwise(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a method, or a function for a keyword, may take the logs by another name."""
    methods = [each for each in quick.nodes.get(ast.FunctionDef, ()) if each.name in HOOKS]
    given = (each.argument(name) for name in HOOKS for each in quick.calls_with(name))
    functions = [each for each in given if isinstance(each, ast.Lambda)]
    return any(
        each.arg != _LOGS for function in (*methods, *functions) for each in function.args.args[-1:]
    )


rule = Rule(
    code="KD460",
    name="hook-without-logs",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*HOOKS) & Trigger(_may_be_called_otherwise),
    since="3.0",
)
