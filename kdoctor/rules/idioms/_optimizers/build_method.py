"""Rewrite ``build`` of an optimizer for TensorFlow 2.11 to 2.15, and what makes its variables.

Keras 2 called ``build`` at every step, and ``_built`` was for the class itself to set. Keras 3
calls it once, but a program may call it as well: its own optimizers return if ``built`` is true.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import call_of_super, value_of
from kdoctor.analysis.dataflow.statements import is_docstring
from kdoctor.analysis.models.user_classes import member_of_self, receiver
from kdoctor.rules.idioms._optimizers.plan import Part, Plan
from kdoctor.rules.idioms._optimizers.protocols import call_of_self, statements
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal

BUILD = "build"
_FROM_REFERENCE = ("model_variable", "variable_name", "shape", "initial_value")
_ALONE = ("shape", "dtype", "initializer", "name")
_BUILT = "_built"
_FILLED = {
    "tensorflow.zeros_like": "zeros",
    "tensorflow.zeros": "zeros",
    "tensorflow.ones_like": "ones",
    "tensorflow.ones": "ones",
}


def rewrite_build(plan: Plan, function: cst.FunctionDef) -> None:
    """Return early where it is built; what asked for that itself goes."""
    mine = receiver(function)
    body = [each for each in function.body.body if not is_docstring(each)]
    calls = [call_of_super(each) for each in descendants(function.body)]
    if not any(each is not None and each[0] == BUILD for each in calls):
        plan.stop(function.name, "it does not call `super().build`")
        return
    if not body or not isinstance(function.body, cst.IndentedBlock):
        plan.stop(function.name, "it has no body")
        return
    plan.insert_before(body[0], [f"if {mine}.built:", "    return"])
    for each in body:
        if isinstance(each, cst.If) and _returns_where_built(each, function):
            plan.drop(each)


def _returns_where_built(statement: cst.If, function: cst.FunctionDef) -> bool:
    """Say whether it is ``if self._built: return``, however it asks."""
    inner = statements(statement.body)
    returns = len(inner) == 1 and isinstance(inner[0], cst.Return) and inner[0].value is None
    return returns and statement.orelse is None and _asks_for_built(statement.test, function)


def _asks_for_built(test: cst.CSTNode, function: cst.FunctionDef) -> bool:
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            return _asks_for_built(left, function) and _asks_for_built(right, function)
        case cst.Call(
            func=cst.Name(value="hasattr" | "getattr"),
            args=[cst.Arg(value=cst.Name(value=name)), cst.Arg(value=asked), *_],
        ):
            return name == receiver(function) and literal(asked) == _BUILT
    return member_of_self(test, function) in {_BUILT, "built"}


def rewrite_built(plan: Plan, function: cst.FunctionDef) -> None:
    """Ask for ``built``, which the base class sets, where the class had its own ``_built``."""
    mine = receiver(function)
    for each in descendants(function.body):
        if each in plan.settled:
            continue
        match each:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if (
                member_of_self(target, function) == _BUILT
            ):
                if (literal(value) is True and function.name.value == BUILD) or (
                    literal(value) is False and function.name.value == "__init__"
                ):
                    plan.remove(each)
                else:
                    plan.stop(each, "the base class of Keras 3 says itself whether it is built")
            case cst.BooleanOperation() | cst.Call() if _asks_for_built(each, function):
                plan.replace(each, f"{mine}.built")
            case cst.Attribute() if member_of_self(each, function) == _BUILT:
                plan.replace(each, f"{mine}.built")


# -- variables


def rewrite_makers(plan: Plan, function: cst.FunctionDef) -> None:
    """Rewrite the calls that make variables."""
    for each in list(descendants(function.body)):
        called = call_of_self(each, function)
        if called is None or each in plan.settled:
            continue
        if called[0] == "add_variable_from_reference":
            _from_reference(plan, function, called[1])
        elif called[0] == "add_variable":
            _alone(plan, called[1])


def _from_reference(plan: Plan, function: cst.FunctionDef, call: cst.Call) -> None:
    given = bound(call, _FROM_REFERENCE)
    if given is None or "model_variable" not in given or "variable_name" not in given:
        plan.stop(call, "what is passed")
        return
    reference, name = given["model_variable"], _name(plan, given["variable_name"])
    shape, start = (_unless_none(given.get(each)) for each in ("shape", "initial_value"))
    plan.settled.update((call.func, *_keywords(call)))
    if start is not None:
        shape = None  # Keras 2 did not look at it
    elif shape is not None:
        _write(
            plan, call, "add_variable", ("shape=", plan.hole(shape)), *_like(plan, reference), name
        )
        return
    begins = _initializer(plan, function, start, reference)
    if begins is None and start is not None:
        number = _number(plan, start)
        if number is None:
            plan.stop(start, "the shape of the initial value is not known")
            return
        constant = plan.spell("keras.initializers.Constant")
        begins = (f"initializer={constant}(", plan.hole(number), ")")
        _write(plan, call, "add_variable", ("shape=()",), *_like(plan, reference), begins, name)
        return
    first: tuple[Part, ...] = (plan.hole(reference),)
    if any(each.keyword and each.keyword.value == "model_variable" for each in call.args):
        first = ("reference_variable=", *first)
    _write(plan, call, "add_variable_from_reference", first, name, begins or ())


def _keywords(call: cst.Call) -> list[cst.CSTNode]:
    return [each.keyword for each in call.args if each.keyword is not None]


def _like(plan: Plan, reference: cst.BaseExpression) -> tuple[tuple[Part, ...], ...]:
    if not isinstance(reference, cst.Name | cst.Attribute | cst.Subscript):
        plan.stop(reference, "it is worked out where it is passed")
    return ((f"dtype={plan.module.source(reference)}.dtype",),)


def _write(plan: Plan, call: cst.Call, method: str, *arguments: tuple[Part, ...]) -> None:
    """Write the call anew, in as many lines as it had."""
    if "#" in plan.module.source(call):
        plan.stop(call, "there is a comment in it")
    assert isinstance(call.func, cst.Attribute)
    opened, between, closed = plan.layout(call)
    parts = [part for each in arguments if each for part in (between, *each)][1:]
    plan.settled.update((call, call.func))
    owner = plan.module.source(call.func.value)
    plan.write(plan.module.span(call), f"{owner}.{method}", opened, *parts, closed)


def _name(plan: Plan, node: cst.BaseExpression) -> tuple[Part, ...]:
    """Return the name: Keras 3 wants no slash in it."""
    plan.settled.update(descendants(node))  # the short name of a variable has none
    if isinstance(node, cst.SimpleString | cst.FormattedString):
        text = plan.module.source(node)
        if "/" in text:
            return (f"name={text.replace('/', '_')}",)
    elif isinstance(node, cst.BinaryOperation) and "/" in plan.module.source(node):
        plan.stop(node, "Keras 3 allows no `/` in the name of a variable")
    return ("name=", plan.hole(node))


def _unless_none(node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    return None if isinstance(node, cst.Name) and node.value == "None" else node


def _number(plan: Plan, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the number of ``0.1`` and of ``tf.constant(0.1)``."""
    if isinstance(node, cst.Call) and node.args:
        if plan.module.qualified(node.func) not in {"tensorflow.constant", "tensorflow.cast"}:
            return None
        node = node.args[0].value
    return node if isinstance(literal(node), int | float) else None


