"""The protocol of standalone Keras: ``get_updates``, which updates all variables at once.

Its loop over the variables becomes ``update_step``, the lists of state before it are made in
``build``; what comes before the loop (the step, the decayed rate) is worked out for each variable.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.model import Span
from kdoctor.rules.idioms._optimizers.escaping_variables import check_handed_on
from kdoctor.rules.idioms._optimizers.names import Names
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    OldOptimizer,
    backend_call,
    call_of_self,
    is_text,
    parameters,
    statements,
)
from kdoctor.rules.idioms._optimizers.state import State, zeros_like
from kdoctor.rules.idioms._optimizers.update_parts import (
    Updates,
    collected,
    counts_steps,
    is_member_name,
    iterated,
    pair,
)
from kdoctor.syntax.libcst_walk import descendants

HOOK = "get_updates"
_CONSTRAINT = "# Keras applies the constraint of the variable after this step."
_ALL_AT_ONCE = "it concerns all variables at once; `update_step` sees one"
_RATES = ("lr", "learning_rate")


def rewrite_updates(plan: Plan, optimizer: OldOptimizer, names: Names) -> None:
    """Plan ``build`` and ``update_step``; ``__init__`` and ``get_config`` are done."""
    function = optimizer.methods[HOOK]
    wanted = parameters(function)
    if "params" not in wanted or not set(wanted) <= {"params", "loss", "constraints"}:
        plan.stop(function.name, "its parameters are not those of Keras 2")
        return
    names.stored -= {"updates", "weights", "iterations"}
    updates = Updates(function, "params", State(names))
    for statement in statements(function.body):
        _top_level(plan, updates, statement)
    if updates.loop is None:
        plan.stop(function.name, "it has no loop over the variables and their gradients")
        return
    _check_kept(plan, updates)
    for each in optimizer.methods.values():
        check_handed_on(plan, each, {updates.variable} if each is function else set())
    _rates(plan, updates)
    _signature(plan, updates)
    if updates.state.lines:
        _build(plan, updates)


# -- before the loop


def _top_level(plan: Plan, updates: Updates, statement: cst.CSTNode) -> None:
    if is_text(statement):
        return
    if isinstance(statement, cst.For):
        _loop(plan, updates, statement)
    elif isinstance(statement, cst.Return) and isinstance(statement.value, cst.ListComp):
        _comprehension(plan, updates, statement, statement.value)
    elif isinstance(statement, cst.Return) or _is_bookkeeping(plan, updates, statement):
        plan.remove(statement)
    elif (
        isinstance(statement, cst.If)
        and updates.loop is None
        and _makes_state(plan, updates, statement)
    ):
        plan.drop(statement)
    elif updates.loop is not None:
        plan.stop(statement, "it comes after the loop over the variables")
    elif updates.state.read(plan, statement, updates.params):
        plan.remove(statement)
    else:
        updates.kept.append(statement)


def _is_bookkeeping(plan: Plan, updates: Updates, statement: cst.CSTNode) -> bool:
    """Say whether a statement only feeds what Keras 3 sees to itself: gradients, steps, lists."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            member = member_of_self(target, updates.function)
            called = call_of_self(value, updates.function)
            if called is not None and called[0] == "get_gradients":
                updates.gradients = plan.module.source(target)
                return True
            if member == "weights":
                return True
            if member == "updates" or (isinstance(target, cst.Name) and target.value == "updates"):
                updates.collected = plan.module.source(target)
                return isinstance(value, cst.List) and all(
                    counts_steps(plan, updates, each.value) for each in value.elements
                )
        case cst.Expr(value=cst.Call() as call):
            update = collected(plan, updates, call)
            return update is not None and counts_steps(plan, updates, update)
    return False


def _makes_state(plan: Plan, updates: Updates, statement: cst.If) -> bool:
    """Say whether both branches only make lists of state; they are made in ``build`` then."""
    branches: list[tuple[str, cst.BaseSuite]] = [
        (f"if {plan.module.source(statement.test)}:", statement.body)
    ]
    if isinstance(statement.orelse, cst.Else):
        branches.append(("else:", statement.orelse.body))
    elif statement.orelse is not None:
        return False
    inner = [statements(body) for _, body in branches]
    trial = updates.state.copy()
    if not all(
        trial.read(plan, each, updates.params, indent="    ") for block in inner for each in block
    ):
        return False
    if any(isinstance(each, cst.Name) and each.value != updates.mine
           for each in descendants(statement.test)
           if not is_member_name(plan, each)):  # fmt: skip
        plan.stop(statement.test, "what state there is depends on it")
    for (header, _), block in zip(branches, inner, strict=True):
        updates.state.lines.append(header)
        for each in block:
            updates.state.read(plan, each, updates.params, indent="    ")
    return True


# -- the loop


