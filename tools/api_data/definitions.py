"""What a definition says about itself: signatures, stubs, class members, families."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kdoctor.keras_api.tables import ClassFamily, EntryKind, MemberKind
from tools.api_data.packages import Meaning, Package

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

# The classes that make a family, by their own name: the nearest in the MRO decides, so that
# Keras 2's Metric (a Layer) is a metric and Model (a Layer) is a model.
_FAMILIES = {
    "Layer": ClassFamily.LAYER,
    "Model": ClassFamily.MODEL,
    "Network": ClassFamily.MODEL,
    "Container": ClassFamily.MODEL,
    "Optimizer": ClassFamily.OPTIMIZER,
    "OptimizerV2": ClassFamily.OPTIMIZER,
    "_BaseOptimizer": ClassFamily.OPTIMIZER,
    "BaseOptimizer": ClassFamily.OPTIMIZER,
    "Loss": ClassFamily.LOSS,
    "Metric": ClassFamily.METRIC,
    "Callback": ClassFamily.CALLBACK,
    "Initializer": ClassFamily.INITIALIZER,
    "Regularizer": ClassFamily.REGULARIZER,
    "Constraint": ClassFamily.CONSTRAINT,
    "Variable": ClassFamily.VARIABLE,
    "KerasTensor": ClassFamily.TENSOR,
}


# Foreign bases without a constructor of their own.
_MAKE_NOTHING = {"object", "abc.ABC"}


@dataclass(frozen=True, slots=True)
class MemberRead:
    """One member as a class itself defines it."""

    name: str
    kind: MemberKind
    signature: str | None = None
    stub: str = ""


@dataclass(frozen=True, slots=True)
class ClassRead:
    """A class as its own body defines it; ``bases`` are homes."""

    home: str
    bases: tuple[str, ...]
    family: ClassFamily
    dynamic: bool
    members: tuple[MemberRead, ...]


def signature_text(arguments: ast.arguments, *, bound: bool) -> str:
    """Return ``x, axis=-1, **kwargs`` without annotations; without the first one if ``bound``."""
    plain = ast.arguments(
        posonlyargs=[ast.arg(item.arg) for item in arguments.posonlyargs],
        args=[ast.arg(item.arg) for item in arguments.args],
        vararg=arguments.vararg and ast.arg(arguments.vararg.arg),
        kwonlyargs=[ast.arg(item.arg) for item in arguments.kwonlyargs],
        kw_defaults=arguments.kw_defaults,
        kwarg=arguments.kwarg and ast.arg(arguments.kwarg.arg),
        defaults=arguments.defaults,
    )
    if bound:
        for parameters in (plain.posonlyargs, plain.args):
            if parameters:
                del parameters[0]
                break
        plain.defaults = plain.defaults[-(len(plain.posonlyargs) + len(plain.args)) :]
        if not plain.posonlyargs and not plain.args:
            plain.defaults = []
    return ast.unparse(plain)


def stub_text(function: Function) -> str:
    """Return what ``function`` raises before it does anything else; "" for a working one.

    ``NotImplementedError`` is how abstract methods look, no stub.
    """
    body = function.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    match body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=arguments)), *_] if (
            name != "NotImplementedError"
        ):
            match arguments:
                case [ast.Constant(value=str() as message)]:
                    return f"{name}: {message}"
                case _:
                    return name
        case _:
            return ""


class Definitions:
    """Reads the definitions of one package; classes are read once."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._mros: dict[str, tuple[Meaning, ...]] = {}
        self._reads: dict[str, ClassRead] = {}

    def signature(self, meaning: Meaning) -> str | None:
        """Return the signature of a function or of making a class's instances."""
        match meaning:
            case Meaning(EntryKind.FUNCTION, node=ast.FunctionDef() | ast.Lambda() as node):
                return signature_text(node.args, bound=False)
            case Meaning(EntryKind.CLASS):
                if any(_has_metaclass(base) for base in self.mro(meaning)):
                    return None  # it may make the instances in another way
                if maker := self._maker(meaning):
                    return signature_text(maker.args, bound=True)
                if fields := self._fields(meaning):
                    return ", ".join(fields)
                bases = (base for base in self.mro(meaning) if base.kind is not EntryKind.CLASS)
                return "" if all(base.home in _MAKE_NOTHING for base in bases) else None
            case _:
                return None

    def stub(self, meaning: Meaning) -> str:
        """Return what the object raises as soon as it is called; "" for a working one."""
        match meaning:
            case Meaning(EntryKind.FUNCTION, node=ast.FunctionDef() as node):
                return stub_text(node)
            case Meaning(EntryKind.CLASS):
                maker = self._maker(meaning)
                return "" if maker is None else stub_text(maker)
            case _:
                return ""

    def family(self, meaning: Meaning) -> ClassFamily:
        """Return which kind of Keras object the class makes."""
        if meaning.kind is not EntryKind.CLASS:
            return ClassFamily.OTHER
        leaves = (base.home.rpartition(".")[2] for base in self.mro(meaning))
        return next((_FAMILIES[leaf] for leaf in leaves if leaf in _FAMILIES), ClassFamily.OTHER)

    def mro(self, meaning: Meaning) -> tuple[Meaning, ...]:
        """Return the class and its bases in Python's order; foreign bases are EXTERNAL."""
        if meaning.home not in self._mros:
            self._mros[meaning.home] = (meaning,)  # a class among its own bases: cut short
            lists = [self.mro(base) for base in self.bases(meaning)]
            self._mros[meaning.home] = (meaning, *_merge([*lists, tuple(self.bases(meaning))]))
        return self._mros[meaning.home]

    def bases(self, meaning: Meaning) -> list[Meaning]:
        """Return the direct bases."""
        if not isinstance(meaning.node, ast.ClassDef):
            return []
        found = []
        for base in meaning.node.bases:
            if any(_tuple_fields(base)):
                continue
            expression = base.args[-1] if isinstance(base, ast.Call) and base.args else base
            known = self.package.expression(meaning.module, expression)
            known = known or Meaning(EntryKind.EXTERNAL, ast.unparse(base))
            if known.home == meaning.home:  # ``x = X`` and then ``class X(x)``: an earlier X
                known = Meaning(EntryKind.EXTERNAL, ast.unparse(base))
            found.append(known)
        return found

    def read(self, meaning: Meaning) -> ClassRead:
        """Read what the class itself defines."""
        if meaning.home not in self._reads:
            assert isinstance(meaning.node, ast.ClassDef)
            members = {member.name: member for member in _attributes(meaning.node)}
            fields = [field for base in meaning.node.bases for field in _tuple_fields(base)]
            members |= {field.name: field for field in fields}
            members |= {member.name: member for member in _body_members(meaning.node.body)}
            self._reads[meaning.home] = ClassRead(
                meaning.home,
                tuple(base.home for base in self.bases(meaning)),
                self.family(meaning),
                not members.keys().isdisjoint({"__getattr__", "__getattribute__"})
                or any(map(_computes_members, meaning.node.body)),
                tuple(members[name] for name in sorted(members) if not _is_dunder(name)),
            )
        return self._reads[meaning.home]

    def _fields(self, meaning: Meaning) -> list[str]:
        """Return the fields of a class that is a named tuple."""
        return [
            member.name
            for base in self.mro(meaning)
            if isinstance(base.node, ast.ClassDef)
            for expression in base.node.bases
            for member in _tuple_fields(expression)
            if member.kind is MemberKind.PROPERTY
        ]

    def _maker(self, meaning: Meaning) -> Function | None:
        for name in ("__init__", "__new__"):
            for base in self.mro(meaning):
                if isinstance(base.node, ast.ClassDef):
                    for statement in base.node.body:
                        if isinstance(statement, ast.FunctionDef) and statement.name == name:
                            return statement
        return None