def _initializer(
    plan: Plan,
    function: cst.FunctionDef,
    start: cst.BaseExpression | None,
    reference: cst.BaseExpression,
) -> tuple[Part, ...] | None:
    """Return the initializer that gives the initial value, None where that may be a number."""
    if start is None or _number(plan, start) is not None:
        return None
    like = plan.module.source(reference)
    if isinstance(start, cst.Call):
        filled = _FILLED.get(plan.module.qualified(start.func) or "")
        first = plan.module.source(start.args[0].value) if start.args else ""
        if filled and first in {like, f"{like}.shape"}:
            return (f'initializer="{filled}"',) if filled == "ones" else ()
        given = bound(start, ("shape", "dtype"))
        shape = given.get("shape") if given else None
        if shape is not None and plan.module.source(shape) == f"{like}.shape":
            made = value_of(plan.module, start.func)
            maker = plan.module.qualified(made.func) if isinstance(made, cst.Call) else None
            if maker is not None and ".initializers." in maker:
                return ("initializer=", plan.hole(start.func))
    elif plan.module.source(start) != like:
        return None
    # A `tf.function` asks it later: each gets the variable of its own turn.
    inside = {each.value for each in descendants(start) if isinstance(each, cst.Name)}
    turning = [name for name in _bound_in_loops(plan, function, start) if name in inside]
    if {"shape", "dtype"} & (set(turning) | (inside & _locals(function))):
        plan.stop(start, "it reads a variable called `shape` or `dtype`")
    parameters = ", ".join(["shape", "dtype", *(f"{each}={each}" for each in turning)])
    return (f"initializer=lambda {parameters}: ", plan.hole(start))


def _locals(function: cst.FunctionDef) -> set[str]:
    return {
        each.target.value
        for each in descendants(function.body)
        if isinstance(each, cst.AssignTarget) and isinstance(each.target, cst.Name)
    }


def _bound_in_loops(plan: Plan, function: cst.FunctionDef, node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that the loops and comprehensions around a node bind, once each."""
    found: dict[str, None] = {}
    for each in plan.module.ancestors(node):
        if each is function:
            break
        targets: list[cst.CSTNode] = []
        if isinstance(each, cst.For):
            targets = [each.target]
            targets += [a.target for a in descendants(each.body) if isinstance(a, cst.AssignTarget)]
        elif isinstance(each, cst.ListComp | cst.DictComp):
            targets = [each.for_in.target]
        names = (one for target in targets for one in descendants(target))
        found |= {one.value: None for one in names if isinstance(one, cst.Name)}
    yield from found


def _alone(plan: Plan, call: cst.Call) -> None:
    """Rewrite ``self.add_variable(shape, dtype, initializer, name)``, whose order has changed."""
    given = bound(call, _ALONE)
    if given is None:
        plan.stop(call, "what is passed")
        return
    plan.settled.update((call.func, *_keywords(call)))
    shape = _unless_none(given.get("shape"))
    parts: list[tuple[Part, ...]] = [
        ("shape=()",) if shape is None else ("shape=", plan.hole(shape))
    ]
    for each in ("dtype", "initializer"):
        value = _unless_none(given.get(each))
        parts += [] if value is None else [(f"{each}=", plan.hole(value))]
    name = _unless_none(given.get("name"))
    _write(plan, call, "add_variable", *parts, () if name is None else _name(plan, name))


def bound(call: cst.Call, wanted: tuple[str, ...]) -> dict[str, cst.BaseExpression] | None:
    """Return what is passed for each parameter, None where that cannot be told."""
    given: dict[str, cst.BaseExpression] = {}
    for position, each in enumerate(call.args):
        name = each.keyword.value if each.keyword is not None else None
        if each.star or (name is None and position >= len(wanted)):
            return None
        name = name or wanted[position]
        if name not in wanted or name in given:
            return None
        given[name] = each.value
    return given
