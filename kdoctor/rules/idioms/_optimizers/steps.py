"""The protocol of TensorFlow 2.11 to 2.15: ``build`` and ``update_step(gradient, variable)``.

With TensorFlow, Keras 3 hands ``update_step`` the same ``tf.Variable`` and the same gradient. New
are the variables of the optimizer (``keras.Variable``), the learning rate (an argument), and that
rows which occur twice in the gradient of an embedding are no longer added up first.
"""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from kdoctor.analysis.calls import call_of_super, is_call_of_super
from kdoctor.analysis.dataflow.statements import is_docstring
from kdoctor.analysis.dataflow.uses import is_keyword_or_member
from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.model import Span
from kdoctor.rules.idioms._optimizers.build_method import (
    BUILD,
    rewrite_build,
    rewrite_built,
    rewrite_makers,
)
from kdoctor.rules.idioms._optimizers.escaping_variables import check_handed_on, variables_in
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import OldOptimizer, parameters
from kdoctor.rules.idioms._optimizers.state_calls import rewrite_body
from kdoctor.rules.idioms._optimizers.states import States
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal

STEP, APPLY = "update_step", "apply_gradients"
_RATE = "learning_rate"
_SPARSE = "tensorflow.IndexedSlices"
_AVERAGE = "with `use_ema=True` the average starts with the weights after the first step in Keras 3"


def rewrite_steps(
    plan: Plan, optimizer: OldOptimizer, inherited: Collection[str] = frozenset()
) -> None:
    """Plan the methods of a class of this protocol; ``__init__`` and ``get_config`` are done.

    ``inherited`` are the lists of variables that the base makes.
    """
    methods = optimizer.methods
    states = States.of(optimizer)
    states.together.update(inherited)
    variables = variables_in(methods, STEP)
    if BUILD in methods:
        rewrite_build(plan, methods[BUILD])
    if STEP in methods:
        _update_step(plan, methods[STEP], states)
    elif APPLY not in methods:
        plan.stop(optimizer.node.name, f"it has no `{STEP}`")
    if APPLY in methods:
        _apply(plan, methods[APPLY])
    if _averages(plan):
        plan.doubt(_AVERAGE)
    for name, function in methods.items():
        rewrite_built(plan, function)
        rewrite_makers(plan, function)
        rewrite_body(plan, function, states, variables.get(name, set()))
        check_handed_on(plan, function, variables.get(name, set()))


def _averages(plan: Plan) -> bool:
    """Say whether the file has an optimizer keep an average of the weights."""
    return any(
        each.keyword is not None and each.keyword.value == "use_ema" and literal(each.value) is True
        for call in plan.module.nodes(cst.Call)
        for each in call.args
    )


# -- the update


def _update_step(plan: Plan, function: cst.FunctionDef, states: States) -> None:
    plain = [*function.params.posonly_params, *function.params.params][1:]
    others = (function.params.kwonly_params, function.params.star_kwarg, function.params.star_arg)
    has_more = any(isinstance(each, cst.Param) or (isinstance(each, tuple | list) and each)
                   for each in others)  # fmt: skip
    takes_rate = len(plain) == 3 and plain[2].name.value == _RATE
    if has_more or not (len(plain) == 2 or takes_rate):
        plan.stop(function.name, "its parameters are not those of Keras 2")
        return
    if not takes_rate:
        end = plan.module.span(plain[1]).end
        plan.write(Span(end, end), f", {_RATE}")
        add_up_rows(plan, function, states)
    if not _is_bound(function, _RATE):
        _pass_the_rate(plan, function)


def _is_bound(function: cst.FunctionDef, name: str) -> bool:
    """Say whether a local variable has the name."""
    return any(
        isinstance(each, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.For)
        and any(isinstance(n, cst.Name) and n.value == name for n in descendants(each.target))
        for each in descendants(function.body)
    )


def _pass_the_rate(plan: Plan, function: cst.FunctionDef) -> None:
    """Read the rate that is passed, which is that of the step."""
    for each in descendants(function.body):
        parent = plan.module.parent(each)
        is_called = isinstance(parent, cst.Call) and parent.func is each
        if member_of_self(each, function) in {_RATE, "lr"} and not is_called:
            plan.replace(each, _RATE)