def _merge(lists: list[tuple[Meaning, ...]]) -> Iterator[Meaning]:
    """C3, except that it takes the first head where Python would refuse."""
    while lists := [rest for rest in lists if rest]:
        tails = {meaning.home for rest in lists for meaning in rest[1:]}
        head = next((rest[0] for rest in lists if rest[0].home not in tails), lists[0][0])
        yield head
        lists = [tuple(item for item in rest if item.home != head.home) for rest in lists]


def _has_metaclass(meaning: Meaning) -> bool:
    return isinstance(meaning.node, ast.ClassDef) and any(
        keyword.arg == "metaclass" and not ast.unparse(keyword.value).endswith("ABCMeta")
        for keyword in meaning.node.keywords
    )


def _computes_members(statement: ast.stmt) -> bool:
    """Say whether a method gives its object or class attributes whose names it computes."""
    if not isinstance(statement, ast.FunctionDef) or not statement.args.args:
        return False
    owner = statement.args.args[0].arg
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name), attr, _]) if (
                name == owner and not isinstance(attr, ast.Constant)
            ):
                return True
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(value=ast.Name(id=name), attr="__dict__"), attr="update"
                )
            ) if name == owner:
                return True
            case _:
                pass
    return False


def _tuple_fields(base: ast.expr) -> Iterator[MemberRead]:
    """What ``class X(namedtuple("X", ["a", "b"]))`` has by this base."""
    match base:
        case ast.Call(
            func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"),
            args=[_, ast.List(elts=fields) | ast.Tuple(elts=fields)],
        ):
            for name in ("count", "index"):
                yield MemberRead(name, MemberKind.METHOD)
            for field in fields:
                if isinstance(field, ast.Constant):
                    yield MemberRead(str(field.value), MemberKind.PROPERTY)
        case _:
            pass


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _body_members(body: list[ast.stmt]) -> Iterator[MemberRead]:
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield _method(statement)
            case ast.ClassDef(name=name):
                yield MemberRead(name, MemberKind.VALUE)
            case ast.Assign(targets=targets, value=value):
                kind = _value_kind(value)
                for target in targets:
                    yield from (MemberRead(name, kind) for name in _names(target))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield MemberRead(name, MemberKind.VALUE)
            case ast.If():
                yield from _body_members(statement.orelse)
                yield from _body_members(statement.body)
            case ast.Try():
                yield from _body_members(statement.body)
            case ast.For() | ast.With():
                yield from _body_members(statement.body)
            case _:
                pass


