"""Conditions that the target decides: version checks, ``hasattr``, flags that a ``try`` sets.

A condition has one of three answers: a value, ``Undecided`` (it speaks of versions, but which way
it goes is not known), or ``NotAGuard`` (it is about something else).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import libcst as cst
from msgspec import Struct
from packaging.version import InvalidVersion, Version

from kdoctor.patterns import pattern
from kdoctor.syntax.following import Following, Kept
from kdoctor.syntax.kept_answers import kept_answers
from kdoctor.syntax.knowledge import Knowledge
from kdoctor.syntax.literals import evaluated
from kdoctor.syntax.resolving import Resolver, part_of
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.target import LEGACY_SWITCH


class Undecided(Exception):
    """The condition is a guard, and nobody knows how it turns out on the target."""


class NotAGuard(Exception):
    """The condition has nothing to do with what the target is."""


_PARSERS = frozenset({
    "packaging.version.parse", "packaging.version.Version", "distutils.version.LooseVersion",
    "distutils.version.StrictVersion", "pkg_resources.parse_version", "looseversion.LooseVersion",
    "looseversion.StrictVersion", "setuptools._distutils.version.LooseVersion",
})  # fmt: skip
_METADATA = frozenset({"importlib.metadata.version", "importlib_metadata.version"})
_READ_OF_TEXT = frozenset({
    "split", "rsplit", "partition", "startswith", "endswith", "strip", "lstrip", "rstrip", "lower",
})  # fmt: skip
_GETTERS = frozenset({"os.environ.get", "os.getenv"})
_PYTHON = ("python",)  # stands for `sys.version_info`
_OLDEST_PYTHON = 9  # no Keras 3 ran on an older Python 3 than 3.9
_FACTS = {"six.PY2": False, "six.PY3": True, "sys.version_info.major": 3}
_COMPARE: dict[type[cst.BaseCompOp], Callable[[Any, Any], bool]] = {
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.Is: operator.is_,
    cst.IsNot: operator.is_not,
    cst.In: lambda one, other: operator.contains(other, one),
    cst.NotIn: lambda one, other: not operator.contains(other, one),
}
# IS_TF2, is_keras_3, PY3: what people call the answer to a version check.
_SPEAKS_OF_VERSION = (
    r"(?i)(?<!con)(?<!in)(?<!re)version"
    r"|^_*(?:is|has|have|use|using|on)_?[a-z]+_?v?\d|^_*[A-Z][A-Z_]*_?V?\d+$"
)
# What else has a number: dtypes, norms, formats, data sets.
_NO_SOFTWARE = pattern(
    r"_*(?:(?:is|has|have|use|using|on)_?)?(?:b?float|fp|bf|u?int|l|h|hdf|base|cifar)_?\d",
    re.IGNORECASE,
)


class _OneOf(Struct, frozen=True):
    """What is one of a few values, nobody knows which: the name of the engine under Keras."""

    values: frozenset[str]


class _Names(Struct, frozen=True):
    """What ``dir(module)`` gives."""

    module: str
    knowledge: Knowledge

    def __contains__(self, name: object) -> bool:
        found = self.knowledge.exists(f"{self.module}.{name}")
        return _undecided() if found is None else found


class Conditions:
    """Evaluates conditions in one module.

    ``live`` takes from some bindings those that can be made on the target.
    """

    def __init__(
        self,
        resolver: Resolver,
        knowledge: Knowledge,
        live: Callable[[Iterable[Binding]], list[Binding]],
        kept: Kept,
    ) -> None:
        self._resolver = resolver
        self._knowledge = knowledge
        self._live = live
        self._following = Following(kept, NotAGuard)

    def truth(self, test: cst.BaseExpression) -> bool:
        """Return how ``test`` turns out on the target.

        Raises:
            Undecided, NotAGuard: see there.
        """
        try:
            return bool(self._following.answer(lambda: self._kept(test)))
        except (
            TypeError, ValueError, IndexError, KeyError, AttributeError, InvalidVersion,
            RecursionError,
        ):  # fmt: skip
            raise Undecided from None

    def _kept(self, node: cst.BaseExpression) -> object:
        """Return what an expression is that may lead back to itself; each is evaluated once."""
        return self._following.of(node, lambda: self._value(node))

    def _value(self, node: cst.BaseExpression) -> object:
        match node:
            case cst.SimpleString() | cst.ConcatenatedString() | cst.Integer() | cst.Float():
                return evaluated(node)
            case cst.Tuple():
                return tuple(self._value(each.value) for each in node.elements)
            case cst.List():
                return [self._value(each.value) for each in node.elements]
            case cst.UnaryOperation(operator=cst.Not()):
                return not self._value(node.expression)
            case cst.UnaryOperation(operator=cst.Minus()):
                return operator.neg(self._value(node.expression))  # type: ignore[arg-type]
            case cst.BooleanOperation():
                return self._boolean(node)
            case cst.IfExp():
                return self._value(node.body if self._value(node.test) else node.orelse)
            case cst.Comparison():
                return self._comparison(node)
            case cst.Call():
                return self._call(node)
            case cst.Subscript():
                return self._subscript(node)
            case cst.Name() | cst.Attribute():
                return self._name(node)
            case cst.ListComp() | cst.GeneratorExp():
                return self._comprehension(node)
            case _:
                raise NotAGuard

    def _comprehension(self, node: cst.ListComp | cst.GeneratorExp) -> list[object]:
        """Return what ``int(part) for part in …`` gives."""
        match node.elt, node.for_in:
            case (
                cst.Call(func=cst.Name(value="int"), args=[cst.Arg(value=cst.Name(value=part))]),
                cst.CompFor(target=cst.Name(value=each), inner_for_in=None, ifs=[]),
            ) if part == each:
                return [*map(int, _texts(self._value(node.for_in.iter)))]
        raise NotAGuard

    def _boolean(self, node: cst.BooleanOperation) -> object:
        stops = isinstance(node.operator, cst.Or)  # what settles the whole: True for `or`
        answers: set[type[Exception]] = set()
        value: object = None
        for operand in (node.left, node.right):
            try:
                value = self._value(operand)
            except (Undecided, NotAGuard) as answer:
                answers.add(type(answer))
                continue
            if bool(value) is stops:
                return value
        if answers:
            raise Undecided if Undecided in answers else NotAGuard
        return value

    def _comparison(self, node: cst.Comparison) -> bool:
        left = self._value(node.left)
        for each in node.comparisons:
            right = self._value(each.comparator)
            compare = _COMPARE[type(each.operator)]
            if not _holds(compare, left, right):
                return False
            left = right
        return True

    def _call(self, node: cst.Call) -> object:
        args = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
        function = node.func
        if len(args) != len(node.args):
            return self._of_text(node)
        if isinstance(function, cst.Name):
            scope = self._resolver.scope_of(function)
            bindings = self._resolver.bindings(function.value, function, scope)
            if not bindings:
                return self._builtin(function.value, args)
            if len(bindings) == 1 and isinstance(bindings[0].node, cst.FunctionDef) and not args:
                return self._returned(bindings[0].node)
        name = self._resolver.name_of(function)
        if name in _PARSERS:
            return Version(str(self._value(args[0])))
        if name is not None and (name in _METADATA or name in _GETTERS):
            return self._told_outside(name, args)
        if name is not None and name.endswith(".version") and not args:
            version = self._knowledge.version(name.removesuffix(".version"))
            if version is not None:
                return version
        answers = self._knowledge.answers(name) if name is not None and not args else None
        if answers is not None:
            return _OneOf(frozenset(answers))
        return self._of_text(node)

    def _of_text(self, node: cst.Call) -> object:
        """Return what a method of a text gives: ``keras.__version__.split(".", maxsplit=1)``."""
        function = node.func
        if any(each.star for each in node.args) or not isinstance(function, cst.Attribute):
            return _unknown(function)
        owner = self._value(function.value)
        if not isinstance(owner, str) or function.attr.value not in _READ_OF_TEXT:
            return _unknown(function)
        given = [(each.keyword, self._value(each.value)) for each in node.args]
        positional = [value for keyword, value in given if keyword is None]
        named = {keyword.value: value for keyword, value in given if keyword is not None}
        return getattr(owner, function.attr.value)(*positional, **named)

    def _told_outside(self, name: str, args: Sequence[cst.BaseExpression]) -> object:
        """Return an installed version, or what the environment says of the Keras to be used."""
        first, *default = map(self._value, args)
        if name in _METADATA:
            version = self._knowledge.version(str(first).replace("-", "_"))
            return _refuse() if version is None else version
        if first != LEGACY_SWITCH:
            raise NotAGuard
        if self._is_switched():
            return "1"
        return default[0] if default else None

    def _is_switched(self) -> bool:
        """Say whether ``tf.keras`` is tf_keras on the target."""
        return (self._knowledge.version("tensorflow.keras") or "").startswith("2.") and (
            self._knowledge.version("keras") or ""
        ).startswith("3.")

    def _returned(self, function: cst.FunctionDef) -> object:
        """Return what a function gives that does nothing but answer: ``def is_old(): return …``."""
        lines = [line for line in function.body.body if isinstance(line, cst.SimpleStatementLine)]
        match lines[-1].body if len(lines) == len(function.body.body) else ():
            case [cst.Return(value=cst.BaseExpression() as answer)]:
                try:
                    return self._kept(answer)
                except NotAGuard:
                    return _unknown(function.name)
            case _:
                return _unknown(function.name)

    def _builtin(self, name: str, args: list[cst.BaseExpression]) -> object:
        match name, args:
            case ("hasattr", [owner, member]) | ("getattr", [owner, member, _]):
                return self._has(owner, member)
            case ("int" | "float" | "str" | "tuple" | "list" | "bool", [only]):
                value = self._value(only)
                made = {"int": int, "float": float, "str": str, "tuple": tuple, "list": list}
                return made.get(name, bool)(value)
            case ("map", [cst.Name(value="int"), values]):
                return [*map(int, _texts(self._value(values)))]
            case ("dir" | "vars", [owner]):
                module = self._resolver.name_of(owner)
                return _refuse() if module is None else _Names(module, self._knowledge)
            case _:
                return _unknown(cst.Name(name))

    def _has(self, owner: cst.BaseExpression, member: cst.BaseExpression) -> bool | None:
        name = self._resolver.name_of(owner)
        attribute = self._value(member)
        if name is None:
            raise NotAGuard
        found = self._knowledge.exists(f"{name}.{attribute}")
        if found is None:
            raise Undecided
        return found or None

    def _subscript(self, node: cst.Subscript) -> object:
        value = self._value(node.value)
        element = node.slice[0].slice
        if isinstance(element, cst.Index):
            index = self._value(element.value)
            if value is _PYTHON:
                return 3 if index == 0 else _undecided()
            return value[index]  # type: ignore[index]
        if value is _PYTHON:
            return _PYTHON
        if not isinstance(element, cst.Slice):
            raise NotAGuard
        bounds = (element.lower, element.upper, element.step)
        return value[slice(*(None if each is None else self._value(each) for each in bounds))]  # type: ignore[index]

    def _name(self, node: cst.Name | cst.Attribute) -> object:
        if isinstance(node, cst.Name) and node.value in {"True", "False", "None"}:
            return {"True": True, "False": False, "None": None}[node.value]
        name = self._resolver.name_of(node)
        if name is not None:
            if name == "sys.version_info":
                return _PYTHON
            if name in _FACTS:
                return _FACTS[name]
            module, _, last = name.rpartition(".")
            if last in {"__version__", "VERSION"}:
                version = self._knowledge.version(module)
                return _undecided() if version is None else version
        if isinstance(node, cst.Attribute):
            if node.attr.value in {"major", "minor", "release"} and name is None:
                return getattr(self._value(node.value), node.attr.value)
            return self._member(node) if name is None else _unknown(node)
        return self._variable(node)

    def _member(self, node: cst.Attribute) -> object:
        """Return what ``self.is_keras_3`` is, where a class sets it to the answer of a check."""
        values = []
        for value in kept_answers(node, self._resolver):
            try:
                values.append(self._kept(value))
            except NotAGuard:
                return _unknown(node)
        if not values or any(each != values[0] for each in values):
            return _unknown(node)
        return values[0]

    def _variable(self, node: cst.Name) -> object:
        scope = self._resolver.scope_of(node)
        bindings = self._resolver.bindings(node.value, node, scope)
        values: list[object] = []
        live = self._live(bindings)
        for binding in live:
            if binding.kind is BindingKind.IMPORT and len(live) < len(bindings):
                values.append(True)  # a module that could be imported
                continue
            value = part_of(binding.value, binding.path)
            steps: Sequence[int | None] = ()
            if value is None:  # `major, minor = map(int, …)`
                value, steps = binding.value, binding.path
            if binding.kind is not BindingKind.ASSIGN or value is None:
                return _unknown(node)
            try:
                values.append(_part(self._kept(value), steps))
            except NotAGuard:
                return _unknown(node)
        if not values or any(each != values[0] for each in values):
            return _unknown(node)
        return values[0]


def _unknown(node: cst.BaseExpression) -> object:
    """Tell by its name alone whether something is the answer to a version check."""
    name = node.attr if isinstance(node, cst.Attribute) else node
    if isinstance(name, cst.Name) and speaks_of_version(name.value):
        raise Undecided
    raise NotAGuard


def speaks_of_version(name: str) -> bool:
    """Say whether a variable or function of this name holds the answer to a version check.

    >>> [speaks_of_version(name) for name in ("IS_TF2", "keras_version", "x1", "use_fp16")]
    [True, True, False, False]
    """
    match = re.search(_SPEAKS_OF_VERSION, name)
    if match is None or (match[0].lower() != "version" and _NO_SOFTWARE.match(name)):
        return False
    # An ordinary variable (`x1`, `conv2`) is no constant.
    by_prefix = match[0].lower().lstrip("_").startswith(("version", "is", "has", "use", "on"))
    return by_prefix or name.isupper()


def _texts(value: object) -> Sequence[str]:
    if not isinstance(value, list | tuple):
        raise NotAGuard
    return value


def _part(value: Any, steps: Sequence[int | None]) -> object:
    """Return the part of a value that an unpacking assignment takes."""
    for step in steps:
        if step is None or not isinstance(value, list | tuple):
            raise NotAGuard
        value = value[step]
    return value


def _undecided() -> NoReturn:
    raise Undecided


def _refuse() -> NoReturn:
    raise NotAGuard


def _holds(compare: Callable[[Any, Any], bool], left: object, right: object) -> bool:
    """Compare two values, of which the left one may be known in part only."""
    if left is _PYTHON:
        return _compare_python(compare, right)
    if not isinstance(left, _OneOf):
        return compare(*_of_one_kind(left, right))
    found = {compare(each, right) for each in left.values}
    if len(found) != 1:
        raise NotAGuard
    return found.pop()


def _of_one_kind(left: object, right: object) -> tuple[object, object]:
    """Return both as versions where one is (a LooseVersion is compared with a text)."""
    if isinstance(left, Version) and isinstance(right, str):
        return left, Version(right)
    if isinstance(right, Version) and isinstance(left, str):
        return Version(left), right
    return left, right


def _compare_python(compare: Callable[[Any, Any], bool], other: object) -> bool:
    """Compare ``sys.version_info``, of which only ``(3, 9 or later)`` is known."""
    if not isinstance(other, tuple) or not other:
        raise Undecided
    if other[0] != 3 or len(other) == 1 or other[1] < _OLDEST_PYTHON:
        return compare((3, _OLDEST_PYTHON, 1), other)
    raise Undecided
