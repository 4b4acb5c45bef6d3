"""The protocol of ``tf.keras``: ``_create_slots``, ``_prepare_local``, ``_resource_apply_dense``.

With TensorFlow, Keras 3 hands ``update_step`` the same ``tf.Variable`` and the same gradient as
Keras 2 handed to ``_resource_apply_dense``: what the class does with them stays as it is. New are
the slots (``keras.Variable``), the hyperparameters (numbers) and the learning rate (an argument).
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import call_of_super
from kdoctor.analysis.dataflow.statements import is_docstring
from kdoctor.analysis.models.user_classes import receiver
from kdoctor.model import Span
from kdoctor.rules.idioms._optimizers.build_method import bound
from kdoctor.rules.idioms._optimizers.escaping_variables import check_handed_on, variables_in
from kdoctor.rules.idioms._optimizers.names import Names
from kdoctor.rules.idioms._optimizers.plan import Part, Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    OldOptimizer,
    call_of_self,
    parameters,
    statements,
    text_of,
)
from kdoctor.rules.idioms._optimizers.resource_calls import Calls
from kdoctor.syntax.libcst_walk import descendants

DENSE, SPARSE = "_resource_apply_dense", "_resource_apply_sparse"
SLOTS, PREPARE = "_create_slots", "_prepare_local"

_TENSORFLOW_ONLY = "the class still uses TensorFlow: it does not run on other backends"


def rewrite_resource(plan: Plan, optimizer: OldOptimizer, names: Names) -> None:
    """Plan the methods of a class of this protocol; ``__init__`` and ``get_config`` are done."""
    methods = optimizer.methods
    if DENSE not in methods:
        plan.stop(optimizer.node.name, f"it has no `{DENSE}`")
        return
    plan.doubt(_TENSORFLOW_ONLY)
    slots = _slots(plan, methods.get(SLOTS), names)
    prepared = names.free("_coefficients") if PREPARE in methods else None
    variables = variables_in(methods, DENSE, SPARSE)
    calls = Calls(plan, names, slots, prepared, variables)
    if PREPARE in methods:
        _prepare(plan, methods[PREPARE], calls)
    _update_step(plan, optimizer, calls)
    if SPARSE in methods:
        _signature(plan, methods[SPARSE], None, ("grad", "var", "indices"))
        calls.rewrite(methods[SPARSE], rate=None)
    for name, function in methods.items():
        if name not in {DENSE, SPARSE, PREPARE, SLOTS, "__init__", "get_config", *names.dropped}:
            calls.rewrite(function, rate=None)
    for name, function in methods.items():
        if name not in names.dropped:
            check_handed_on(plan, function, variables.get(name, set()))
    _class_level(plan, optimizer)


# -- slots


def _slots(plan: Plan, function: cst.FunctionDef | None, names: Names) -> dict[str, str]:
    """Make ``build`` of ``_create_slots``; return the attribute of each slot's list."""
    if function is None:
        return {}
    if parameters(function) != [parameters(function)[0]] or function.decorators:
        plan.stop(function.name, "its signature differs from that of Keras 2")
        return {}
    slots: dict[str, str] = {}
    for each in descendants(function.body):
        called = call_of_self(each, function)
        if called is not None and called[0] == "add_slot":
            _add_slot(plan, function, names, called[1], slots)
        above = call_of_super(each)
        if above is not None and above[0] == SLOTS:
            statement = plan.module.parent(above[1])
            if isinstance(statement, cst.Expr):
                plan.remove(statement)
    plan.replace(function.name, "build")
    _first_lines(plan, function, slots)
    return slots


def _first_lines(plan: Plan, function: cst.FunctionDef, slots: dict[str, str]) -> None:
    mine, variables = receiver(function), parameters(function)[0]
    lines = [
        f"if {mine}.built:",
        "    return",
        f"super().build({variables})",
        *(f"{mine}.{attribute} = []" for attribute in slots.values()),
    ]
    body = [each for each in function.body.body if not is_docstring(each)]
    if not body or not isinstance(function.body, cst.IndentedBlock):
        plan.stop(function.name, "it has no body")
        return
    plan.insert_before(body[0], lines)


