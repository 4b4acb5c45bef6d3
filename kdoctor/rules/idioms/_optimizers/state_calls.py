"""Rewrite how methods for TensorFlow 2.11 to 2.15 find and use the variables of the optimizer."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import call_of_super
from kdoctor.analysis.models.user_classes import member_of_self, receiver
from kdoctor.model import Span
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import call_of_self
from kdoctor.rules.idioms._optimizers.states import States
from kdoctor.syntax.libcst_walk import descendants

_ASSIGNMENTS = frozenset({"assign", "assign_add", "assign_sub"})
# What a `keras.Variable` has as a `tf.Variable` has it, with the TensorFlow backend.
_ALIKE = frozenset({*_ASSIGNMENTS, "shape", "numpy", "trainable"})
# What a `keras.Variable` lacks, or has as something else.
_OF_TENSORFLOW = frozenset({
    *("batch_scatter_update", "device", "eval", "gather_nd", "get_shape", "is_initialized", "op"),
    *("read_value", "ref", "scatter_add", "scatter_div", "scatter_max", "scatter_min"),
    *("scatter_mul", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "scatter_sub"),
    *("scatter_update", "sparse_read", "value", "_unique_id"),
})  # fmt: skip
_KEPT = "`assign` gives the new value in Keras 3, not the variable"
_BASE_ONLY = "the variable may be one of Keras 3 here, which lacks it"
_ITERATIONS = frozenset({"iterations", "_iterations"})
_NAMED = (
    "`variable.path` replaces `variable.name`: it has no `:0` and does not contain the model's name"
)


def rewrite_body(
    plan: Plan, function: cst.FunctionDef, states: States, variables: set[str]
) -> None:
    """Rewrite one method; ``variables`` are the names that hold a ``tf.Variable`` of the model."""
    names = states.locals_of(function)
    kept = _kept(function, states, names)
    _index_of_variables(plan, function)
    for node in list(descendants(function.body)):
        if node in plan.settled:
            continue
        if isinstance(node, cst.Attribute):
            _attribute(plan, function, node, states, names, kept, variables)
        called = call_of_self(node, function)
        if called is not None and called[0] == "_compute_current_learning_rate":
            statement = plan.module.parent(node)
            if isinstance(statement, cst.Expr):
                plan.remove(statement)
        above = call_of_super(node)
        if above is not None and above[0] == "update_step":
            plan.stop(node, "the base class has no update of its own")


def _kept(function: cst.FunctionDef, states: States, names: set[str]) -> set[str]:
    """Return the names that hold what ``assign`` gave."""
    return {
        target.target.value
        for each in descendants(function.body)
        if isinstance(each, cst.Assign) and _assigns(each.value, function, states, names)
        for target in each.targets
        if isinstance(target.target, cst.Name)
    } - names


def _assigns(
    value: cst.BaseExpression, function: cst.FunctionDef, states: States, names: set[str]
) -> bool:
    match value:
        case cst.Call(func=cst.Attribute(value=holder, attr=cst.Name(value=name))):
            return name in _ASSIGNMENTS and states.is_state(holder, function, names)
    return False


# -- where a variable stands in the lists


def _index_of_variables(plan: Plan, function: cst.FunctionDef) -> None:
    """Write ``self._get_variable_index(v)`` for ``self._index_dict[self._var_key(v)]``."""
    mine = receiver(function)
    keys = _keys(function)
    used: set[str] = set()
    for node in list(descendants(function.body)):
        if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
            continue
        inner = node.slice[0].slice
        if member_of_self(node.value, function) != "_index_dict" or not isinstance(
            inner, cst.Index
        ):
            continue
        variable = _variable_of_key(inner.value, function)
        if variable is None and isinstance(inner.value, cst.Name) and inner.value.value in keys:
            used.add(inner.value.value)
            variable = _variable_of_key(keys[inner.value.value].value, function)
        if variable is not None:
            plan.replace(node, f"{mine}._get_variable_index(", plan.hole(variable), ")")
    for name in used:
        others = [
            each
            for each in descendants(function.body)
            if isinstance(each, cst.Name) and each.value == name and each not in plan.settled
        ]
        if len(others) == 1:  # it is the target of the assignment itself
            plan.remove(keys[name])
    for node in descendants(function.body):
        if member_of_self(node, function) == "_index_dict" and node not in plan.settled:
            parent = plan.module.parent(node)
            if isinstance(parent, cst.AssignTarget):
                continue
            plan.replace(node, f"{mine}._trainable_variables_indices")


def _keys(function: cst.FunctionDef) -> dict[str, cst.Assign]:
    """Return the names that are bound once, to the key of a variable."""
    found: dict[str, list[cst.Assign]] = {}
    for each in descendants(function.body):
        match each:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
                found.setdefault(name, []).append(each)
    return {
        name: bound[0]
        for name, bound in found.items()
        if len(bound) == 1 and _variable_of_key(bound[0].value, function) is not None
    }


def _variable_of_key(
    node: cst.BaseExpression, function: cst.FunctionDef
) -> cst.BaseExpression | None:
    called = call_of_self(node, function)
    if called is None or called[0] != "_var_key" or len(called[1].args) != 1:
        return None
    return called[1].args[0].value


# -- attributes of variables


def _attribute(  # noqa: PLR0913, PLR0917 - what one attribute needs to be understood
    plan: Plan,
    function: cst.FunctionDef,
    node: cst.Attribute,
    states: States,
    names: set[str],
    kept: set[str],
    variables: set[str],
) -> None:
    base, member = node.value, node.attr.value
    is_state = states.is_state(base, function, names) and not isinstance(base, cst.Call)
    if is_state or member_of_self(base, function) in _ITERATIONS:
        if not _is_alike(plan, node):
            _ask_tensorflow(plan, node)
    elif member_of_self(base, function) == "_learning_rate" and member in _OF_TENSORFLOW:
        plan.stop(node, _BASE_ONLY)
    elif isinstance(base, cst.Name) and base.value in kept and member not in {"dtype", "shape"}:
        plan.stop(node, _KEPT)
    elif isinstance(base, cst.Name) and base.value in variables:
        if member == "name":
            plan.doubt(_NAMED)
            mine = receiver(function)
            index = f"{mine}._get_variable_index({base.value})"
            plan.replace(node, f"{mine}._trainable_variables[{index}].path")
    elif isinstance(base, cst.Name) and member in _OF_TENSORFLOW and _is_local(plan, base):
        plan.stop(node, _BASE_ONLY)
    elif member == "name" and function.name.value == "build" and _is_local(plan, base):
        plan.doubt(_NAMED)
        source = plan.module.source(base)
        plan.replace(node, f'getattr({source}, "path", {source}.name)')


def _ask_tensorflow(plan: Plan, node: cst.Attribute) -> None:
    """Ask the ``tf.Variable`` that a variable of Keras 3 holds as its ``value``."""
    end, parent = plan.module.outer_span(node.value).end, plan.module.parent(node)
    is_called = isinstance(parent, cst.Call) and parent.func is node and not parent.args
    if node.attr.value in {"value", "read_value"} and is_called and parent is not None:
        plan.write(Span(end, plan.module.span(parent).end), ".value")
    else:
        plan.write(Span(end, end), ".value")


def _is_alike(plan: Plan, node: cst.Attribute) -> bool:
    """Say whether a variable of Keras 3 answers as one of TensorFlow does."""
    member, parent = node.attr.value, plan.module.parent(node)
    if member in _ASSIGNMENTS:
        return not isinstance(parent, cst.Call) or (
            len(parent.args) == 1 and (not (k := parent.args[0].keyword) or k.value == "value")
        )
    if member == "dtype":  # text in Keras 3
        return not isinstance(parent, cst.Attribute | cst.Comparison | cst.ComparisonTarget)
    return member in _ALIKE


def _is_local(plan: Plan, node: cst.CSTNode) -> bool:
    """Say whether a name is a variable of the function, no module."""
    return isinstance(node, cst.Name) and plan.module.qualified(node) is None
