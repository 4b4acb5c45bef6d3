"""Rewrite a class of either protocol completely, or not at all."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import arguments, call_of_super
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.idioms._optimizers import resource, steps, updates
from kdoctor.rules.idioms._optimizers.concrete_base import (
    STATE_LISTS,
    check_state,
    concrete_base,
    keep_start,
    pass_the_rate_on,
)
from kdoctor.rules.idioms._optimizers.config import rewrite_config
from kdoctor.rules.idioms._optimizers.constructor import RATES, rewrite_start
from kdoctor.rules.idioms._optimizers.names import Names
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    BASES,
    OldOptimizer,
    call_of_self,
    init_of_base,
)
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind, Type

_BASE = "keras.optimizers.Optimizer"
# The most telling first.
_UPDATES = (resource.DENSE, updates.HOOK, resource.SPARSE, resource.PREPARE, resource.SLOTS)
_HELP_INHERITED = (
    "Write the addition as `update_step(self, gradient, variable, learning_rate)`, which calls "
    "`super().update_step(gradient, variable, learning_rate)`; keep hyperparameters as plain "
    "attributes. Weight decay needs no class: use `weight_decay=…` of the Keras optimizers, and "
    '`optimizer.exclude_from_weight_decay(var_names=["bias"])`.'
)
_WEIGHTS = "`set_weights`, which read the weights of older Keras versions, is removed"


def plan_class(module: Module, facts: TargetFacts, optimizer: OldOptimizer) -> Plan:
    """Return the plan of a class; it has ``stops`` where the class is not understood."""
    plan = Plan(module, optimizer.node)
    concrete = concrete_base(facts, optimizer)
    if concrete is not None:
        _plan_below(plan, facts, optimizer, concrete)
        return plan
    if optimizer.base is None:
        plan.stop(optimizer.node.name, "its base class is not the plain `Optimizer` of Keras")
        return plan
    old_style = updates.HOOK in optimizer.methods
    is_of_2_11 = optimizer.is_of_2_11
    names = Names.of(optimizer, facts, old_style=old_style, is_of_2_11=is_of_2_11)
    if old_style and any(hook in optimizer.methods for hook in (resource.DENSE, resource.SLOTS)):
        plan.stop(optimizer.node.name, "it follows two protocols at once")
    _base(plan, optimizer)
    _drop_weights(plan, optimizer, names)
    start = optimizer.methods.get("__init__")
    if start is None:
        plan.stop(optimizer.node.name, "it has no `__init__`, so it has no learning rate")
        return plan
    rewrite_start(plan, start, names)
    if "get_config" in optimizer.methods:
        rewrite_config(plan, optimizer.methods["get_config"], names)
    if is_of_2_11:
        steps.rewrite_steps(plan, optimizer)
    elif old_style:
        updates.rewrite_updates(plan, optimizer, names)
    else:
        resource.rewrite_resource(plan, optimizer, names)
    names.check_methods(plan, optimizer)
    for name, function in optimizer.methods.items():
        if name not in names.dropped:
            names.check_members(plan, function)
    return plan


def _plan_below(plan: Plan, facts: TargetFacts, optimizer: OldOptimizer, base: Type) -> None:
    """Plan a class right below one of Keras' own optimizers."""
    names = Names.of(optimizer, facts, is_of_2_11=True, base=base)
    methods = optimizer.methods
    if "__init__" in methods:
        keep_start(plan, facts, methods["__init__"], names)
    if "get_config" in methods:
        rewrite_config(plan, methods["get_config"], names)
    if steps.STEP in methods:
        pass_the_rate_on(plan, methods[steps.STEP])
    inherited = {each for each in STATE_LISTS if names.is_of_base_alone(each)}
    steps.rewrite_steps(plan, optimizer, inherited)
    names.check_methods(plan, optimizer)
    for function in methods.values():
        check_state(plan, facts, function, names)
        names.check_members(plan, function)


