"""Which calls get a function's parameters, as they are or calculated with."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.syntax.package import AN_OBJECT

_MAX_WAYS: Final = 4  # of what is called with one parameter in one branch
_MAYBE: Final = (
    *(ast.Lambda, ast.IfExp, ast.BoolOp),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_RUNS_THROUGH: Final = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_SAYS_NOTHING: Final = (ast.Pass, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_TYPE_CHECKS: Final = frozenset({"is_tensor", "is_keras_tensor"})
_LEAVES: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)
# Functions, of whichever module, whose result is a tensor as their first argument is.
_KEEPS: Final = frozenset(
    {
        *("abs", "cast", "cast_to_floatx", "clip", "exp", "expand_dims", "flatten", "log"),
        *("maximum", "mean", "minimum", "permute_dimensions", "pow", "power", "relu", "reshape"),
        *("round", "sigmoid", "sign", "softmax", "sqrt", "square", "squeeze", "sum", "tanh"),
    }
)


class Handed(NamedTuple):
    """A call: the callee as written, or ``AN_OBJECT``; the place of what it gets, or -1."""

    callee: str
    place: int


Alternatives = tuple[Handed, ...]
"""One of these gets it in each run: which, the branch that is taken decides."""


class Callees(NamedTuple):
    """What is called with a parameter: ``sure`` says whether it is whenever the function runs."""

    position: int
    alternatives: Alternatives
    sure: bool


Tensors = Mapping[str, frozenset[int]]
"""Names of what is one of the parameters, or is calculated from it: its position."""


class _Flow(NamedTuple):
    """What statements do: what they surely call, what names are then, and whether they go on."""

    handed: list[tuple[int, Alternatives]]
    names: Tensors
    ends: bool = False
    raises: bool = False


def parameter_callees(function: ast.FunctionDef, bound: int = 0) -> tuple[Callees, ...]:
    """Return what a function calls with its parameters: first what it surely calls.

    Nothing in loops and ``try`` is sure, and nothing after those that may leave the function.
    ``bound``: how many parameters come first that are not counted, as ``self``.
    """
    parameters = [*function.args.posonlyargs, *function.args.args][bound:]
    names = {each.arg: frozenset({index}) for index, each in enumerate(parameters)}
    sure = [Callees(*each, True) for each in _statements(function.body, names).handed]
    possible = [Callees(*each, False) for each in _possible(function, names)]
    made = [
        Callees(position, (Handed(AN_OBJECT, -1),), True)
        for position in range(len(parameters) if _calls_what_it_makes(function) else 0)
    ]
    return tuple(dict.fromkeys([*sure, *possible, *made]))


def _calls_what_it_makes(function: ast.FunctionDef) -> bool:
    """Say whether it has ``Dense(3)(y)``: of what ``y`` is calculated, nobody may know."""
    calls = (each for each in ast.walk(function) if isinstance(each, ast.Call))
    return any(isinstance(each.func, ast.Call) for each in calls)


def _possible(function: ast.FunctionDef, names: Tensors) -> Iterator[tuple[int, Alternatives]]:
    """Yield what some branch calls, nothing where the function asks what it was given."""
    nodes = [*_outside_of_try(function)]
    if any(_asks_for_a_type(each) for each in nodes):
        return
    known = {**names}
    for _ in range(2):  # a loop may use what it assigns further down
        for each in nodes:
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values = _branches(value)
                    known[name] = known.get(name, frozenset()) | _of_all(values, known)
    tensors = _without(known, {*_made_anew(function.body, known)})
    for each in nodes:
        if isinstance(each, ast.Call):
            yield from _of_call(each, tensors)


def _made_anew(body: Iterable[ast.stmt], names: Tensors) -> Iterator[str]:
    """Yield the names that surely are given something that nobody knows for a tensor."""
    for each in body:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if not _of_all(_branches(value), names):
                    yield name


def _outside_of_try(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Try):
            yield from _outside_of_try(child)


def _branches(value: ast.expr) -> list[ast.expr]:
    return [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]


def _asks_for_a_type(node: ast.AST) -> bool:
    name = (ast_dotted_name(node.func) if isinstance(node, ast.Call) else "") or ""
    return name.rpartition(".")[2] in _TYPE_CHECKS


def _statements(statements: Sequence[ast.stmt], names: Tensors) -> _Flow:
    handed: list[tuple[int, Alternatives]] = []
    for index, each in enumerate(statements):
        if isinstance(each, ast.Raise):
            return _Flow(handed, names, ends=True, raises=True)
        if isinstance(each, _RUNS_THROUGH):
            handed += _calls(each, names)
            names = _after(each, names)
            if isinstance(each, ast.Return):
                return _Flow(handed, names, ends=True)
        elif isinstance(each, ast.If):
            handed += _calls(each.test, names)
            branches = [_statements(body, names) for body in (each.body, each.orelse)]
            if any(branch.ends for branch in branches):
                rest = statements[index + 1 :]
                first, second = (_gone_on(branch, rest) for branch in branches)
                return _Flow([*handed, *_either(first, second)], {}, ends=True)
            handed += _either(*branches)
            names = _common(branches[0].names, branches[1].names)
        elif not isinstance(each, _SAYS_NOTHING):
            if any(isinstance(inner, _LEAVES) for inner in ast.walk(each)):
                break
            names = _without(names, _stored(each))
    return _Flow(handed, names)


def _gone_on(branch: _Flow, rest: Sequence[ast.stmt]) -> _Flow:
    if branch.ends:
        return branch
    after = _statements(rest, branch.names)
    return after._replace(handed=[*branch.handed, *after.handed])


def _either(first: _Flow, second: _Flow) -> list[tuple[int, Alternatives]]:
    """Return what is called in both of two branches; one that raises does not count."""
    if first.raises or second.raises:
        return [] if first.raises and second.raises else (second if first.raises else first).handed
    return [
        (position, tuple(dict.fromkeys((*one, *other))))
        for position in dict.fromkeys(position for position, _ in first.handed)
        for one, other in product(_of(first, position), _of(second, position))
    ]


def _of(flow: _Flow, position: int) -> list[Alternatives]:
    return [ways for place, ways in flow.handed if place == position][:_MAX_WAYS]


def _calls(node: ast.AST, names: Tensors) -> Iterator[tuple[int, Alternatives]]:
    for each in _always_evaluated(node):
        if isinstance(each, ast.Call):
            yield from _of_call(each, names)


def _of_call(call: ast.Call, names: Tensors) -> Iterator[tuple[int, Alternatives]]:
    callee = ast_dotted_name(call.func)
    if isinstance(call.func, ast.Call) or (isinstance(call.func, ast.Name) and callee in names):
        callee = AN_OBJECT
    if not callee:
        return
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    for place, each in enumerate(given):
        is_told = place < len(call.args) and not isinstance(each, ast.List | ast.Tuple)
        items = each.elts if isinstance(each, ast.List | ast.Tuple) else [each]
        for position in sorted(_of_all(items, names)):
            yield position, (Handed(callee, place if is_told else -1),)


def _always_evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is evaluated whenever ``node`` is."""
    yield node
    if isinstance(node, _MAYBE):
        return
    for child in ast.iter_child_nodes(node):
        yield from _always_evaluated(child)


