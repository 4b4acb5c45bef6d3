"""Rewrite ``__init__`` of an optimizer: the call of ``super()``, hyperparameters as attributes.

Keras 2 kept hyperparameters as variables (``self._set_hyper("beta", beta)``,
``self.beta = K.variable(beta)``). Those of Keras 3 are plain attributes, but for the learning rate,
which the base class keeps; it must be told of it when it starts.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.calls import argument, arguments
from kdoctor.analysis.models.user_classes import member_of_self, receiver
from kdoctor.model import Span
from kdoctor.rules.idioms._optimizers.names import Names
from kdoctor.rules.idioms._optimizers.plan import Part, Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    backend_call,
    call_of_self,
    init_of_base,
    parameters,
    statements,
    text_of,
)
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.node_predicates import is_of_named_base

RATES = ("lr", "learning_rate")
"""What the learning rate was called."""

_KEPT_RATES = ("_learning_rate", *RATES)
_EMPTY = ("[]", "[], []")
_OF_2_11 = (
    *("name", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema"),
    *("ema_momentum", "ema_overwrite_frequency", "jit_compile"),
)
"""The parameters of the base class of TensorFlow 2.11 to 2.15, in their order."""
_FIXED = (
    "hyperparameters become plain numbers: setting them in a callback during `fit` has no effect"
)


class _Start(Struct):
    """What was read off ``__init__``."""

    base_call: cst.Call | None = None
    base_statement: cst.CSTNode | None = None
    rate: cst.BaseExpression | None = None
    rate_statement: cst.CSTNode | None = None
    decays: bool = False
    before: list[cst.CSTNode] = field(default_factory=list)
    between: list[cst.CSTNode] = field(default_factory=list)


def rewrite_start(plan: Plan, function: cst.FunctionDef, names: Names) -> None:
    """Plan the new ``__init__``."""
    start = _Start()
    for statement in statements(function.body):
        _read(plan, function, names, statement, start)
    if start.base_call is None or start.base_statement is None:
        plan.stop(function.name, "it does not call `super().__init__` as a separate statement")
        return
    later = _put_off(plan, function, names, start)
    names.decays = start.decays
    if not names.is_of_2_11:
        plan.doubt(_FIXED)
    keywords = _keywords(plan, function)
    told = argument(start.base_call, "learning_rate") if names.is_of_2_11 else None
    rate = _rate(plan, function, start, keywords)
    if told is not None:  # part of it is written for Keras 3
        rate = plan.module.source(told.value)
    place = _tell_the_base(plan, function, names, start, rate, keywords)
    if later:
        plan.insert_after(place, later)


def _read(
    plan: Plan,
    function: cst.FunctionDef,
    names: Names,
    statement: cst.CSTNode,
    start: _Start,
) -> None:
    if isinstance(statement, cst.With) and _is_name_scope(plan, statement):
        inner = statements(statement.body)
        if _all_go(plan, function, inner):
            plan.stop(statement, "it would be empty")
            return
        plan.unwrap(statement)
        plan.settled.update(descendants(statement.items[0]))
        for each in inner:
            _read(plan, function, names, each, start)
        return
    call = init_of_base(statement.value) if isinstance(statement, cst.Expr) else None
    if call is not None:
        if start.base_call is not None:
            plan.stop(statement, "`super().__init__` is called twice")
        start.base_call, start.base_statement = call, statement
        return
    if start.base_call is None:
        start.before.append(statement)
    elif start.rate is None:
        start.between.append(statement)
    _read_store(plan, function, names, statement, start)


def _read_store(
    plan: Plan,
    function: cst.FunctionDef,
    names: Names,
    statement: cst.CSTNode,
    start: _Start,
) -> None:
    """Read one statement that may set a hyperparameter."""
    match statement:
        case cst.Expr(value=cst.Call() as call):
            if (called := call_of_self(call, function)) and called[0] == "_set_hyper":
                _set_hyper(plan, function, names, statement, called[1], start)
            elif plan.module.source(call) == f"{receiver(function)}.__dict__.update(locals())":
                _spread(plan, function, names, statement)
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            member = member_of_self(target, function)
            if member is not None:
                _store(plan, names, statement, (member, value), start)
            elif _resets(plan, function, target, value):
                plan.remove(statement)


def _set_hyper(  # noqa: PLR0913, PLR0917 - what one statement needs to be understood
    plan: Plan,
    function: cst.FunctionDef,
    names: Names,
    statement: cst.CSTNode,
    call: cst.Call,
    start: _Start,
) -> None:
    name = text_of(call.args[0].value) if len(call.args) == 2 else None
    if name is None or any(each.star or each.keyword for each in call.args):
        plan.stop(statement, "the name of the hyperparameter is not a literal")
        return
    value = call.args[1].value
    if name == "learning_rate":
        _note_rate(plan, statement, value, start)
        return
    if name == "decay" and member_of_self(value, function) == "_initial_decay":
        start.decays = True
        plan.replace(call, f"{receiver(function)}.{names.attribute(name)} = decay")
        return
    plan.settled.add(call.func)
    left = f"{receiver(function)}.{names.attribute(name)} = "
    plan.write(plan.module.span(call), left, plan.hole(value))


def _store(
    plan: Plan,
    names: Names,
    statement: cst.CSTNode,
    stored: tuple[str, cst.BaseExpression],
    start: _Start,
) -> None:
    """Read ``self.member = value`` of the older style."""
    member, value = stored
    if names.is_of_2_11 and member in _KEPT_RATES:
        _note_rate(plan, statement, _built_rate(value) or value, start)
        return
    if not names.old_style:
        return
    variable = backend_call(plan.module, value, "variable")
    inner = variable.args[0].value if variable is not None and variable.args else None
    if member == "iterations" or (
        member in {"updates", "weights"} and plan.module.source(value) in _EMPTY
    ):
        plan.remove(statement)
    elif member in RATES:
        _note_rate(plan, statement, inner or value, start)
    elif inner is not None:
        assert variable is not None
        plan.settled.update((variable, variable.func))
        plan.write(plan.module.span(variable), plan.hole(inner))


def _built_rate(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return ``rate`` of ``self._build_learning_rate(rate)``."""
    match value:
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="_build_learning_rate")),
            args=[cst.Arg(value=rate, star="")],
        ):
            return rate
    return None


