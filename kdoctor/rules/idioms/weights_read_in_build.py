"""`get_weights()` in `build`: weights have no values while the training step is traced."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind


@rule(
    "KD515",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods("build", of=Kind.LAYER, guarded=True).beside(attribute("get_weights")),
)
def check(build: Method) -> Iterator[Finding]:
    """Report each such call."""
    module, cls = build.module, build.owner.symbol
    for call in descendants(build.node.body):
        if not _reads(call) or not _is_held(module, call, build.node) or module.is_guarded(call):
            continue
        yield build.finding(
            f"`{cls}` may be built while the training step is traced, where weights have no "
            "values: NotImplementedError: numpy() is only available when eager execution is "
            "enabled",
            at=call,
            symbol=f"{cls}.get_weights",
            help="Use the weights themselves, `layer.weights[0]`; or build the model before "
            "training, with an `Input` as its first layer.",
            fix=NoFix("kdoctor cannot tell whether the values or the weights are needed"),
        )


def _reads(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.Call)
        and not node.args
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "get_weights"
    )


def _is_held(module: Module, call: cst.CSTNode, build: cst.FunctionDef) -> bool:
    """Say whether it is asked of something that `self` holds, or of each of what it holds."""
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return False
    owner = call.func.value
    if isinstance(owner, cst.Name):
        loops = [
            each.iter
            for each in module.ancestors(call)
            if isinstance(each, cst.For)
            and any(
                isinstance(part, cst.Name) and part.value == owner.value
                for part in (each.target, *descendants(each.target))
            )
        ]
        owner = loops[0] if loops else owner
    return any(member_of_self(each, build) is not None for each in (owner, *descendants(owner)))