def _of_all(nodes: Iterable[ast.expr], names: Tensors) -> frozenset[int]:
    return frozenset(position for each in nodes for position in _tensors(each, names))


def _tensors(node: ast.expr, names: Tensors) -> frozenset[int]:
    """Return the parameters that an expression is, or is calculated from as a tensor is."""
    match node:
        case ast.Name(id=name):
            return names.get(name, frozenset())
        case ast.BinOp(left=left, right=right):
            return _of_all([left, right], names)
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
            return _of_all([left, *node.comparators], names)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return _tensors(operand, names)
        case ast.Subscript(value=value):
            return _tensors(value, names)
        case ast.Call(func=ast.Attribute(attr=leaf), args=[first, *_]) if leaf in _KEEPS:
            return _tensors(first, names)
    return frozenset()


def _after(statement: ast.stmt, names: Tensors) -> Tensors:
    """Return what names are once a statement has run."""
    kept = _without(names, _stored(statement))
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return {**kept, name: _tensors(value, names)}
        case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
            return {**kept, name: names.get(target.id, frozenset()) | _tensors(value, names)}
    return kept


def _stored(statement: ast.stmt) -> set[str]:
    return {
        each.id
        for each in ast.walk(statement)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }


def _without(names: Tensors, stored: set[str]) -> Tensors:
    return {name: positions for name, positions in names.items() if name not in stored}


def _common(first: Tensors, second: Tensors) -> Tensors:
    return {name: first[name] & second[name] for name in first if name in second}