def _note_rate(plan: Plan, statement: cst.CSTNode, rate: cst.BaseExpression, start: _Start) -> None:
    if start.rate is not None:
        plan.stop(statement, "the learning rate is set twice")
        return
    start.rate = rate
    start.rate_statement = statement


def _is_name_scope(plan: Plan, statement: cst.With) -> bool:
    return len(statement.items) == 1 and bool(
        backend_call(plan.module, statement.items[0].item, "name_scope")
    )


def _all_go(plan: Plan, function: cst.FunctionDef, inner: list[cst.CSTNode]) -> bool:
    del plan
    gone = {"iterations", *RATES}
    return all(
        isinstance(each, cst.Assign) and member_of_self(each.targets[0].target, function) in gone
        for each in inner
    )


def _resets(
    plan: Plan, function: cst.FunctionDef, target: cst.BaseExpression, value: cst.BaseExpression
) -> bool:
    """Say whether a statement is ``self.updates, self.weights = [], []``."""
    if not isinstance(target, cst.Tuple):
        return False
    members = {member_of_self(each.value, function) for each in target.elements}
    return members == {"updates", "weights"} and plan.module.source(value) in _EMPTY


def _put_off(plan: Plan, function: cst.FunctionDef, names: Names, start: _Start) -> list[str]:
    """Keep in local variables what is set before ``super().__init__``; return what sets it later.

    Keras 3 lets nothing be set before. What is taken out of ``kwargs`` must be taken out before.
    """
    later = []
    for statement in start.before:
        if not _touches_self(statement, function):
            continue
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                member = member_of_self(target, function)
                if member is None or _touches_self(value, function):
                    member = None
            case _:
                member = None
        if member is None or member in _names_of(function) or member in RATES:
            plan.stop(statement, "it uses `self` before `super().__init__`, which Keras 3 forbids")
            continue
        assert isinstance(statement, cst.Assign)
        plan.replace(statement.targets[0].target, member)
        later.append(f"{receiver(function)}.{names.attribute(member)} = {member}")
    return later


