"""Calls that pass a variable or ``self`` to code which may use members that Keras 3 lacks."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import arguments
from kdoctor.analysis.models.user_classes import receiver
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import call_of_self, parameters
from kdoctor.syntax.libcst_walk import descendants

_PACKAGES = ("tensorflow.", "keras.", "tf_keras.")


def variables_in(methods: dict[str, cst.FunctionDef], *hooks: str) -> dict[str, set[str]]:
    """Return, by method, the parameters that hold a variable of the model.

    ``hooks`` are the methods whose second parameter does; from there it may be handed on.
    """
    found: dict[str, set[str]] = {}
    waiting: list[tuple[str, str]] = [
        (hook, parameters(methods[hook])[1])
        for hook in hooks
        if hook in methods and len(parameters(methods[hook])) > 1
    ]
    while waiting:
        method, name = waiting.pop()
        if name in found.setdefault(method, set()):
            continue
        found[method].add(name)
        for each in descendants(methods[method].body):
            called = call_of_self(each, methods[method])
            if called is not None and called[0] in methods:
                wanted = parameters(methods[called[0]])
                waiting += [(called[0], wanted[at]) for at in _at(called[1], name, wanted)]
    return found


def _at(call: cst.Call, name: str, wanted: list[str]) -> Iterator[int]:
    """Yield the positions of the parameters that a name is passed for."""
    for position, each in enumerate(call.args):
        if not isinstance(each.value, cst.Name) or each.value.value != name or each.star:
            continue
        if each.keyword is None and position < len(wanted):
            yield position
        elif each.keyword is not None and each.keyword.value in wanted:
            yield wanted.index(each.keyword.value)


def check_handed_on(plan: Plan, function: cst.FunctionDef, variables: set[str]) -> None:
    """Stop where a function that is not known gets a variable, or the optimizer itself."""
    for call in descendants(function.body):
        if not isinstance(call, cst.Call) or call in plan.settled:
            continue
        if call_of_self(call, function) is not None:
            continue
        for each in arguments(call):
            if not isinstance(each.value, cst.Name):
                continue
            if each.value.value == receiver(function) and not _is_super(call):
                plan.stop(call, "its use of the optimizer is not known")
            elif each.value.value in variables and _may_ask_for_the_name(plan, call):
                plan.stop(
                    call, f"it may read the name of `{each.value.value}`, which differs in Keras 3"
                )


def _is_super(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Name) and call.func.value in {
        "super",
        "type",
        "getattr",
        "hasattr",
    }


def _may_ask_for_the_name(plan: Plan, call: cst.Call) -> bool:
    name = plan.module.qualified(call.func)
    if name is not None:
        return not f"{name}.".startswith(_PACKAGES)
    if not isinstance(call.func, cst.Name):
        return isinstance(call.func, cst.Attribute) and not _is_of_a_local(call.func)
    owner = plan.module.scope_of(call.func).owner(call.func.value)
    bindings = owner.bindings[call.func.value] if owner else []
    if not bindings:
        return False  # a builtin
    node = bindings[0].node if len(bindings) == 1 else None
    return not isinstance(node, cst.FunctionDef) or any(
        isinstance(each, cst.Attribute) and each.attr.value in {"name", "_shared_name", "op"}
        for each in descendants(node.body)
    )


def _is_of_a_local(func: cst.Attribute) -> bool:
    """Say whether a method of a local value is called: ``updates.append(var)``."""
    return isinstance(func.value, cst.Name)