def _loop(plan: Plan, updates: Updates, loop: cst.For) -> None:
    lines = _roles(plan, updates, loop)
    if lines is None:
        return
    updates.loop = loop.body
    names = {updates.variable, *updates.state.named.values()}
    for statement in statements(loop.body):
        made = _made_in_loop(plan, updates, statement)
        names |= {made} if made is not None else set()
    indent = plan.indent(loop)
    plan.unwrap(loop, "".join(f"{indent}{line}\n" for line in lines))
    if isinstance(loop.orelse, cst.Else):
        plan.stop(loop, "its `else`")
    _body(plan, updates, statements(loop.body), names, set())


def _comprehension(plan: Plan, updates: Updates, statement: cst.Return, made: cst.ListComp) -> None:
    """Rewrite ``return [K.update(p, p - g) for p, g in zip(params, grads)]``."""
    lines = _roles(plan, updates, made.for_in)
    found = pair(plan, made.elt)
    if lines is None:
        return
    updates.loop = made.elt
    names = {updates.variable, *updates.state.named.values()}
    inner = made.for_in.ifs or made.for_in.inner_for_in
    if found is None or inner or plan.module.source(found[1]) not in names:
        plan.stop(statement, "what is updated")
        return
    method, variable, value = found
    head = f"\n{plan.indent(statement)}".join([*lines, f"{updates.mine}.{method}("])
    if isinstance(made.elt, cst.Call):
        plan.settled.update(descendants(made.elt.func))
    plan.settled.update((made, made.elt, *descendants(made.for_in)))
    plan.write(plan.module.span(statement), head, plan.hole(variable), ", ", plan.hole(value), ")")


def _roles(plan: Plan, updates: Updates, loop: cst.For | cst.CompFor) -> list[str] | None:
    """Note what the names of the loop stand for; return the lines that bind them."""
    if updates.loop is not None:
        plan.stop(loop, "there is a second loop")
        return None
    pairs = iterated(loop)
    sources = dict(pairs or [])
    if pairs is None or updates.params not in sources or updates.gradients not in sources:
        plan.stop(loop.iter, "it does not go through the variables and their gradients")
        return None
    updates.variable, updates.gradient = sources[updates.params], sources[updates.gradients]
    index = f"{updates.mine}._get_variable_index({updates.variable})"
    zeros, gradient = plan.spell("keras.ops.zeros_like"), updates.gradient
    # Variables, which hyperparameters were, took the sparse gradients of an `Embedding`.
    lines = [f"{gradient} = {zeros}({updates.variable}) + {gradient}  # dense, if it was sparse"]
    for source, name in pairs:
        if source in {updates.params, updates.gradients}:
            continue
        if source not in updates.state.lists:
            plan.stop(loop.iter, f"what `{source}` holds")
            continue
        updates.state.named[source] = name
        lines.append(f"{name} = {updates.mine}.{updates.state.place(source)}[{index}]")
    return lines


