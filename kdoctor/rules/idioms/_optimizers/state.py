"""State lists created in ``get_updates``: ``ms = [K.zeros(K.int_shape(p)) …]``."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst
from msgspec import Struct, field

from kdoctor.rules.idioms._optimizers.names import Names
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import backend_call

_SHAPES = ("int_shape", "get_variable_shape", "shape")
_OF_ITS_SHAPE = 'add_variable_from_reference({each}, name="{name}"{initializer})'
_OF_ANOTHER = 'add_variable(shape={shape}, name="{name}"{initializer})'


class Made(Struct, frozen=True):
    """How one variable is made: of the shape of the model's variable, or of a fixed one."""

    shape: str | None = None
    initializer: str = "zeros"

    def call(self, each: str, name: str) -> str:
        """Return the call of the optimizer's method that makes it."""
        initializer = "" if self.initializer == "zeros" else f', initializer="{self.initializer}"'
        if self.shape is None:
            return _OF_ITS_SHAPE.format(each=each, name=name, initializer=initializer)
        return _OF_ANOTHER.format(shape=self.shape, name=name, initializer=initializer)


class State(Struct):
    """The lists, in the order in which they are made.

    ``lines`` are lines of ``build``: headers of conditions, and ``(indent, list, made)``.
    ``named`` maps a list to what the loop calls its elements; ``shapes`` are lists of shapes.
    """

    names: Names
    lists: dict[str, str] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    shapes: set[str] = field(default_factory=set)
    lines: list[str | tuple[str, str, Made]] = field(default_factory=list)

    def copy(self) -> State:
        """Return a state to try things out on."""
        return State(
            self.names, dict(self.lists), dict(self.named), set(self.shapes), list(self.lines)
        )

    def read(self, plan: Plan, statement: cst.CSTNode, params: str, *, indent: str = "") -> bool:
        """Take in a statement, if it makes such a list (or one of shapes)."""
        match statement:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.ListComp() as made,
            ):
                if shape_list(plan, made, params):
                    self.shapes.add(name)
                    return True
                how = slot_list(plan, made, params, self.shapes, self.lists)
                if how is not None:
                    self.lists[name] = self.names.free(f"_{name}")
                    self.lines.append((indent, name, how))
                    return True
        return False

    def add(self, source: str, name: str, made: Made) -> None:
        """Take in a variable that the loop makes itself."""
        self.lists[source] = self.names.free(f"_{source}")
        self.named[source] = name
        self.lines.append(("", source, made))

    def place(self, source: str) -> str:
        """Return the attribute with a list."""
        return self.lists[source]

    def written(self, mine: str) -> list[str]:
        """Return the lines of ``build``."""
        return [each if isinstance(each, str) else self._line(mine, *each) for each in self.lines]

    def _line(self, mine: str, indent: str, source: str, made: Made) -> str:
        each = "each" if made.shape is None else "_"
        call = made.call(each, self.named.get(source, source))
        return f"{indent}{mine}.{self.place(source)} = [{mine}.{call} for {each} in variables]"


def shape_list(plan: Plan, made: cst.ListComp, params: str) -> bool:
    """Say whether a list is ``[K.int_shape(p) for p in params]``."""
    variable = _over(made, {params})
    return variable is not None and _is_shape(plan, made.elt, variable, None)


def slot_list(
    plan: Plan, made: cst.ListComp, params: str, shapes: set[str], lists: Collection[str]
) -> Made | None:
    """Return how ``[K.zeros(K.int_shape(p)) for p in params]`` makes its variables."""
    if _counted(made, {params, *shapes, *lists}):
        return zeros_like(plan, made.elt, None)
    variable = _over(made, {params, *shapes})
    if variable is None:
        return None
    if _over(made, shapes) is not None:
        return zeros_like(plan, made.elt, None, shape=variable)
    return zeros_like(plan, made.elt, variable)


def zeros_like(
    plan: Plan,
    node: cst.BaseExpression,
    variable: str | None,
    shape: str | None = None,
) -> Made | None:
    """Return how ``K.zeros(K.int_shape(p))``, ``K.zeros(1)`` and their like make a variable."""
    for name in ("zeros", "ones"):
        call = backend_call(plan.module, node, name)
        if call is not None and call.args and call.args[0].keyword is None:
            return _of_size(plan, call.args[0].value, variable, shape, name)
        like = backend_call(plan.module, node, f"{name}_like")
        if like is not None and len(like.args) == 1 and variable is not None:
            return Made(None, name) if _is_name(like.args[0].value, variable) else None
    outer = backend_call(plan.module, node, "variable")
    inner = outer.args[0].value if outer is not None and outer.args else None
    if isinstance(inner, cst.Call) and inner.args:
        array = plan.module.qualified(inner.func)
        for name in ("zeros", "ones"):
            if array == f"numpy.{name}":
                return _of_size(plan, inner.args[0].value, variable, shape, name)
    return None


def _of_size(
    plan: Plan, size: cst.BaseExpression, variable: str | None, shape: str | None, name: str
) -> Made | None:
    if _is_shape(plan, size, variable, shape):
        return Made(None, name)
    source = plan.module.source(size)
    if isinstance(size, cst.Integer):
        return Made(f"({source},)", name)
    is_fixed = isinstance(size, cst.Tuple | cst.List) and all(
        isinstance(each.value, cst.Integer) for each in size.elements
    )
    if not is_fixed:
        return None
    return Made(f"({source})" if not source.startswith(("(", "[")) else source, name)


def _is_shape(
    plan: Plan, node: cst.BaseExpression, variable: str | None, shape: str | None
) -> bool:
    if shape is not None and _is_name(node, shape):
        return True
    if variable is None:
        return False
    call = backend_call(plan.module, node, *_SHAPES)
    if call is not None:
        return len(call.args) == 1 and _is_name(call.args[0].value, variable)
    source = "".join(plan.module.source(node).split())
    return source in {f"{variable}.shape", f"{variable}.get_shape()"} or (
        isinstance(node, cst.Attribute)
        and node.attr.value == "shape"
        and (of := backend_call(plan.module, node.value, "get_value", "eval")) is not None
        and _is_name(of.args[0].value, variable)
    )


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _over(made: cst.ListComp, lists: set[str]) -> str | None:
    """Return the variable of a comprehension over one of these lists, also of an enumerated one."""
    loop = made.for_in
    if loop.ifs or loop.inner_for_in is not None:
        return None
    target: cst.CSTNode = loop.target
    source: cst.BaseExpression = loop.iter
    match target, source:
        case (
            cst.Tuple(elements=[_, cst.Element(value=target)]),
            cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=source)]),
        ):
            pass
    is_one = isinstance(source, cst.Name) and source.value in lists
    return target.value if is_one and isinstance(target, cst.Name) else None


def _counted(made: cst.ListComp, lists: set[str]) -> bool:
    """Say whether a comprehension is over ``range(len(params))``."""
    if made.for_in.ifs or made.for_in.inner_for_in is not None:
        return False
    match made.for_in.iter:
        case cst.Call(
            func=cst.Name(value="range"),
            args=[
                cst.Arg(value=cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=counted)]))
            ],
        ):
            return isinstance(counted, cst.Name) and counted.value in lists
    return False
