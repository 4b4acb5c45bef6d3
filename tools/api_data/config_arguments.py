"""Generate what ``from_config`` takes: ``python -m tools.api_data.config_arguments``.

A class hands the ``**kwargs`` of its ``__init__`` to that of its base, takes some of them out, and
passes others itself: what can be said in a configuration is what is left. Private bases count, for
most classes of Keras have one. ``python -m tools.api_data`` writes it with all else; this needs the
wheels of Keras 3 alone.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kdoctor.keras_api.config_arguments import FILE, ROOT, ConfigSpan, ConfigTable, pack
from kdoctor.keras_api.members import FOREIGN_BASES
from kdoctor.keras_api.tables import DATA, EntryKind
from tools.api_data.definitions import Definitions
from tools.api_data.packages import Meaning, Package
from tools.api_data.private_modules import releases
from tools.api_data.releases import DEFAULT_CACHE, fetch
from tools.api_data.wheels import Wheel, requires_python

KINDS = (
    *("activations", "constraints", "dtype_policies", "initializers", "layers"),
    *("losses", "metrics", "optimizers", "regularizers"),
)
OUT = Path(__file__).parents[2] / "kdoctor" / "keras_api" / DATA


@dataclass(frozen=True, slots=True)
class Taken:
    """What a constructor takes by keyword; ``ordered`` are those that may be passed by place."""

    names: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    is_open: bool = False
    ordered: tuple[str, ...] = ()
    whole: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Forwarding:
    """The calls in a function that hand its ``**kwargs`` on."""

    calls: list[ast.Call] = field(default_factory=list)
    popped: set[str] = field(default_factory=set)
    raises: bool = False


def read(wheels: Sequence[Wheel], pythons: Sequence[str] = ()) -> ConfigTable:
    """Read the classes of some releases of Keras, oldest first, which run on these Pythons."""
    found: dict[str, list[tuple[int, Taken]]] = defaultdict(list)
    said: dict[str, dict[str, list[tuple[int, int, str]]]] = {}
    for number, wheel in enumerate(wheels):
        package = Package(wheel)
        for home, taken in sorted(_Reader(package).classes()):
            found[home.removeprefix(f"{ROOT}.")].append((number, taken))
        for kind in KINDS:
            of_kind = said.setdefault(kind, {})
            for text, home in sorted(identifiers(package, kind).items()):
                spans = of_kind.setdefault(text, [])
                if spans and spans[-1][1:] == (number - 1, home):
                    spans[-1] = (spans[-1][0], number, home)
                else:
                    spans.append((number, number, home))
    words = {word for spans in found.values() for _, taken in spans for word in taken.names}
    names = tuple(sorted(words))
    numbers = {name: number for number, name in enumerate(names)}
    classes = {home: tuple(_spans(spans, numbers)) for home, spans in sorted(found.items())}
    told = {
        kind: {text: tuple(spans) for text, spans in sorted(of_kind.items())}
        for kind, of_kind in said.items()
    }
    versions = tuple(wheel.version for wheel in wheels)
    return ConfigTable(versions, names, classes, told, tuple(pythons))


def _spans(found: list[tuple[int, Taken]], numbers: dict[str, int]) -> Iterator[ConfigSpan]:
    first, before, taken = found[0][0], found[0][0], found[0][1]

    def span() -> ConfigSpan:
        wanted, required, whole = (
            tuple(sorted(numbers[each] for each in names))
            for names in (taken.names, taken.required, taken.whole)
        )
        return ConfigSpan(first, before, wanted, required, taken.is_open, whole)

    for number, each in found[1:]:
        if number != before + 1 or _unlike(each, taken):
            yield span()
            first, taken = number, each
        before = number
    yield span()


def _unlike(one: Taken, other: Taken) -> bool:
    return replace(one, ordered=()) != replace(other, ordered=())


class _Reader:
    """Reads what the classes of one release take."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.definitions = Definitions(package)

    def classes(self) -> Iterator[tuple[str, Taken]]:
        """Yield the home of each class of ``keras.src`` that has a ``from_config``."""
        for module in sorted(self.package.modules):
            if not module.startswith(f"{ROOT}."):
                continue
            for name in sorted(self.package.bound_names(module)):
                meaning = self.package.meaning(module, name)
                if meaning is None or meaning.home != f"{module}.{name}":
                    continue
                if meaning.kind is EntryKind.CLASS and self._has_from_config(meaning):
                    yield meaning.home, self.from_config(meaning)

    def _has_from_config(self, meaning: Meaning) -> bool:
        mro = self.definitions.mro(meaning)
        return any(_method(base, "from_config") for base in mro)

    def from_config(self, meaning: Meaning) -> Taken:
        """Return what the configuration of a class may hold."""
        made = self._made(self.definitions.mro(meaning))
        for base in self.definitions.mro(meaning):
            reader = _method(base, "from_config")
            if reader is None:
                continue
            config = reader.args.args[1].arg if len(reader.args.args) > 1 else ""
            found = _forwarding(reader, config)
            if not found.calls and not _hands_on(reader, config):
                return Taken(made.names | found.popped, is_open=True)
            names, required = made.names | found.popped, made.required - _set(reader, config)
            made = replace(made, names=names, required=required)
            if not _hands_on(reader, config):
                break
        return made

    def _made(self, mro: Sequence[Meaning]) -> Taken:
        """Return what the first ``__init__`` among these classes takes, with all that it calls."""
        for number, base in enumerate(mro):
            maker = _method(base, "__init__")
            if maker is not None:
                return self._of_maker(maker, base, mro[number + 1 :])
            if not isinstance(base.node, ast.ClassDef) and base.home not in FOREIGN_BASES:
                return Taken(is_open=True)
        return Taken()

    def _of_maker(self, maker: ast.FunctionDef, owner: Meaning, bases: Sequence[Meaning]) -> Taken:
        arguments = maker.args
        ordered = [each.arg for each in arguments.posonlyargs + arguments.args][1:]
        names = {*ordered, *(each.arg for each in arguments.kwonlyargs)}
        defaults = len(arguments.defaults)
        required = set(ordered[: len(ordered) - defaults] if defaults else ordered) | {
            each.arg
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is None
        }
        whole = _made_whole(maker) & names
        if arguments.kwarg is None:
            return Taken(frozenset(names), frozenset(required), ordered=tuple(ordered), whole=whole)
        found = _forwarding(maker, arguments.kwarg.arg)
        names |= found.popped
        is_open = not found.calls and not found.raises
        for call in found.calls:
            called = self._called(call, owner, bases)
            if called is None:
                is_open = True
                continue
            passed = {each.arg for each in call.keywords if each.arg}
            if not any(isinstance(each, ast.Starred) for each in call.args):
                by_place = [each for each in call.args if not _is_self(each, maker)]
                passed.update(called.ordered[: len(by_place)])
            names |= called.names - passed
            required |= called.required - passed
            whole |= called.whole - passed
            is_open = is_open or called.is_open
        return Taken(frozenset(names), frozenset(required), is_open, tuple(ordered), whole)

    def _called(self, call: ast.Call, owner: Meaning, bases: Sequence[Meaning]) -> Taken | None:
        """Return what the ``__init__`` takes that a call hands arguments to."""
        match call.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
                return self._made(bases)
            case ast.Attribute(value=base, attr="__init__"):
                meaning = self.package.expression(owner.module, base)
                if meaning is not None and meaning.kind is EntryKind.CLASS:
                    return self._made(self.definitions.mro(meaning))
                return None
            case _:
                return None