def _value_kind(value: ast.expr) -> MemberKind:
    """``unwrapped = property()`` hides a base's property of that name."""
    match value:
        case ast.Call(func=ast.Name(id="property")):
            return MemberKind.PROPERTY
        case _:
            return MemberKind.VALUE


def _names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _names(element)
        case _:
            pass


def _method(function: Function) -> MemberRead:
    decorators = {ast.unparse(item).partition("(")[0] for item in function.decorator_list}
    leaves = {text.rpartition(".")[2] for text in decorators}
    if any(leaf.endswith("property") for leaf in leaves) or leaves & {"setter", "deleter"}:
        return MemberRead(function.name, MemberKind.PROPERTY, stub=stub_text(function))
    kind = MemberKind.METHOD
    if "staticmethod" in leaves:
        kind = MemberKind.STATIC
    elif "classmethod" in leaves:
        kind = MemberKind.CLASS
    signature = signature_text(function.args, bound=kind is not MemberKind.STATIC)
    return MemberRead(function.name, kind, signature, stub_text(function))


def _attributes(node: ast.ClassDef) -> Iterator[MemberRead]:
    """What the methods assign on ``self`` (their first parameter), and ``__slots__``."""
    for statement in node.body:
        match statement:
            case ast.FunctionDef(args=ast.arguments(args=[owner, *_])):
                yield from _assigned_on(owner.arg, statement)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=slots):
                for item in ast.walk(slots):
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield MemberRead(item.value, MemberKind.ATTRIBUTE)
            case _:
                pass


def _assigned_on(owner: str, function: ast.FunctionDef) -> Iterator[MemberRead]:
    for item in ast.walk(function):
        match item:
            case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()) if (
                name == owner
            ):
                yield MemberRead(attr, MemberKind.ATTRIBUTE)
            case ast.Call(
                func=ast.Name(id="setattr") | ast.Attribute(attr="__setattr__"),
                args=[*_, ast.Constant(value=str() as attr), ast.expr()],
            ):
                yield MemberRead(attr, MemberKind.ATTRIBUTE)
            # Keras 2's optimizers: ``self._set_hyper("learning_rate", …)``
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="_set_hyper"),
                args=[ast.Constant(value=str() as attr), *_],
            ) if name == owner:
                yield MemberRead(attr, MemberKind.ATTRIBUTE)
            case _:
                pass


_SET = re.compile(r"^[ \t]*([\w.\[\]]+)\.([a-zA-Z]\w*)[ \t]*=(?!=)", re.MULTILINE)
_SETATTR = re.compile(r"setattr\(\s*[\w.]+,\s*[\"']([a-zA-Z]\w*)[\"']")


def attributes_set_from_outside(sources: Iterable[str]) -> frozenset[str]:
    """Public attributes that some code of the package sets on other objects than ``self``.

    ``self.model.history = self`` of the History callback gives models an attribute that no model
    class shows.
    """
    found: set[str] = set()
    for source in sources:
        found |= {attr for owner, attr in _SET.findall(source) if owner not in {"self", "cls"}}
        found.update(_SETATTR.findall(source))
    return frozenset(found)