def _add_slot(
    plan: Plan, function: cst.FunctionDef, names: Names, call: cst.Call, slots: dict[str, str]
) -> None:
    """Rewrite ``self.add_slot(var, "m", initializer)``."""
    given = bound(call, ("var", "slot_name", "initializer", "shape"))
    name = text_of(given.get("slot_name")) if given else None
    loop = _loop_around(plan, call)
    if given is None or name is None or not name.isidentifier() or loop is None:
        plan.stop(call, "which slots are made for which variables")
        return
    variable = given["var"]
    if not isinstance(loop.target, cst.Name) or plan.module.source(variable) != loop.target.value:
        plan.stop(call, "which slots are made for which variables")
        return
    if plan.module.source(loop.iter) != parameters(function)[0]:
        plan.stop(loop.iter, "it does not go through all variables")
        return
    attribute = slots.setdefault(name, names.free(f"_{name}_slots"))
    mine = receiver(function)
    made = _made(plan, given, name)
    plan.settled.update((call, call.func))
    plan.write(
        plan.module.span(call),
        f"{mine}.{attribute}.append({mine}.",
        *made,
        ")",
    )


def _made(plan: Plan, given: dict[str, cst.BaseExpression], name: str) -> tuple[Part, ...]:
    variable = plan.hole(given["var"])
    initializer, shape = given.get("initializer"), given.get("shape")
    quoted = f'name="{name}"'
    scalar = _zeros_of_shape(plan, initializer)
    size = scalar if scalar is not None else shape
    if size is not None:
        text = plan.module.source(given["var"])
        start = (", initializer=", plan.hole(initializer)) if initializer and not scalar else ()
        return ("add_variable(shape=", plan.hole(size), *start, f", dtype={text}.dtype, {quoted})")
    if initializer is None or text_of(initializer) == "zeros":
        return ("add_variable_from_reference(", variable, f", {quoted})")
    if _is_value(plan, initializer):
        plan.stop(initializer, "the slot starts with a value instead of an initializer")
    return (
        "add_variable_from_reference(", variable, f", {quoted}, initializer=",
        plan.hole(initializer), ")",
    )  # fmt: skip


