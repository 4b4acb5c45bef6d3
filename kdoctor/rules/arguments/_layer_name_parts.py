"""What the name of a layer is put together of, and which functions here hand one on to Keras."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import binding_of, passed
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.analysis.models.user_classes import holds_original_argument
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import Binding, BindingKind

Text = cst.SimpleString | cst.FormattedStringText
_Part = Text | cst.Name
# A line in one of these may not run.
_CHOOSES = (
    *(cst.If, cst.IfExp, cst.While, cst.Try, cst.TryStar, cst.Match, cst.ExceptHandler),
    *(cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.BooleanOperation),
)


def parts(node: cst.BaseExpression) -> Iterator[_Part]:
    """Yield the texts and the variables that are part of what an expression gives."""
    match node:
        case cst.SimpleString() | cst.Name():
            yield node
        case cst.FormattedString(parts=pieces):
            for piece in pieces:
                if isinstance(piece, cst.FormattedStringText):
                    yield piece
                elif isinstance(piece, cst.FormattedStringExpression):
                    yield from _variable(piece.expression)
        case (
            cst.ConcatenatedString(left=left, right=right)
            | cst.BinaryOperation(left=left, operator=cst.Add(), right=right)
        ):
            yield from parts(left)
            yield from parts(right)
        case cst.BinaryOperation(left=left, operator=cst.Modulo(), right=right):
            yield from parts(left)
            given = [e.value for e in right.elements] if isinstance(right, cst.Tuple) else [right]
            for each in given:
                yield from _variable(each)
        case cst.Call(func=cst.Attribute(value=left, attr=cst.Name(value="format")), args=args):
            yield from parts(left)
            for passed in args:
                yield from _variable(passed.value if not passed.star else None)


def _variable(node: cst.BaseExpression | None) -> Iterator[cst.Name]:
    if isinstance(node, cst.Name):
        yield node


class Slashed(Struct, frozen=True):
    """The texts by which a slash surely is in a name, and the variables that lead to them."""

    texts: tuple[Text, ...] = ()
    through: tuple[cst.Name, ...] = ()


_NONE = Slashed()


def slashes(module: Module, node: cst.BaseExpression) -> Slashed:
    """Return what surely puts slashes into a name.

    A variable counts where all that it may hold has a slash in it.
    """
    return _Slashes(module).of(node)


class _Slashes:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[Binding, Slashed] = {}

    def of(self, node: cst.BaseExpression) -> Slashed:
        texts: list[Text] = []
        through: list[cst.Name] = []
        for each in parts(node):
            if not isinstance(each, cst.Name):
                texts += [each] if "/" in each.value else []
                continue
            held = [self._held(bound) for bound in self._module.bindings_at(each)]
            if all(one.texts for one in held):
                texts += (text for one in held for text in one.texts)
                through += (each, *(name for one in held for name in one.through))
        return Slashed(tuple(dict.fromkeys(texts)), tuple(dict.fromkeys(through)))

    def _held(self, bound: Binding) -> Slashed:
        if bound not in self._known:
            self._known[bound] = _NONE  # of a variable that is put together of itself
            node, value = self._module.parent(bound.node), bound.value
            if (
                isinstance(node, cst.AssignTarget | cst.AnnAssign)
                and bound.kind is BindingKind.ASSIGN
                and not bound.path
                and value is not None
            ):
                self._known[bound] = self.of(value)
        return self._known[bound]


class Functions:
    """The functions of a file, and what they surely do with a name that they are given."""

    def __init__(self, module: Module, calls: Mapping[cst.Call, KerasCall]) -> None:
        self._module = module
        self._calls = calls
        self._asked: dict[tuple[cst.FunctionDef, str], KerasCall | None] = {}

    def given(self, call: cst.Call) -> Iterator[tuple[cst.Arg, KerasCall]]:
        """Yield each argument that a function hands on to Keras as a name, or as part of one."""
        function = self._called(call)
        if function is None or any(each.star for each in call.args):
            return
        params = [*function.params.posonly_params, *function.params.params]
        by_name = {each.name.value: each for each in (*params, *function.params.kwonly_params)}
        for index, each in enumerate(call.args):
            param = (
                by_name.get(each.keyword.value)
                if each.keyword is not None
                else params[index]
                if index < len(params)
                else None
            )
            found = None if param is None else self._takes(function, param)
            if found is not None:
                yield each, found

    def is_only_a_name(self, variable: cst.Name) -> bool:
        """Say whether each use of a variable is a part of a name that Keras gets."""
        owner = self._module.scope_of(variable).owner(variable.value)
        return owner is not None and all(
            self._is_named(each)
            for each in names_of_variable(self._module, variable)
            if not isinstance(self._module.parent(each), cst.AssignTarget | cst.AnnAssign)
        )

    def _is_named(self, read: cst.Name) -> bool:
        for each in self._module.ancestors(read):
            if isinstance(each, cst.Arg):
                call = self._module.parent(each)
                if isinstance(call, cst.Call) and self._is_a_name(call, each):
                    return True
            elif isinstance(each, cst.BaseStatement):
                return False
        return False

    def _is_a_name(self, call: cst.Call, passed: cst.Arg) -> bool:
        by_keyword = passed.keyword is not None and passed.keyword.value == "name"
        return by_keyword or any(each is passed for each, _ in self.given(call))

    def _called(self, call: cst.Call) -> cst.FunctionDef | None:
        bound = binding_of(self._module, call.func)
        node = None if bound is None else bound.node
        return node if isinstance(node, cst.FunctionDef) and not node.decorators else None

    def _takes(self, function: cst.FunctionDef, param: cst.Param) -> KerasCall | None:
        """Return the call by which Keras surely gets what a parameter holds, as part of a name."""
        key = (function, param.name.value)
        if key not in self._asked:
            self._asked[key] = None  # of a function that calls itself
            self._asked[key] = next(self._handed_on(function, param), None)
        return self._asked[key]

    def _handed_on(self, function: cst.FunctionDef, param: cst.Param) -> Iterator[KerasCall]:
        for call in descendants(function.body):
            if not isinstance(call, cst.Call) or not self._runs_in(function, call):
                continue
            named = passed(call, "name") if call in self._calls else None
            if named is not None and self._holds(named, param):
                yield self._calls[call]
            elif call not in self._calls:
                yield from (
                    found for each, found in self.given(call) if self._holds(each.value, param)
                )

    def _holds(self, node: cst.BaseExpression, param: cst.Param) -> bool:
        return any(
            isinstance(each, cst.Name) and holds_original_argument(self._module, each, param)
            for each in parts(node)
        )

    def _runs_in(self, function: cst.FunctionDef, call: cst.Call) -> bool:
        for each in self._module.ancestors(call):
            if each is function:
                return True
            if isinstance(each, _CHOOSES):
                return False
        return False
