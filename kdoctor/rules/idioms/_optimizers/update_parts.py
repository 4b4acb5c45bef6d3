"""Parts of the statements in ``get_updates``."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.models.user_classes import member_of_self, receiver
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import backend_call
from kdoctor.rules.idioms._optimizers.state import State

_ASSIGNMENTS = {"update": "assign", "update_add": "assign_add", "update_sub": "assign_sub"}


class Updates(Struct):
    """The names in one ``get_updates``, by what they hold."""

    function: cst.FunctionDef
    params: str
    state: State
    gradients: str | None = None
    collected: str | None = None  # a local list of the updates
    loop: cst.CSTNode | None = None  # its block, or what the comprehension makes
    variable: str = ""
    gradient: str = ""
    kept: list[cst.CSTNode] = field(default_factory=list)

    @property
    def mine(self) -> str:
        """The name of the parameter that takes the optimizer."""
        return receiver(self.function) or "self"


def counts_steps(plan: Plan, updates: Updates, update: cst.BaseExpression) -> bool:
    """Say whether an update is that of the number of steps."""
    found = pair(plan, update)
    return found is not None and member_of_self(found[1], updates.function) == "iterations"


def pair(
    plan: Plan, update: cst.BaseExpression
) -> tuple[str, cst.BaseExpression, cst.BaseExpression] | None:
    """Return method, variable and value of ``K.update(x, new)`` and of ``(x, new)``."""
    if isinstance(update, cst.Tuple) and len(update.elements) == 2:
        return "assign", update.elements[0].value, update.elements[1].value
    for name, method in _ASSIGNMENTS.items():
        call = backend_call(plan.module, update, name)
        if (
            call is not None
            and len(call.args) == 2
            and not any(each.keyword or each.star for each in call.args)
        ):
            return method, call.args[0].value, call.args[1].value
    return None


def collected(plan: Plan, updates: Updates, call: cst.Call) -> cst.BaseExpression | None:
    """Return what ``self.updates.append(…)`` appends."""
    match call:
        case cst.Call(
            func=cst.Attribute(value=where, attr=cst.Name(value="append")),
            args=[cst.Arg(keyword=None, star="", value=value)],
        ) if plan.module.source(where) in {f"{updates.mine}.updates", updates.collected}:
            return value
    return None


def iterated(loop: cst.For | cst.CompFor) -> list[tuple[str, str]] | None:
    """Return pairs of a list's name and the name of its element."""
    match loop.target, loop.iter:
        case (
            cst.Tuple(elements=targets),
            cst.Call(func=cst.Name(value="zip"), args=args),
        ) if len(targets) == len(args):
            names = [each.value for each in targets]
            lists = [each.value for each in args]
            if all(isinstance(each, cst.Name) for each in (*names, *lists)):
                return [
                    (source.value, name.value)
                    for source, name in zip(lists, names, strict=True)
                    if isinstance(source, cst.Name) and isinstance(name, cst.Name)
                ]
    return None


def is_member_name(plan: Plan, node: cst.CSTNode) -> bool:
    """Say whether a name is the ``x`` of ``self.x``."""
    above = plan.module.parent(node)
    return isinstance(above, cst.Attribute) and above.attr is node
