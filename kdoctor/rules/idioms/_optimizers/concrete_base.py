"""An optimizer for TensorFlow 2.11 to 2.15 right below one of Keras' own: Adam, SGD.

Its base does most of the work on Keras 3 as well: what it takes, and its hyperparameters, have the
same names. Its state is in variables of another kind.
"""

from __future__ import annotations

import inspect

import libcst as cst

from kdoctor.analysis.calls import arguments, call_of_super
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.keras_api import Presence, Signature
from kdoctor.model import Span
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.idioms._optimizers.names import LAST_2, Names
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    OldOptimizer,
    call_of_self,
    init_of_base,
    statements,
)
from kdoctor.rules.idioms._optimizers.steps import STEP
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind, Type

_RATE, _XLA = "learning_rate", "jit_compile"
_GONE = frozenset({"gradient_aggregator", "gradient_transformers", "mesh", "lr", "decay"})
STATE_LISTS = frozenset(
    {
        *("_accumulated_delta_vars", "_accumulated_grads", "_accumulators", "_average_gradients"),
        *("_c", "_linears", "_m", "_momentums", "_r", "_u", "_v", "_velocities", "_velocity_hats"),
        "momentums",
    }
)
"""Lists of variables that an optimizer of Keras 2 has under the same name in Keras 3, if it has it;
a test asks both."""
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def concrete_base(facts: TargetFacts, optimizer: OldOptimizer) -> Type | None:
    """Return the class of Keras that such a class is right below, None where it is another."""
    node, name = optimizer.node, optimizer.qualified
    if optimizer.base is not None or not optimizer.is_of_2_11 or not name:
        return None
    if len(node.bases) != 1 or node.keywords:
        return None
    found = facts.lookup(name)
    leaf = found.name.rpartition(".")[2]
    is_one = found.presence is Presence.EXISTS and found.name == f"optimizers.{leaf}"
    return Type(Kind.OPTIMIZER, leaf, f"keras.optimizers.{leaf}") if is_one else None


def keep_start(plan: Plan, facts: TargetFacts, function: cst.FunctionDef, names: Names) -> None:
    """Plan the new ``__init__``: the base still takes what it is given."""
    base = None
    for statement in statements(function.body):
        call = init_of_base(statement.value) if isinstance(statement, cst.Expr) else None
        if call is not None:
            if base is not None:
                plan.stop(statement, "`super().__init__` is called twice")
            base = call
            _check_arguments(plan, facts, call, names)
        elif base is not None and _takes_the_rate(function, statement, base):
            plan.remove(statement)
        elif base is None and _uses(statement, function):
            plan.stop(statement, "it uses `self` before `super().__init__`, which Keras 3 forbids")
    if base is None:
        plan.stop(function.name, "it does not call `super().__init__` as a separate statement")


def pass_the_rate_on(plan: Plan, function: cst.FunctionDef) -> None:
    """Pass the rate to the ``update_step`` of the base."""
    for each in list(descendants(function.body)):
        above = call_of_super(each)
        if above is None or above[0] != STEP:
            continue
        call = above[1]
        if len(call.args) == 2 and not any(one.star or one.keyword for one in call.args):
            end = plan.module.outer_span(call.args[-1].value).end
            plan.write(Span(end, end), f", {_RATE}")
            plan.settled.update((call, *descendants(call.func)))
        else:
            plan.stop(call, "what is passed")


def check_state(plan: Plan, facts: TargetFacts, function: cst.FunctionDef, names: Names) -> None:
    """Stop at what only the base itself has and is neither known as its state nor passed to it."""
    signature = facts.signature(names.base.qualified or "")
    for each in descendants(function):
        if not isinstance(each, cst.Attribute) or each in plan.settled:
            continue
        member = member_of_self(each, function)
        is_passed = signature is not None and signature.parameter(member or "") is not None
        if member and names.is_of_base_alone(member) and not (is_passed or member in STATE_LISTS):
            plan.stop(each, f"it is a member of `{names.base.cls}` alone")


def _check_arguments(plan: Plan, facts: TargetFacts, call: cst.Call, names: Names) -> None:
    """Leave out what only compiled a step; stop at what the base no longer takes."""
    name = names.base.qualified or ""
    old, new = facts.at_release(LAST_2).signature(name), facts.signature(name)
    given = arguments(call)
    by_place = sum(each.keyword is None and not each.star for each in given)
    if old is None or new is None or any(each.star == "*" for each in given):
        plan.stop(call, "what is passed")
        return
    if _places(old)[:by_place] != _places(new)[:by_place]:
        plan.stop(call, "a positional argument has another parameter in Keras 3")
    gone = [each for each in given if each.keyword and each.keyword.value == _XLA]
    for edit in (remove_arguments(plan.module, call, gone) if gone else []) or []:
        plan.write(edit.span, "")
    if gone and remove_arguments(plan.module, call, gone) is None:
        plan.stop(call, "there is a comment in it")
    plan.settled.update(node for each in gone for node in descendants(each))
    for each in given:
        if each.keyword and each.keyword.value in _GONE:
            plan.stop(call, f"`{each.keyword.value}=` has no counterpart")


def _places(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_PLACE]


def _takes_the_rate(function: cst.FunctionDef, statement: cst.CSTNode, base: cst.Call) -> bool:
    """Say whether it is ``self._learning_rate = self._build_learning_rate(rate)`` of the base's."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=name))], value=made):
            called = call_of_self(made, function)
        case _:
            return False
    if name.value != "_learning_rate" or called is None or called[0] != "_build_learning_rate":
        return False
    given = [each.value for each in called[1].args]
    told = [
        each.value
        for place, each in enumerate(arguments(base))
        if (each.keyword.value == _RATE if each.keyword else place == 0 and not each.star)
    ]
    return len(given) == len(told) == 1 and given[0].deep_equals(told[0])


def _uses(statement: cst.CSTNode, function: cst.FunctionDef) -> bool:
    params = function.params.params
    own = params[0].name.value if params else ""
    return any(isinstance(each, cst.Name) and each.value == own for each in descendants(statement))
