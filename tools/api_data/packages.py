"""One release as modules, and what any name in it stands for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kdoctor.keras_api.tables import EntryKind
from tools.api_data.scopes import Imported, Scope, absolute, read_scope
from tools.api_data.wheels import Wheel

_LINE = re.compile(
    r"^([ \t]*)(?:(def|async def)\b|(?:from|import)[ \t]+(\.*)([\w.]*)"
    r"(?:[ \t]+import[ \t]*(\([^)]*\)|[^\n#]*))?)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name stands for: ``home`` is where the object is defined, whoever re-exports it.

    Two names with the same home are the same object. ``node`` is its definition, where there is
    one to read; ``module`` the module that holds it.
    """

    kind: EntryKind
    home: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | None = None
    module: str = ""


class Package:
    """The modules of one wheel."""

    def __init__(self, wheel: Wheel) -> None:
        self.wheel = wheel
        self._paths = {_module_name(path): path for path in wheel.files}
        self._scopes: dict[str, Scope] = {}
        self._bound: dict[str, frozenset[str]] = {}
        self._meanings: dict[tuple[str, str], Meaning | None] = {}

    @cached_property
    def modules(self) -> frozenset[str]:
        """The dotted names of all modules, folders without ``__init__.py`` among them."""
        named = set(self._paths)
        for module in self._paths:
            parts = module.split(".")
            named.update(".".join(parts[:length]) for length in range(1, len(parts)))
        return frozenset(named)

    @cached_property
    def top_levels(self) -> frozenset[str]:
        """The names of the wheel's top-level packages."""
        return frozenset(module.partition(".")[0] for module in self._paths)

    @cached_property
    def imported(self) -> frozenset[str]:
        """The modules that the import of some module of the wheel brings along.

        What a function imports is not among them: it may never run.
        """
        found: set[str] = set()
        for module, path in self._paths.items():
            scope = Scope(module, is_package=path.endswith("__init__.py"))
            for name in _imported(self.wheel.files[path], scope):
                parts = name.split(".")
                found.update(".".join(parts[:length]) for length in range(1, len(parts) + 1))
        return frozenset(found)

    def submodules(self, module: str) -> Iterator[str]:
        """The names of the modules directly below ``module``, sorted."""
        return iter(self._submodules.get(module, ()))

    @cached_property
    def _submodules(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for module in sorted(self.modules):
            owner, _, leaf = module.rpartition(".")
            groups.setdefault(owner, []).append(leaf)
        return groups

    def scope(self, module: str) -> Scope:
        """Return what ``module``'s top level binds."""
        if module not in self._scopes:
            path = self._paths.get(module)
            if path is None:
                self._scopes[module] = Scope(module, is_package=True)
            else:
                self._scopes[module] = read_scope(
                    self.wheel.files[path], module, is_package=path.endswith("__init__.py")
                )
        return self._scopes[module]

    def bound_names(self, module: str) -> frozenset[str]:
        """All names bound in ``module``, star imports from the wheel's own modules included."""
        if module not in self._bound:
            self._bound[module] = self._bound_names(module, frozenset())
        return self._bound[module]

    def _bound_names(self, module: str, seen: frozenset[str]) -> frozenset[str]:
        if module in seen:
            return frozenset()
        scope = self.scope(module)
        names = set(scope.names) - {"__all__"}
        for star in scope.stars:
            if star in self.modules:
                exported = self.scope(star).exported
                bound = self._bound_names(star, seen | {module}) | self._shown_modules(star)
                names |= exported or {name for name in bound if not name.startswith("_")}
        return frozenset(names | self._mirrored(module).keys())

    def _shown_modules(self, module: str) -> frozenset[str]:
        """The modules below a package that something imports: they are attributes of it."""
        return frozenset(
            name for name in self.submodules(module) if f"{module}.{name}" in self.imported
        )

    def _mirrored(self, module: str) -> dict[str, tuple[str, str]]:
        """What ``module`` binds by going over the classes of others: name → module, class."""
        scope = self.scope(module)
        found: dict[str, tuple[str, str]] = {}
        for mirror in scope.mirrored:
            bound = scope.names.get(mirror)
            source = f"{bound.module}.{bound.name}" if isinstance(bound, Imported) else ""
            for name, definition in self.scope(source).names.items():
                if isinstance(definition, ast.ClassDef):
                    found[name] = found[_snake_case(name)] = (source, name)
        return found

    def is_open(self, module: str) -> bool:
        """Say whether ``module`` star-imports from outside the wheel: it may bind anything."""
        return self._is_open(module, frozenset())

    def _is_open(self, module: str, seen: frozenset[str]) -> bool:
        return module not in seen and any(
            star not in self.modules or self._is_open(star, seen | {module})
            for star in self.scope(module).stars
        )

    def meaning(self, module: str, name: str) -> Meaning | None:
        """Return what ``module.name`` stands for; None where the wheel binds no such name."""
        key = (module, name)
        if key not in self._meanings:
            self._meanings[key] = None  # a cycle of imports means: not here
            self._meanings[key] = self._find(module, name)
        return self._meanings[key]

    def _find(self, module: str, name: str) -> Meaning | None:
        if module not in self.modules:
            return Meaning(EntryKind.EXTERNAL, f"{module}.{name}")
        scope = self.scope(module)
        if name in scope.names:
            return self._bound_meaning(module, name, scope)
        if name in (mirrored := self._mirrored(module) if scope.mirrored else {}):
            return self.meaning(*mirrored[name])
        for star in reversed(scope.stars):
            if star in self.modules and (found := self.meaning(star, name)):
                return found
        return self.module_meaning(f"{module}.{name}")

    def module_meaning(self, module: str) -> Meaning | None:
        """Return ``module`` as a meaning; None where the wheel has no such module."""
        if module in self.modules:
            return Meaning(EntryKind.MODULE, module, module=module)
        return None

    def _bound_meaning(self, module: str, name: str, scope: Scope) -> Meaning:
        own = f"{module}.{name}"
        match scope.names[name]:
            case Imported(source, None):
                if source.partition(".")[0] in self.top_levels:
                    return self.module_meaning(source) or Meaning(EntryKind.EXTERNAL, source)
                return Meaning(EntryKind.EXTERNAL, source)
            case Imported(source, str() as imported):
                if source == module and imported == name:  # ``from . import x`` in its own package
                    return self.module_meaning(own) or Meaning(EntryKind.VALUE, own)
                found = self.meaning(source, imported)
                return found or Meaning(EntryKind.EXTERNAL, f"{source}.{imported}")
            case ast.FunctionDef() | ast.AsyncFunctionDef() as node:
                return Meaning(EntryKind.FUNCTION, own, node, module)
            case ast.ClassDef() as node:
                return Meaning(EntryKind.CLASS, own, node, module)
            case ast.Call(
                func=ast.Name(id="LazyLoader") | ast.Attribute(attr="LazyLoader"),
                args=[*_, ast.Constant(value=str() as source)],
            ):
                return self.module_meaning(source) or Meaning(EntryKind.EXTERNAL, source)
            case ast.Lambda() as node:
                return Meaning(EntryKind.FUNCTION, own, node, module)
            case ast.Name() | ast.Attribute() as alias:
                return self.expression(module, alias) or Meaning(EntryKind.VALUE, own)
            case _:
                return Meaning(EntryKind.VALUE, own)

    def expression(self, module: str, node: ast.expr) -> Meaning | None:
        """Return what a dotted expression in ``module`` stands for; None for anything else."""
        match node:
            case ast.Name(id=name):
                return self.meaning(module, name) if self._binds(module, name) else None
            case ast.Attribute(value=value, attr=attr):
                owner = self.expression(module, value)
                if owner is None:
                    return None
                if owner.kind is EntryKind.MODULE:
                    return self.meaning(owner.home, attr)
                if owner.kind is EntryKind.EXTERNAL:
                    return Meaning(EntryKind.EXTERNAL, f"{owner.home}.{attr}")
                return None
            case _:
                return None

    def _binds(self, module: str, name: str) -> bool:
        return name in self.bound_names(module) or f"{module}.{name}" in self.modules


def _imported(source: str, scope: Scope) -> Iterator[str]:
    """The modules, or names in modules, that ``source`` imports outside of its functions.

    By its lines: parsing the whole of TensorFlow would take minutes.
    """
    functions: list[str] = []  # how far those around the line are indented
    for indent, definition, dots, module, names in _LINE.findall(source):
        while functions and len(functions[-1]) >= len(indent):
            functions.pop()
        if definition:
            functions.append(indent)
        elif not functions:
            start = absolute(module, len(dots), scope)
            yield start
            yield from (f"{start}.{name}" for name in re.split(r"[\s,()]+", names) if name)


def _snake_case(name: str) -> str:
    """``GlorotNormal`` → ``glorot_normal``, as ``keras.utils.generic_utils`` does it."""
    split = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", split).lower()


def _module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