def _made_in_loop(plan: Plan, updates: Updates, statement: cst.CSTNode) -> str | None:
    """Move ``m = K.zeros(K.int_shape(p))`` inside the loop to ``build``."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            made = zeros_like(plan, value, updates.variable)
            if made is None:
                return None
            source = f"{name}_slots"
            updates.state.add(source, name, made)
            index = f"{updates.mine}._get_variable_index({updates.variable})"
            place = f"{updates.mine}.{updates.state.place(source)}[{index}]"
            plan.replace(value, place)
            return name
    return None


def _body(
    plan: Plan,
    updates: Updates,
    body: list[cst.CSTNode],
    locals_: set[str],
    updated: set[str],
) -> set[str]:
    """Rewrite the statements of the loop; return which variables have a new value after them."""
    for statement in body:
        if _is_constraint(plan, updates, statement):
            plan.drop(statement, _CONSTRAINT)
            continue
        if isinstance(statement, cst.If):
            _check_reads(plan, statement.test, updated)
            branches = [statement.body]
            if isinstance(statement.orelse, cst.Else):
                branches.append(statement.orelse.body)
            elif statement.orelse is not None:
                plan.stop(statement, "its `elif`")
            after = [
                _body(plan, updates, statements(each), locals_, set(updated)) for each in branches
            ]
            updated |= set().union(*after)
            continue
        if isinstance(statement, cst.For | cst.While | cst.Try | cst.With | cst.FunctionDef):
            plan.stop(statement, "what it does to the updates is not followed")
            continue
        _check_reads(plan, statement, updated)
        _update(plan, updates, statement, locals_, updated)
    return updated


def _check_reads(plan: Plan, node: cst.CSTNode, updated: set[str]) -> None:
    """Stop where a variable is read that has its new value already: in a graph it had the old."""
    for each in descendants(node):
        is_new = isinstance(each, cst.Name) and each.value in updated
        if is_new and not is_member_name(plan, each):
            plan.stop(node, f"it reads `{plan.module.source(each)}` after its update")
            return


def _update(
    plan: Plan,
    updates: Updates,
    statement: cst.CSTNode,
    locals_: set[str],
    updated: set[str],
) -> None:
    """Make ``self.assign(m, m_t)`` of ``self.updates.append(K.update(m, m_t))``."""
    if not isinstance(statement, cst.Expr) or not isinstance(statement.value, cst.Call):
        return
    update = collected(plan, updates, statement.value)
    if update is None:
        return
    found = pair(plan, update)
    if found is not None and member_of_self(found[1], updates.function) == "iterations":
        plan.remove(statement)
        return
    if found is None or not isinstance(found[1], cst.Name) or found[1].value not in locals_:
        plan.stop(statement, "what is updated")
        return
    method, variable, value = found
    updated.add(plan.module.source(variable))
    plan.settled.update(descendants(statement.value.func))
    plan.settled.update((statement.value, update))
    if isinstance(update, cst.Call):
        plan.settled.update(descendants(update.func))
    plan.write(
        plan.module.span(statement.value),
        f"{updates.mine}.{method}(",
        plan.hole(variable),
        ", ",
        plan.hole(value),
        ")",
    )


def _is_constraint(plan: Plan, updates: Updates, statement: cst.CSTNode) -> bool:
    """Say whether a statement only applies the constraint of the variable."""
    if not isinstance(statement, cst.If) or statement.orelse is not None:
        return False
    test = "".join(plan.module.source(statement.test).split()).replace('"', "'")
    name = updates.variable
    known = (
        f"getattr({name},'constraint',None)isnotNone",
        f"{name}.constraintisnotNone",
        f"hasattr({name},'constraint')and{name}.constraintisnotNone",
        f"{name}inconstraints",
        f"{name}.constraint",
    )
    if test not in known:
        return False
    return all(isinstance(each, cst.Assign) for each in statements(statement.body))


# -- around it


def _check_kept(plan: Plan, updates: Updates) -> None:
    """Stop at statements before the loop that look at more than one variable."""
    whole = {updates.params, "loss", "constraints", updates.collected, *updates.state.lists}
    whole |= {updates.gradients, *updates.state.shapes}
    inside = [updates.loop] if updates.loop is not None else []
    for statement in [*updates.kept, *inside]:
        for each in descendants(statement):
            if each in plan.settled or not isinstance(each, cst.Name):
                continue
            if each.value in whole and not is_member_name(plan, each):
                plan.stop(_statement_of(plan, each), _ALL_AT_ONCE)
                break


def _statement_of(plan: Plan, node: cst.CSTNode) -> cst.CSTNode:
    for each in plan.module.ancestors(node):
        if isinstance(each, cst.BaseSmallStatement):
            return each
    return node


def _rates(plan: Plan, updates: Updates) -> None:
    """Read the learning rate from the argument, and dtypes from the variable."""
    function = updates.function
    for node in descendants(function.body):
        if node in plan.settled:
            continue
        if member_of_self(node, function) in _RATES:
            parent = plan.module.parent(node)
            if isinstance(parent, cst.AssignTarget | cst.AugAssign) and parent.target is node:
                plan.stop(parent, "it changes the learning rate itself")
                continue
            cast = plan.spell("keras.ops.cast")
            plan.replace(node, f"{cast}(learning_rate, {updates.variable}.dtype)")
        call = backend_call(plan.module, node, "dtype")
        if call is not None and len(call.args) == 1:
            of = call.args[0].value
            is_state = isinstance(of, cst.Name) and of.value == updates.variable
            if is_state or member_of_self(of, function):
                plan.replace(call, f"{updates.variable}.dtype")


def _signature(plan: Plan, updates: Updates) -> None:
    function = updates.function
    plain = [*function.params.posonly_params, *function.params.params][1:]
    start, end = plan.module.span(plain[0]).start, plan.module.span(plain[-1]).end
    if _binds(function, "learning_rate"):
        plan.stop(function.name, "`learning_rate` is already a local variable")
    plan.write(Span(start, end), f"{updates.gradient}, {updates.variable}, learning_rate")
    for each in plain:
        plan.settled.update(descendants(each))
    plan.replace(function.name, "update_step")
    for decorator in function.decorators:
        name = plan.module.source(decorator.decorator).rpartition(".")[2]
        if name in {"legacy_get_updates_support", "symbolic"}:
            plan.drop(decorator)
        else:
            plan.stop(decorator, "what it does to the method")


def _binds(function: cst.FunctionDef, name: str) -> bool:
    return any(
        isinstance(each, cst.AssignTarget)
        and isinstance(each.target, cst.Name)
        and each.target.value == name
        for each in descendants(function.body)
    )


def _build(plan: Plan, updates: Updates) -> None:
    mine = updates.mine
    lines = [
        f"def build({mine}, variables):",
        f"    if {mine}.built:",
        "        return",
        "    super().build(variables)",
        *(f"    {line}" for line in updates.state.written(mine)),
        "",
    ]
    first = updates.function.decorators[0] if updates.function.decorators else updates.function
    plan.insert_before(first, lines)