def add_up_rows(plan: Plan, function: cst.FunctionDef, states: States) -> None:
    """Add up the rows of a gradient that occur twice, where the class looks at rows."""
    gradient = parameters(function)[0]
    body = [each for each in function.body.body if not is_docstring(each)]
    if not body or not isinstance(function.body, cst.IndentedBlock):
        plan.stop(function.name, "it has no body")
        return
    inside = list(descendants(function.body))
    taken = {
        each.value
        for each in inside
        if isinstance(each, cst.Name)
        if not is_keyword_or_member(plan.module, each)
    }
    rows, positions, values = (_free(each, taken) for each in ("rows", "positions", "values"))
    if any(
        is_call_of_super(each, STEP)  # Keras' own look at rows
        or (isinstance(each, cst.Attribute | cst.Name) and _is_sparse(plan, each))
        for each in inside
    ):
        sparse, total = plan.spell(_SPARSE), plan.spell("tensorflow.math.unsorted_segment_sum")
        unique, size = plan.spell("tensorflow.unique"), plan.spell("tensorflow.size")
        lines = [
            f"if isinstance({gradient}, {sparse}):",
            "    # Rows that occur more than once are added up first.",
            f"    {rows}, {positions} = {unique}({gradient}.indices)",
            f"    {values} = {total}({gradient}.values, {positions}, {size}({rows}))",
            f"    {gradient} = {sparse}({values}, {rows}, {gradient}.dense_shape)",
        ]
        plan.insert_before(body[0], lines)
    elif any(_meets(each, function, gradient, states) for each in inside):
        dense = plan.spell("tensorflow.convert_to_tensor")
        lines = [f"{gradient} = {dense}({gradient})  # that of an embedding is sparse"]
        plan.insert_before(body[0], lines)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _is_sparse(plan: Plan, node: cst.CSTNode) -> bool:
    return (plan.module.qualified(node) or "").endswith(".IndexedSlices")


def _meets(node: cst.CSTNode, function: cst.FunctionDef, gradient: str, states: States) -> bool:
    """Say whether the gradient is multiplied by a variable: Keras 3 leaves it sparse then."""
    if not isinstance(node, cst.BinaryOperation):
        return False
    if not isinstance(node.operator, cst.Multiply | cst.Divide):
        return False
    names = states.locals_of(function)
    sides = (node.left, node.right)
    has_gradient = any(isinstance(each, cst.Name) and each.value == gradient for each in sides)
    return has_gradient and any(
        states.is_state(each, function, names)
        or member_of_self(each, function) in {_RATE, "lr", "_learning_rate"}
        or (isinstance(each, cst.Name) and each.value == _RATE)
        for each in sides
    )


# -- `apply_gradients`


def _apply(plan: Plan, function: cst.FunctionDef) -> None:
    """Pass the base class what it still takes; `fit` passes an iterator, not a list."""
    wanted = parameters(function)
    if not wanted or function.decorators:
        plan.stop(function.name, "its parameters are not those of Keras 2")
        return
    pairs = wanted[0]
    for each in list(descendants(function.body)):
        above = call_of_super(each)
        if above is None or above[0] != APPLY:
            continue
        call = above[1]
        first = call.args[0] if call.args else None
        if (
            first is None
            or first.star
            or (first.keyword and first.keyword.value != "grads_and_vars")
        ):
            plan.stop(call, "what is passed")
            continue
        if len(call.args) > 1:
            plan.settled.update(n for arg in call.args[1:] for n in descendants(arg))
            start = plan.module.outer_span(first.value).end
            end = plan.module.span(call).end - 1
            if "#" in plan.module.text[start:end]:
                plan.stop(call, "there is a comment in it")
            plan.write(Span(start, end), "")
    used = [e for e in descendants(function.body) if isinstance(e, cst.Name) and e.value == pairs]
    body = [each for each in function.body.body if not is_docstring(each)]
    if len(used) > 1 and not _makes_a_list(body[0], pairs):
        plan.insert_before(body[0], [f"{pairs} = list({pairs})"])


def _makes_a_list(statement: cst.CSTNode, name: str) -> bool:
    match statement:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=target))],
                    value=cst.Call(func=cst.Name(value="list" | "tuple")),
                )
            ]
        ):
            return target == name
    return False