def _touches_self(statement: cst.CSTNode, function: cst.FunctionDef) -> bool:
    name = receiver(function)
    return any(isinstance(each, cst.Name) and each.value == name for each in descendants(statement))


def _spread(plan: Plan, function: cst.FunctionDef, names: Names, statement: cst.CSTNode) -> None:
    """Write ``self.__dict__.update(locals())`` out, for what the class does not set itself."""
    mine = receiver(function)
    wanted = [
        each
        for each in parameters(function)
        if each not in RATES and each not in names.stored and each in names.read
    ]
    if not wanted:
        plan.remove(statement)
        return
    names.stored.update(wanted)
    indent = plan.indent(statement)
    lines = [f"{mine}.{names.attribute(each)} = {each}" for each in wanted]
    plan.replace(statement, f"\n{indent}".join(lines))


# -- `super().__init__`


def _keywords(plan: Plan, function: cst.FunctionDef) -> str:
    """Return the name of ``**kwargs``, which is added where there is none.

    The configuration of every optimizer of Keras 3 has keys for the base class.
    """
    params = function.params
    if params.star_kwarg is not None:
        return params.star_kwarg.name.value
    everything = [
        *params.posonly_params, *params.params, *params.kwonly_params,
        *([params.star_arg] if isinstance(params.star_arg, cst.Param) else []),
    ]  # fmt: skip
    last = max(everything, key=lambda each: plan.module.span(each).end)
    end = plan.module.span(last).end
    comma = plan.module.comma_after(last)
    if comma is not None:
        plan.write(Span(comma.end, comma.end), " **kwargs")
    else:
        plan.write(Span(end, end), ", **kwargs")
    return "kwargs"


def _rate(plan: Plan, function: cst.FunctionDef, start: _Start, keywords: str) -> str:
    """Return what the base class is to be told as its ``learning_rate``."""
    if start.rate is None:
        if "learning_rate" in _names_of(function):
            return "learning_rate"
        return f'{keywords}.pop("learning_rate", 1.0)'
    rate = start.rate
    if isinstance(rate, cst.Name) and rate.value == "lr" and "lr" in _names_of(function):
        return _renamed_rate(plan, function, keywords)
    passed = _taken_from_keywords(rate, keywords)
    if passed is not None:
        return f'{keywords}.pop("lr", {plan.module.source(passed)})'
    if "learning_rate" in _names_of(function):
        return plan.module.source(rate)
    return f'{keywords}.pop("learning_rate", {plan.module.source(rate)})'


def _renamed_rate(plan: Plan, function: cst.FunctionDef, keywords: str) -> str:
    """Call the parameter ``lr`` what the base class calls it; ``lr=`` may still be passed."""
    if "learning_rate" in _names_of(function):
        plan.stop(function.name, "it accepts both `lr` and `learning_rate`")
    for each in descendants(function):
        if isinstance(each, cst.Name) and each.value == "lr" and _is_a_variable(plan, each):
            plan.replace(each, "learning_rate")
    parameter = next(
        each for each in descendants(function.params)
        if isinstance(each, cst.Param) and each.name.value == "lr"
    )  # fmt: skip
    if parameter.default is None:
        plan.doubt("callers have to pass `learning_rate=` instead of `lr=`")
        return "learning_rate"
    return f'{keywords}.pop("lr", learning_rate)'


def _is_a_variable(plan: Plan, name: cst.Name) -> bool:
    above = plan.module.parent(name)
    if isinstance(above, cst.Attribute):
        return above.value is name
    return not (isinstance(above, cst.Arg) and above.keyword is name)


def _names_of(function: cst.FunctionDef) -> set[str]:
    return {each.name.value for each in descendants(function.params) if isinstance(each, cst.Param)}


def _taken_from_keywords(rate: cst.BaseExpression, keywords: str) -> cst.BaseExpression | None:
    """Return ``rate`` of ``kwargs.get("lr", rate)``."""
    match rate:
        case cst.Call(
            func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="get" | "pop")),
            args=[cst.Arg(value=key), cst.Arg(value=default)],
        ) if name == keywords and text_of(key) == "lr":
            return default
    return None


