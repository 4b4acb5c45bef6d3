"""Evaluate conditions on the target: version checks, ``hasattr``, import flags.

A condition has one of three answers: a value, ``Undecided`` (it speaks of versions, but which way
it goes is not known), or ``NotAGuard`` (it is about something else). What is known in part, the
version of Python and the engine under Keras, is tried with each value that it may have, so that it
does not matter on which side of a comparison it stands.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import libcst as cst
from msgspec import Struct
from packaging.version import InvalidVersion

from kdoctor.lazy_regex import pattern
from kdoctor.syntax.alias_chains import AliasCache, AliasChain
from kdoctor.syntax.condition_values import (
    OF_PYTHON,
    NotAGuard,
    PossibleConstants,
    Undecided,
    UnknownObject,
    compare_partially,
    is_text,
    known,
    map_possible,
    numbers_in,
    python_versions,
    truth_of,
    version_of,
)
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.syntax.stored_version_checks import stored_version_answers
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.target import LEGACY_SWITCH

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
_FACTS = {"six.PY2": False, "six.PY3": True}
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


class _Names(Struct, frozen=True):
    """What ``dir(module)`` gives."""

    module: str
    oracle: TypeOracle

    def __contains__(self, name: object) -> bool:
        found = self.oracle.exists(f"{self.module}.{name}")
        return _undecided() if found is None else found


class Conditions:
    """Evaluates the conditions of one module.

    ``live`` takes from some bindings those that can be made on the target. ``on_new_python``: what
    comes out where Python is newer than any that the code asks for.
    """

    def __init__(
        self,
        resolver: Resolver,
        oracle: TypeOracle,
        live: Callable[[Iterable[Binding]], list[Binding]],
        kept: AliasCache,
        *,
        on_new_python: bool = False,
    ) -> None:
        self._resolver = resolver
        self._oracle = oracle
        self._live = live
        self._following = AliasChain(kept, NotAGuard)
        self._on_new_python = on_new_python

    def truth(self, test: cst.BaseExpression) -> bool:
        """Return the outcome of ``test`` on the target.

        Raises:
            Undecided, NotAGuard: see there.
        """
        try:
            return truth_of(self._following.answer(lambda: self._memoized(test)))
        except (
            TypeError, ValueError, IndexError, KeyError, AttributeError, InvalidVersion,
            RecursionError,
        ):  # fmt: skip
            raise Undecided from None

    def _memoized(self, node: cst.BaseExpression) -> object:
        """Return what an expression is that may lead back to itself; each is evaluated once."""
        return self._following.of(node, lambda: self._value(node))

    def _value(self, node: cst.BaseExpression) -> object:
        match node:
            case cst.BaseString() | cst.Integer() | cst.Float() if (
                value := literal(node)
            ) is not UNKNOWN:
                return value
            case cst.Tuple() | cst.List() | cst.Set():
                values = [self._value(each) for each in _elements(node)]
                made = {cst.Tuple: tuple, cst.List: list, cst.Set: frozenset}[type(node)]
                return map_possible(lambda *each: made(each), *values)
            case cst.UnaryOperation(operator=cst.Not()):
                return not truth_of(self._value(node.expression))
            case cst.UnaryOperation(operator=cst.Minus()):
                return map_possible(operator.neg, self._value(node.expression))
            case cst.BooleanOperation():
                stops = isinstance(node.operator, cst.Or)
                return self._short_circuit_value((node.left, node.right), stops=stops)
            case cst.IfExp():
                is_so = truth_of(self._value(node.test))
                return self._value(node.body if is_so else node.orelse)
            case cst.NamedExpr():
                return self._value(node.value)
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

    def _comprehension(self, node: cst.ListComp | cst.GeneratorExp) -> object:
        """Return what ``int(part) for part in …`` gives."""
        match node.elt, node.for_in:
            case (
                cst.Call(func=cst.Name(value="int"), args=[cst.Arg(value=cst.Name(value=part))]),
                cst.CompFor(target=cst.Name(value=each), inner_for_in=None, ifs=[]),
            ) if part == each:
                return map_possible(numbers_in, self._value(node.for_in.iter))
        raise NotAGuard

    def _short_circuit_value(
        self, operands: Iterable[cst.BaseExpression], *, stops: bool
    ) -> object:
        """Return what ``and`` or ``or`` gives; ``stops``: what settles the whole, True for ``or``.

        One operand may settle it where others are not known.
        """
        unknown: set[type[Exception]] = set()
        value: object = not stops
        for operand in operands:
            # Each part of `a and b and c` is a condition of what stands behind it.
            is_chain = isinstance(operand, cst.BooleanOperation)
            try:
                value = self._memoized(operand) if is_chain else self._value(operand)
                is_true = truth_of(value)
            except (Undecided, NotAGuard) as answer:
                unknown.add(type(answer))
                continue
            if is_true is stops:
                return value
        return known(value, unknown)

    def _comparison(self, node: cst.Comparison) -> object:
        """Return what a comparison gives: ``2 <= x < 3`` is both, and one may settle it."""
        unknown: set[type[Exception]] = set()
        left = self._operand(node.left)
        for each in node.comparisons:
            right = self._operand(each.comparator)
            try:
                is_so = truth_of(compare_partially(type(each.operator), left, right))
            except (Undecided, NotAGuard) as answer:
                unknown.add(type(answer))
            else:
                if not is_so:
                    return False
            left = right
        return known(True, unknown)

    def _operand(self, node: cst.BaseExpression) -> object:
        """Return the value of one side, or that it has none that is known."""
        try:
            return self._value(node)
        except (Undecided, NotAGuard) as answer:
            return type(answer)()  # its own would hold, by its traceback, the frame that holds it

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
                return self._function_result(bindings[0].node)
        name = self._resolver.name_of(function)
        if name in _PARSERS:
            return map_possible(version_of, self._value(args[0]))
        if name is not None and (name in _METADATA or name in _GETTERS):
            return self._environment_value(name, args)
        if name is not None and name.endswith(".version") and not args:
            version = self._oracle.version(name.removesuffix(".version"))
            if version is not None:
                return version
        told = None if args else self._of_python(f"{name}()")
        if told is not None:
            return told
        answers = self._oracle.answers(name) if name is not None and not args else None
        if answers is not None:
            return map_possible(str, PossibleConstants(tuple(sorted(answers))))
        return self._of_text(node)

    def _of_text(self, node: cst.Call) -> object:
        """Return what a method of a text gives: ``keras.__version__.split(".", maxsplit=1)``."""
        function = node.func
        if any(each.star for each in node.args) or not isinstance(function, cst.Attribute):
            return _unknown(function)
        owner, method = self._value(function.value), function.attr.value
        if method not in _READ_OF_TEXT or not map_possible(is_text, owner):
            return _unknown(function)
        given = [(each.keyword, self._value(each.value)) for each in node.args]
        positional = [value for keyword, value in given if keyword is None]
        named = {keyword.value: value for keyword, value in given if keyword is not None}
        return map_possible(
            lambda text, *args: getattr(text, method)(*args, **named), owner, *positional
        )

    def _environment_value(self, name: str, args: Sequence[cst.BaseExpression]) -> object:
        """Return an installed version, or what the environment says of the Keras to be used."""
        first, *default = map(self._value, args)
        if name in _METADATA:
            version = self._oracle.version(str(first).replace("-", "_"))
            return _refuse() if version is None else version
        if first != LEGACY_SWITCH:
            raise NotAGuard
        if self._is_switched():
            return "1"
        return default[0] if default else None

    def _is_switched(self) -> bool:
        """Say whether ``tf.keras`` is tf_keras on the target."""
        return (self._oracle.version("tensorflow.keras") or "").startswith("2.") and (
            self._oracle.version("keras") or ""
        ).startswith("3.")

    def _function_result(self, function: cst.FunctionDef) -> object:
        """Return what a function gives that does nothing but answer: ``def is_old(): return …``."""
        lines = [line for line in function.body.body if isinstance(line, cst.SimpleStatementLine)]
        match lines[-1].body if len(lines) == len(function.body.body) else ():
            case [cst.Return(value=cst.BaseExpression() as answer)]:
                try:
                    return self._memoized(answer)
                except NotAGuard:
                    return _unknown(function.name)
            case _:
                return _unknown(function.name)

    def _builtin(self, name: str, args: list[cst.BaseExpression]) -> object:
        match name, args:
            case "hasattr", [owner, member]:
                return self._hasattr_result(owner, member)
            case "getattr", [owner, member, default]:
                return (
                    self._getattr_result(owner, member)
                    if self._hasattr_result(owner, member)
                    else self._value(default)
                )
            case "any" | "all", [cst.List() | cst.Tuple() as operands]:
                stops = name == "any"
                return truth_of(self._short_circuit_value(_elements(operands), stops=stops))
            case ("int" | "float" | "str" | "tuple" | "list" | "bool" | "len", [only]):
                made = {"int": int, "float": float, "str": str, "tuple": tuple, "list": list}
                function = len if name == "len" else made.get(name, bool)
                return map_possible(function, self._value(only))
            case ("map", [cst.Name(value="int"), values]):
                return map_possible(numbers_in, self._value(values))
            case ("dir" | "vars", [owner]):
                module = self._resolver.name_of(owner)
                return _refuse() if module is None else _Names(module, self._oracle)
            case _:
                return _unknown(cst.Name(name))

    def _hasattr_result(self, owner: cst.BaseExpression, member: cst.BaseExpression) -> bool:
        name = self._resolver.name_of(owner)
        attribute = self._value(member)
        if name is None:
            raise NotAGuard
        found = self._oracle.exists(f"{name}.{attribute}")
        return _undecided() if found is None else found

    def _getattr_result(self, owner: cst.BaseExpression, member: cst.BaseExpression) -> object:
        """Return what ``getattr`` gives of a module: its version, else something."""
        name = f"{self._resolver.name_of(owner)}.{self._value(member)}"
        told = self._imported_version(name)
        return UnknownObject() if told is None else told

    def _subscript(self, node: cst.Subscript) -> object:
        value = self._value(node.value)
        element = node.slice[0].slice
        if isinstance(element, cst.Index):
            return map_possible(operator.getitem, value, self._value(element.value))
        if not isinstance(element, cst.Slice):
            raise NotAGuard
        bounds = (element.lower, element.upper, element.step)
        part = slice(*(None if each is None else self._value(each) for each in bounds))
        return map_possible(lambda each: each[part], value)

    def _name(self, node: cst.Name | cst.Attribute) -> object:
        if isinstance(node, cst.Name) and node.value in {"True", "False", "None"}:
            return {"True": True, "False": False, "None": None}[node.value]
        name = self._resolver.name_of(node)
        told = None if name is None else self._imported_version(name)
        if told is not None:
            return told
        if isinstance(node, cst.Attribute):
            if node.attr.value in {"major", "minor", "micro", "release"} and name is None:
                return map_possible(operator.attrgetter(node.attr.value), self._value(node.value))
            return self._member(node) if name is None else _unknown(node)
        return self._variable(node)

    def _imported_version(self, name: str) -> object | None:
        """Return what an imported name tells of versions, None where it tells nothing."""
        if (told := self._of_python(name)) is not None:
            return told
        if name in _FACTS:
            return _FACTS[name]
        module, _, last = name.rpartition(".")
        if last in {"__version__", "VERSION"}:
            version = self._oracle.version(module)
            return _undecided() if version is None else version
        if last == "__dict__":
            return _Names(module, self._oracle)
        return None

    def _of_python(self, name: str) -> object | None:
        read = OF_PYTHON.get(name)
        if read is None:
            return None
        versions = python_versions(newest=self._on_new_python)
        told: object = map_possible(read, PossibleConstants(versions, is_version=True))
        return told

    def _member(self, node: cst.Attribute) -> object:
        """Return what ``self.is_keras_3`` is, where a class sets it to the answer of a check."""
        values = []
        for value in stored_version_answers(node, self._resolver):
            try:
                values.append(self._memoized(value))
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
                values.append(map_possible(_part, self._memoized(value), tuple(steps)))
            except NotAGuard:
                return _unknown(node)
        if not values or any(each != values[0] for each in values):
            return _unknown(node)
        return values[0]


def _unknown(node: cst.BaseExpression) -> object:
    """Tell by its name alone whether something is the answer to a version check."""
    name = node.attr if isinstance(node, cst.Attribute) else node
    if isinstance(name, cst.Name) and is_version_check_name(name.value):
        raise Undecided
    raise NotAGuard


def is_version_check_name(name: str) -> bool:
    """Say whether a name suggests a version check's result.

    >>> [speaks_of_version(name) for name in ("IS_TF2", "keras_version", "x1", "use_fp16")]
    [True, True, False, False]
    """
    match = re.search(_SPEAKS_OF_VERSION, name)
    if match is None or (match[0].lower() != "version" and _NO_SOFTWARE.match(name)):
        return False
    # An ordinary variable (`x1`, `conv2`) is no constant.
    by_prefix = match[0].lower().lstrip("_").startswith(("version", "is", "has", "use", "on"))
    return by_prefix or name.isupper()


def _elements(node: cst.Tuple | cst.List | cst.Set) -> list[cst.BaseExpression]:
    if any(not isinstance(each, cst.Element) for each in node.elements):
        raise NotAGuard  # `*others`
    return [each.value for each in node.elements]


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