def _made_whole(maker: ast.FunctionDef) -> frozenset[str]:
    """Return the arguments of which ``int(…)`` is made."""
    return frozenset(
        node.args[0].id
        for node in ast.walk(maker)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "int"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
    )


def _is_self(node: ast.expr, maker: ast.FunctionDef) -> bool:
    return isinstance(node, ast.Name) and node.id == maker.args.args[0].arg


def _method(meaning: Meaning, name: str) -> ast.FunctionDef | None:
    body = meaning.node.body if isinstance(meaning.node, ast.ClassDef) else []
    return next(
        (each for each in body if isinstance(each, ast.FunctionDef) and each.name == name), None
    )


def _forwarding(function: ast.FunctionDef, name: str) -> _Forwarding:
    """Return what a function does with a dict of arguments: hands on, takes out, refuses."""
    found = _Forwarding()
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="pop"), args=[key, *_]):
                if owner == name and isinstance(key, ast.Constant):
                    found.popped.add(str(key.value))
            case ast.Delete(targets=[ast.Subscript(value=ast.Name(id=owner), slice=key)]):
                if owner == name and isinstance(key, ast.Constant):
                    found.popped.add(str(key.value))
            case ast.Call(keywords=keywords) if any(
                each.arg is None and isinstance(each.value, ast.Name) and each.value.id == name
                for each in keywords
            ):
                found.calls.append(node)
            case ast.If(test=test, body=body) if _asks(test, name):
                found.raises |= any(isinstance(each, ast.Raise) for each in body)
            case _:
                pass
    return found


