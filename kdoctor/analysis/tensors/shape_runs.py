"""What a function that computes with shapes returns for a given shape, and where it surely fails.

The statements are followed in order, and of branches the one that is taken, where that is known
(``if len(input_shape) == 2``). Of what a loop or an undecided branch changes nothing is known then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.tensors.shape_values import RefusedError, Size, Sizes, Tensor, Value, Values
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal

_COMPARED: Final[dict[type[cst.BaseCompOp], Callable[[object, object], bool]]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: lambda one, other: one < other,  # type: ignore[operator]
    cst.LessThanEqual: lambda one, other: one <= other,  # type: ignore[operator]
    cst.GreaterThan: lambda one, other: one > other,  # type: ignore[operator]
    cst.GreaterThanEqual: lambda one, other: one >= other,  # type: ignore[operator]
}
_OPAQUE: Final = (cst.For, cst.While, cst.Try, cst.TryStar, cst.Match)


class _ReturnedError(Exception):
    """A ``return`` was reached, or a place behind which nothing is known."""

    def __init__(self, value: Value | None) -> None:
        super().__init__()
        self.value = value


def run(
    module: Module,
    function: cst.FunctionDef | cst.Lambda,
    given: Mapping[str, Value | None],
    of_self: Callable[[str], Value | cst.Call | None] = lambda _: None,
) -> Value | None:
    """Return what a function returns for these arguments, None where that is not known.

    Raises:
        RefusedError: it surely fails.
    """
    names = [each.name.value for each in _parameters(function)]
    values = Values(module, {**dict.fromkeys(names), **given}, of_self)
    if isinstance(function, cst.Lambda):
        return values.of(function.body)
    try:
        _Run(values).block(function.body.body)
    except _ReturnedError as end:
        return end.value
    return None


def _parameters(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    found = function.params
    every = [*found.posonly_params, *found.params, *found.kwonly_params]
    every += [each for each in (found.star_arg, found.star_kwarg) if isinstance(each, cst.Param)]
    return every


class _Run:
    def __init__(self, values: Values) -> None:
        self._values = values

    def block(self, statements: Sequence[cst.CSTNode]) -> None:
        for each in statements:
            if isinstance(each, cst.SimpleStatementLine):
                for small in each.body:
                    self._small(small)
            elif isinstance(each, cst.If):
                self._if(each)
            elif isinstance(each, cst.With):
                self.block(each.body.body)
            elif isinstance(each, _OPAQUE):
                self._forget(each)
            else:  # `def` and `class` tell nothing here; `if x: return y` has it in its line
                self._small(each)

    def _small(self, statement: cst.CSTNode) -> None:
        match statement:
            case cst.Return(value=value):
                raise _ReturnedError(self._values.of(value))
            case cst.Raise():
                raise RefusedError(statement, _raised(statement))
            case cst.Assert(test=test):
                if self._truth(test) is False:
                    raise RefusedError(statement, "AssertionError")
            case cst.Assign(targets=targets, value=value):
                found = self._values.of(value)
                for each in targets:
                    self._assign(each.target, found)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                self._assign(target, self._values.of(value))
            case cst.AugAssign(target=target):
                self._assign(target, None)
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name(value=owner), attr=of))):
                self._change(owner, of.value)
            case cst.Expr(value=value):
                self._values.of(value)
            case cst.Del():
                self._forget(statement)

    def _assign(self, target: cst.BaseExpression, value: Value | None) -> None:
        match target:
            case cst.Name(value=name):
                self._values.local[name] = value
            case cst.Tuple() | cst.List():
                self._unpack(target, value)
            case cst.Subscript(value=cst.Name(value=name)):
                held = self._values.local.get(name)
                self._values.local[name] = _with_one_changed(held, target, value)

    def _unpack(self, target: cst.Tuple | cst.List, value: Value | None) -> None:
        elements = target.elements
        if not isinstance(value, Sizes):
            for each in elements:
                self._assign(each.value, None)
            return
        starred = [isinstance(each, cst.StarredElement) for each in elements]
        count, got = len(elements) - sum(starred), len(value.sizes)
        if got < count:
            least = "at least " if any(starred) else ""
            raise RefusedError(
                target,
                f"ValueError: not enough values to unpack (expected {least}{count}, got {got})",
            )
        if got > count and not any(starred):
            raise RefusedError(target, f"ValueError: too many values to unpack (expected {count})")
        taken = 0
        for each, is_starred in zip(elements, starred, strict=True):
            width = got - count if is_starred else 1
            part = value.sizes[taken : taken + width]
            taken += width
            self._assign(each.value, Sizes(part, is_list=True) if is_starred else Size(part[0]))

    def _change(self, name: str, method: str) -> None:
        """Follow what changes a list: ``shape.append(3)``."""
        held = self._values.local.get(name)
        if isinstance(held, Sizes):
            adds_one = method == "append" and held.is_list
            grown = Sizes((*held.sizes, None), is_list=True)
            self._values.local[name] = grown if adds_one else None

    def _if(self, statement: cst.If) -> None:
        truth = self._truth(statement.test)
        branches = [statement.body, statement.orelse]
        if truth is not None:
            taken = branches[not truth]
            if isinstance(taken, cst.If):
                self._if(taken)
            elif taken is not None:
                self.block((taken.body if isinstance(taken, cst.Else) else taken).body)
            return
        self._forget(statement)

    def _truth(self, test: cst.BaseExpression) -> bool | None:
        match test:
            case cst.UnaryOperation(operator=cst.Not()):
                inner = self._truth(test.expression)
                return None if inner is None else not inner
            case cst.Comparison(comparisons=[one]):
                return self._compared(test.left, one.operator, one.comparator)
        return None

    def _compared(
        self, left: cst.BaseExpression, how: cst.BaseCompOp, right: cst.BaseExpression
    ) -> bool | None:
        found = self._values.of(left)
        number = found.number if isinstance(found, Size) else None
        if number is None:
            return None
        if isinstance(how, cst.In | cst.NotIn) and isinstance(
            right, cst.Tuple | cst.List | cst.Set
        ):
            others = [self._values.of(each.value) for each in right.elements]
            known = [each.number for each in others if isinstance(each, Size)]
            if not known or len(known) != len(others) or None in known:
                return None
            return (number in known) is isinstance(how, cst.In)
        other = self._values.of(right)
        compare = _COMPARED.get(type(how))
        if not isinstance(other, Size) or other.number is None or compare is None:
            return None
        return compare(number, other.number)

    def _forget(self, statement: cst.CSTNode) -> None:
        """Forget what a statement may change; stop where it may return, but for refusals."""
        below = list(descendants(statement))
        if any(isinstance(each, cst.Return) for each in below):
            raise _ReturnedError(None)
        for each in below:
            if isinstance(each, cst.Name):
                self._values.local[each.value] = None


def _with_one_changed(
    held: Value | None, target: cst.Subscript, value: Value | None
) -> Value | None:
    """Return what a list of sizes is after ``shape[-1] = units``."""
    match target.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=at))] if isinstance(held, Sizes):
            sizes = list(held.sizes)
            place = literal(at)
            if type(place) is not int or not -len(sizes) <= place < len(sizes):
                return Sizes((None,) * len(sizes), held.is_list)
            sizes[place] = value.number if isinstance(value, Size) else None
            return Sizes(tuple(sizes), held.is_list)
    return held if isinstance(held, Tensor) else None


def _raised(statement: cst.Raise) -> str:
    made = statement.exc.func if isinstance(statement.exc, cst.Call) else statement.exc
    return made.value if isinstance(made, cst.Name) else "an error"
