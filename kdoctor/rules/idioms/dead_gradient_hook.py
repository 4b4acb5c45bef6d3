"""`get_updates` and `get_gradients` of a layer or model: hooks that Keras never calls."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.triggers import defines
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_HOOKS = ("get_updates", "get_gradients")
_HELP = (
    "To limit gradients pass `clipvalue=`, `clipnorm=` or `global_clipnorm=` to the optimizer; "
    "to change them in one place use `keras.ops.custom_gradient` in `call`."
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such method of a class of Keras."""
    for node in module.nodes(cst.ClassDef):
        made = kind_of_class(module, node)
        methods = {
            each.name.value: each for each in node.body.body if isinstance(each, cst.FunctionDef)
        }
        for name in _HOOKS:
            if name in methods and not _is_used(module, name):
                finding = _finding(module, node, made, methods, name)
                if finding is not None:
                    yield finding


def _finding(
    module: Module,
    node: cst.ClassDef,
    made: Kind | None,
    methods: dict[str, cst.FunctionDef],
    name: str,
) -> Finding | None:
    cls = node.name.value
    if made not in {Kind.LAYER, Kind.MODEL}:
        return None
    return rule.finding(
        module.place(methods[name].name),
        f"Keras never calls `{cls}.{name}`: it has no effect on gradients",
        symbol=f"{cls}.{name}",
        confidence=Confidence.LIKELY,
        help=_HELP,
        fix=NoFix("the code of the method has to move elsewhere"),
    )


def _is_used(module: Module, name: str) -> bool:
    """Say whether the file itself calls a method of that name on an object of its own."""
    return any(
        use.member == name and use.owner_defines and use.called is not None
        for use in module.members
    )


rule = Rule(
    code="KD501",
    name="dead-gradient-hook",
    family="idioms",
    severity=Severity.CHANGE,
    check=check,
    triggers=defines(*_HOOKS),
    since="3.0",
)
