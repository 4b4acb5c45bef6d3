"""`TimeDistributed` needs the `compute_output_shape` of the layer that it wraps."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_named, only_base
from kdoctor.analysis.models.wrappers import applications_of, wrapped_layers
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.analysis.triggers import word
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_ASKED = "compute_output_shape"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such layer where it is wrapped."""
    if any(each.attr.value == _ASKED and _is_set(module, each) for each in module.attributes):
        return
    for reference, call, inner in wrapped_layers(module, facts, "TimeDistributed"):
        if not _says_no_shape(module, inner.func) or not _gets_a_symbolic_tensor(module, call):
            continue
        name = module.source(inner.func)
        yield rule.finding(
            module.place(inner),
            f"`TimeDistributed` needs `{_ASKED}` of `{name}`: NotImplementedError: Exception "
            "encountered when calling TimeDistributed.call().",
            symbol=reference.name,
            confidence=Confidence.LIKELY,
            help=f"Define `{_ASKED}(self, input_shape)` in `{name}`.",
            fix=NoFix("only you know which shape the layer returns"),
        )


def _is_set(module: Module, attribute: cst.Attribute) -> bool:
    return isinstance(module.parent(attribute), cst.AssignTarget)


def _says_no_shape(module: Module, cls: cst.BaseExpression) -> bool:
    """Say whether it is a class of the user's, made from `Layer`, that surely lacks the method."""
    seen: set[cst.ClassDef] = set()
    while (node := class_named(module, cls)) is not None:
        only = only_base(module, node)
        if node in seen or only is None or node.keywords or node.decorators:
            return False
        if any(isinstance(each, cst.Name) and each.value == _ASKED for each in descendants(node)):
            return False
        seen.add(node)
        cls = only
    info = module.project_class(cls)
    if info is not None and (not info.closed or _ASKED in info.members):
        return False
    base = info.base if info is not None else module.qualified(cls) if seen else None
    made = None if base is None else module.oracle.class_type(base)
    return made is not None and made.kind is Kind.LAYER and made.cls == "Layer"


def _gets_a_symbolic_tensor(module: Module, layer: cst.Call) -> bool:
    """Say whether the layer is called to build a model."""
    return any(
        each.args and is_symbolic(module, each.args[0].value)
        for each in applications_of(module, layer)
    )


rule = Rule(
    code="KD231",
    name="shape-of-wrapped-layer",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=word("TimeDistributed"),
    since="3.0",
)