def _tell_the_base(  # noqa: PLR0913, PLR0917 - what the call needs to be written
    plan: Plan,
    function: cst.FunctionDef,
    names: Names,
    start: _Start,
    rate: str,
    keywords: str,
) -> cst.CSTNode:
    """Write the new call of ``super().__init__``, where the learning rate is known."""
    call, statement = start.base_call, start.base_statement
    assert call is not None
    assert statement is not None
    if "#" in plan.module.source(call):
        plan.stop(call, "there is a comment in it")
    opened, between, closed = plan.layout(call)
    given = _arguments(plan, names, call, keywords)
    first: list[tuple[Part, ...]] = [(f"learning_rate={rate}",)]
    separated = [part for each in (*first, *given) for part in (between, *each)][1:]
    parts = (opened, *separated, closed)
    plan.settled.update(descendants(call))
    decay = [f'decay = {keywords}.pop("decay", 0.0)'] if start.decays else []
    if start.decays and "decay" in _names_of(function):
        plan.stop(function.name, "it accepts `decay` and passes a different one on")
    # Named, the base is written as another class may: all that it is told is by keyword.
    func = "super().__init__" if is_of_named_base(call) else plan.module.source(call.func)
    place = statement if start.rate is None else _place(plan, function, start)
    if place is statement:
        if start.rate_statement is not None:
            plan.remove(start.rate_statement)
        if decay:
            plan.insert_before(statement, decay)
        span = plan.module.span(call)
        plan.write(span, func, *parts)
        return statement
    plan.remove(statement)
    indent = plan.indent(statement)
    head = "".join(f"{line}\n{indent}" for line in decay)
    span = plan.module.span(place)
    plan.settled.update(descendants(place))
    plan.write(span, f"{head}{func}", *parts)
    return place


def _place(plan: Plan, function: cst.FunctionDef, start: _Start) -> cst.CSTNode:
    """Return the statement that the call is to take the place of.

    Where names in the rate get another value after ``super().__init__``, the call goes down.
    """
    assert start.rate is not None
    assert start.rate_statement is not None
    assert start.base_statement is not None
    wanted = {each.value for each in descendants(start.rate) if isinstance(each, cst.Name)}
    bound = {name for each in start.between for name in _bound(each)}
    if any(member_of_self(each, function) for each in descendants(start.rate)):
        plan.stop(start.rate_statement, "the learning rate is read from `self`")
    if not wanted & bound:
        return start.base_statement
    for each in start.between:
        if each is not start.rate_statement and _touches_self(each, function):
            plan.stop(each, "`super().__init__` must be called before it, but cannot be called yet")
    return start.rate_statement


def _bound(statement: cst.CSTNode) -> Iterator[str]:
    for each in descendants(statement):
        if isinstance(each, cst.AssignTarget) and isinstance(each.target, cst.Name):
            yield each.target.value


def _arguments(plan: Plan, names: Names, call: cst.Call, keywords: str) -> list[tuple[Part, ...]]:
    """Return what else was passed to the base class; the first of Keras 2 was the name."""
    by_position = _OF_2_11 if names.is_of_2_11 else _OF_2_11[:1]
    parts: list[tuple[Part, ...]] = []
    for position, each in enumerate(arguments(call)):
        keyword = each.keyword.value if each.keyword is not None else ""
        if each.star == "**":
            parts.append(("**", plan.hole(each.value)))
            continue
        if each.star or (not keyword and position >= len(by_position)):
            plan.stop(call, "a positional argument has no parameter in Keras 3")
            continue
        keyword = keyword or by_position[position]
        if keyword in {"jit_compile", "learning_rate"} and names.is_of_2_11:
            continue  # whether XLA compiles a step is said in `compile`
        if keyword in {"gradient_aggregator", "gradient_transformers", "mesh", *RATES}:
            plan.stop(call, f"`{keyword}=` has no counterpart")
        else:
            parts.append((f"{keyword}=", plan.hole(each.value)))
    if not any(each.star == "**" for each in call.args):
        parts.append((f"**{keywords}",))
    return parts