def _asks(test: ast.expr, name: str) -> bool:
    """Say whether it is ``kwargs``, ``len(kwargs)`` or ``kwargs and …``: whether any is left."""
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(test))


def _hands_on(function: ast.FunctionDef, name: str) -> bool:
    """Say whether it is ``super().from_config(config)``."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "from_config"
        and isinstance(node.func.value, ast.Call)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.args)
        for node in ast.walk(function)
    )


def _set(function: ast.FunctionDef, name: str) -> frozenset[str]:
    """Return what a function passes besides, or sets in the configuration itself."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner), slice=key)]):
                if owner == name and isinstance(key, ast.Constant):
                    found.add(str(key.value))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="pop"), args=[key, *_]):
                if owner == name and isinstance(key, ast.Constant):
                    found.add(str(key.value))
            case _:
                pass
    return frozenset(found)


def identifiers(package: Package, kind: str) -> dict[str, str]:
    """Return what the strings stand for by which configurations name objects of a kind.

    All but layers are in a dict, ``ALL_OBJECTS_DICT``; a layer is a name of its module.
    """
    module = f"{ROOT}.{kind}"
    homes = {}
    if kind == "layers":
        texts = [(name, name) for name in package.bound_names(module)]
    else:
        source = package.wheel.files.get(f"keras/src/{kind}/__init__.py", "")
        texts = list(_said(ast.parse(source), set()))
    for text, name in texts:
        meaning = package.meaning(module, name)
        if meaning and meaning.kind in {EntryKind.CLASS, EntryKind.FUNCTION}:
            homes[text] = meaning.home.removeprefix(f"{ROOT}.")
    return homes


def _said(tree: ast.Module, objects: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each key of ``ALL_OBJECTS_DICT`` with the name that it has in the module."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="ALL_OBJECTS")], value=ast.Set(elts=elements)):
                objects.update(each.id for each in elements if isinstance(each, ast.Name))
            case ast.Assign(targets=[ast.Name(id="ALL_OBJECTS_DICT")], value=value):
                yield from _keys(value, objects)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name("ALL_OBJECTS_DICT"), "update"), [value])):
                yield from _keys(value, objects)
            case ast.Assign(
                targets=[ast.Subscript(ast.Name("ALL_OBJECTS_DICT"), ast.Constant(text))],
                value=ast.Name(name),
            ):
                yield str(text), name
            case _:
                pass


def _keys(value: ast.expr, objects: set[str]) -> Iterator[tuple[str, str]]:
    match value:
        case ast.DictComp(key=key):
            written = ast.unparse(key)
            for name in objects:
                if "to_snake_case" in written:
                    yield _snake_case(name), name
                else:
                    yield (name.lower() if ".lower()" in written else name), name
        case ast.Dict(keys=keys, values=values):
            for text, each in zip(keys, values, strict=True):
                if isinstance(text, ast.Constant) and isinstance(each, ast.Name):
                    yield str(text.value), each.id
        case _:
            pass


def _snake_case(name: str) -> str:
    """``keras.src.utils.naming.to_snake_case``."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def main() -> None:
    """Read the releases of Keras 3, downloading those that the cache lacks; write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder of the wheels")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    options = parser.parse_args()
    paths = [fetch("keras", each, options.cache) for each in releases()]
    data = pack(read([Wheel.read(path) for path in paths], [*map(requires_python, paths)]))
    (options.out / FILE).write_bytes(data)
    print(f"{FILE}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