def _base(plan: Plan, optimizer: OldOptimizer) -> None:
    """Name the base class as Keras 3 does."""
    name = optimizer.qualified or ""
    if not name.endswith("keras.optimizers.Optimizer") or name.startswith("tensorflow.python"):
        assert optimizer.base is not None
        plan.replace(optimizer.base, plan.spell(_BASE))


def _drop_weights(plan: Plan, optimizer: OldOptimizer, names: Names) -> None:
    """Leave out the ``set_weights`` that Keras' own optimizers had for those of Keras 1."""
    function = optimizer.methods.get("set_weights")
    if function is None:
        return
    last = function.body.body[-1]
    ends = last.body[0] if isinstance(last, cst.SimpleStatementLine) else None
    call = call_of_super(ends.value) if isinstance(ends, cst.Expr) else None
    stores = any(
        isinstance(each, cst.AssignTarget) and not isinstance(each.target, cst.Name)
        for each in descendants(function.body)
    )
    if call is None or call[0] != "set_weights" or stores or function.decorators:
        plan.stop(function.name, "what it does to the weights")
        return
    names.dropped.add("set_weights")
    plan.doubt(_WEIGHTS)
    plan.drop(function)


def finding(
    rule: Rule, module: Module, facts: TargetFacts, optimizer: OldOptimizer, advice: str
) -> Finding:
    """Return what a rule says of such a class, with the new class where it can be written."""
    plan = plan_class(module, facts, optimizer)
    name = optimizer.node.name.value
    inherited = _updated_as(module, optimizer)
    error: str | None
    if inherited is None:
        told, error = "calls `build` and `update_step`, which it lacks", _error(optimizer)
    else:
        hook = next(each for each in _UPDATES if each in optimizer.methods)
        told = f"never calls its `{hook}`, but calls the `update_step` of `{inherited}`"
        error = _error_of_hyperparameters(optimizer)
    return rule.finding(
        module.place(optimizer.node.name),
        f"`{name}` is a Keras 2 optimizer; Keras 3 {told}" + (f": {error}" if error else ""),
        symbol=name,
        confidence=Confidence.LIKELY,
        severity=Severity.ERROR if error else Severity.CHANGE,
        help=advice if inherited is None else _HELP_INHERITED,
        fix=NoFix(f"not understood: {plan.obstacles()}")
        if plan.stops
        else plan.fix(f"Rewrite `{name}` as a Keras 3 optimizer"),
    )


def _updated_as(module: Module, optimizer: OldOptimizer) -> str | None:
    """Return `Adam` for a class that gets the ``update_step`` of Keras' own `Adam`."""
    split = split_root(optimizer.qualified or "")
    if optimizer.base is not None or split is None or ".legacy." in split[1]:
        return None
    made = module.oracle.class_type(optimizer.qualified or "")
    leaf = split[1].rpartition(".")[2]
    is_whole = made is not None and made.kind is Kind.OPTIMIZER and leaf not in BASES
    return leaf if is_whole else None


def _error_of_hyperparameters(optimizer: OldOptimizer) -> str | None:
    start = optimizer.methods.get("__init__")
    calls = [] if start is None else [call_of_self(e, start) for e in descendants(start.body)]
    if all(call is None or call[0] != "_set_hyper" for call in calls):
        return None
    name = optimizer.node.name.value
    return f"AttributeError: '{name}' object has no attribute '_set_hyper'"


def _error(optimizer: OldOptimizer) -> str:
    """Return what Keras 3 raises, by what the class tells its base."""
    start = optimizer.methods.get("__init__")
    calls = [] if start is None else [init_of_base(each) for each in descendants(start.body)]
    call = next((each for each in calls if each is not None), None)
    given = [] if call is None else arguments(call)
    if call is None or any(each.keyword and each.keyword.value in RATES for each in given):
        return "NotImplementedError at the first step"
    if given and given[0].keyword is None and not given[0].star:
        return "ValueError: Argument `learning_rate` should be float"  # it is the name
    return "TypeError: BaseOptimizer.__init__() missing 1 required positional argument"