def _zeros_of_shape(plan: Plan, node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """Return the shape of ``tf.zeros(shape=[], dtype=…)``."""
    if not isinstance(node, cst.Call) or plan.module.qualified(node.func) != "tensorflow.zeros":
        return None
    given = bound(node, ("shape", "dtype"))
    return given.get("shape") if given else None


def _is_value(plan: Plan, node: cst.BaseExpression) -> bool:
    """Say whether a tensor is passed: of Keras 3's, initializers are names or callables."""
    if isinstance(node, cst.SimpleString | cst.Name):
        return False
    name = plan.module.qualified(node.func) if isinstance(node, cst.Call) else None
    return name is None or "initializer" not in name


def _loop_around(plan: Plan, call: cst.Call) -> cst.For | None:
    """Return the loop that makes the slot for each variable, if the call is a statement in it.

    A condition between them may ask what the optimizer is like, not what the variable is.
    """
    statement = plan.module.parent(call)
    if not isinstance(statement, cst.Expr):
        return None
    for each in plan.module.ancestors(statement):
        if isinstance(each, cst.For):
            conditions = [
                test
                for test in plan.module.ancestors(statement)
                if isinstance(test, cst.If) and each in set(plan.module.ancestors(test))
            ]
            names = {n.value for n in descendants(each.target) if isinstance(n, cst.Name)}
            asks = any(
                isinstance(n, cst.Name) and n.value in names
                for test in conditions
                for n in descendants(test.test)
            )
            return None if asks or each.orelse is not None else each
        if not isinstance(each, cst.SimpleStatementLine | cst.IndentedBlock | cst.If | cst.Else):
            return None
    return None


# -- the update


def _update_step(plan: Plan, optimizer: OldOptimizer, calls: Calls) -> None:
    function = optimizer.methods[DENSE]
    taken = {each.value for each in descendants(function) if isinstance(each, cst.Name)}
    if "learning_rate" in taken - set(parameters(function)):
        # Only as an attribute or where it is bound by what is rewritten: a local one would clash.
        bound = {
            target.target.value
            for each in descendants(function.body)
            if isinstance(each, cst.Assign)
            for target in each.targets
            if isinstance(target.target, cst.Name)
        }
        if "learning_rate" in bound:
            plan.stop(function.name, "`learning_rate` is already a local variable")
    _signature(plan, function, "learning_rate", ("grad", "var"))
    plan.replace(function.name, "update_step")
    calls.rewrite(function, rate="learning_rate")
    if SPARSE in optimizer.methods:
        _dispatch(plan, optimizer, function)
    if calls.names.decays:
        _decayed_rate(plan, function, calls)


def _signature(
    plan: Plan, function: cst.FunctionDef, added: str | None, wanted: tuple[str, ...]
) -> None:
    """Leave ``grad`` and ``var``, drop ``apply_state``."""
    plain = [*function.params.posonly_params, *function.params.params][1:]
    extra = plain[len(wanted) :]
    is_known = len(plain) >= len(wanted) and all(each.name.value == "apply_state" for each in extra)
    others = (function.params.kwonly_params, function.params.star_kwarg, function.params.star_arg)
    if (
        not is_known
        or function.decorators
        or any(
            isinstance(each, cst.Param) or (isinstance(each, tuple | list) and each)
            for each in others
        )
    ):
        plan.stop(function.name, "its parameters are not those of Keras 2")
        return
    last = plain[len(wanted) - 1]
    start = plan.module.span(last).end
    end = plan.module.span(extra[-1]).end if extra else start
    for each in extra:
        plan.settled.update(descendants(each))
    if extra or added:
        plan.write(Span(start, end), f", {added}" if added else "")


def _dispatch(plan: Plan, optimizer: OldOptimizer, function: cst.FunctionDef) -> None:
    """Send the gradients of embeddings to the method that is for them, as Keras 2 did."""
    gradient, variable = parameters(function)[:2]
    mine = receiver(function)
    add_up = plan.spell("tensorflow.math.unsorted_segment_sum")
    lines = [
        f"if isinstance({gradient}, {plan.spell('tensorflow.IndexedSlices')}):",
        "    # Rows that occur more than once are added up first.",
        f"    rows, positions = {plan.spell('tensorflow.unique')}({gradient}.indices)",
        f"    size = {plan.spell('tensorflow.size')}(rows)",
        f"    values = {add_up}({gradient}.values, positions, size)",
        f"    return {mine}.{SPARSE}(values, {variable}, rows)",
    ]
    body = [each for each in function.body.body if not is_docstring(each)]
    if not body:
        plan.stop(function.name, "it has no body")
        return
    plan.insert_before(body[0], lines)
    del optimizer


def _decayed_rate(plan: Plan, function: cst.FunctionDef, calls: Calls) -> None:
    """Keep ``_decayed_lr``, which the base class had."""
    mine, cast = receiver(function), plan.spell("keras.ops.cast")
    attribute = calls.names.attribute("decay")
    lines = [
        f"def _decayed_lr({mine}, dtype):",
        f"    steps = {cast}({mine}.iterations, dtype)",
        f"    decay = {cast}({mine}.{attribute}, dtype)",
        f"    return {cast}({mine}.learning_rate, dtype) / (1.0 + decay * steps)",
        "",
    ]
    plan.insert_before(function, lines)


def _prepare(plan: Plan, function: cst.FunctionDef, calls: Calls) -> None:
    """Make a method that returns the coefficients of ``_prepare_local``, which stored them."""
    wanted = parameters(function)
    if len(wanted) != 3 or function.decorators:
        plan.stop(function.name, "its parameters are not those of Keras 2")
        return
    if any(isinstance(each, cst.Return) for each in descendants(function.body)):
        plan.stop(function.name, "it returns early")
    _, dtype, state = wanted
    plain = [*function.params.posonly_params, *function.params.params]
    start, end = plan.module.span(plain[1]).start, plan.module.span(plain[3]).end
    plan.write(Span(start, end), dtype)
    for each in plain[1:]:
        plan.settled.update(descendants(each))
    assert calls.prepared is not None
    plan.replace(function.name, calls.prepared)
    calls.rewrite(function, rate=None, state=state, dtype=dtype)
    plan.insert_after(function.body.body[-1], ["return coefficients"])


def _class_level(plan: Plan, optimizer: OldOptimizer) -> None:
    """Take ``_HAS_AGGREGATE_GRAD = True`` out, of which only Keras 2 knew."""
    for statement in statements(optimizer.node.body):
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name("_HAS_AGGREGATE_GRAD"))]):
                plan.remove(statement)


__all__ = ["DENSE", "PREPARE", "SLOTS", "SPARSE", "rewrite_resource"]
