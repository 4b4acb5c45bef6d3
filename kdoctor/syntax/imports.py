"""Import bindings of a module, resolved through the project's own modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import libcst as cst

from kdoctor.syntax.literals import literal
from kdoctor.syntax.package import ClassInfo, Package, ParameterCallees
from kdoctor.syntax.references import ImportBinding
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding, BindingKind, ScopeKind


def dotted_name(node: cst.CSTNode | None) -> str | None:
    """Return ``a.b.c`` for a name or a chain of attributes on a name, else None."""
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return None
    return ".".join([node.value, *reversed(parts)])


def through_tree(package: Package, path: str, name: str) -> str | ClassInfo | None:
    """Resolve a name of the file ``path`` through the project's modules."""
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    parts = bare.split(".") if bare else []
    if not level and not package.may_hold(path, parts[0] if parts else ""):
        return None
    for index, part in enumerate(parts):
        module = ".".join(parts[:index])
        if not module and not level:
            continue
        found = package.exports(path, module, level, part)
        if isinstance(found, str):
            return ".".join([found, *parts[index + 1 :]])
        if found is not None:
            return found if index == len(parts) - 1 else None
    return None


def parameter_callees(
    package: Package, path: str, name: str, *, of_instance: bool
) -> ParameterCallees:
    """Return what a project function calls with its parameters, by position."""
    parts = parts_of_name(name)
    if parts is None:
        return ()
    return package.parameter_callees(path, *parts, of_instance=of_instance)


class Imports:
    """The imports of one module, resolved through the project."""

    def __init__(self, scope_analysis: ScopeAnalysis, path: str, package: Package | None) -> None:
        self._scope_analysis = scope_analysis
        self._path = path
        self._package = package
        self._through_tree: dict[str, str | ClassInfo | None] = {}
        self._parameter_callees: dict[tuple[str, bool], ParameterCallees] = {}
        self._in_init = path.replace("\\", "/").rpartition("/")[2] == "__init__.py"
        self.listed_for_export = frozenset(_listed_for_export(scope_analysis))
        self.of: dict[Binding, ImportBinding] = {
            each: self._import_binding(each) for each in scope_analysis.import_bindings
        }
        self.by_node: dict[cst.CSTNode, ImportBinding] = {
            each.node: imported for each, imported in self.of.items()
        }
        self.by_statement: dict[cst.CSTNode, list[Binding]] = {}
        for each, imported in self.of.items():
            self.by_statement.setdefault(imported.statement, []).append(each)

    def through_tree(self, name: str) -> str | ClassInfo | None:
        """Resolve ``.compat.K.sum`` or ``mine.compat.K.sum`` through the project's modules."""
        if self._package is None:
            return None
        if name not in self._through_tree:
            self._through_tree[name] = through_tree(self._package, self._path, name)
        return self._through_tree[name]

    def parameter_callees(self, name: str, *, of_instance: bool) -> ParameterCallees:
        """Return what a project function calls with its parameters, by position."""
        if self._package is None:
            return ()
        key = name, of_instance
        if key not in self._parameter_callees:
            self._parameter_callees[key] = parameter_callees(
                self._package, self._path, name, of_instance=of_instance
            )
        return self._parameter_callees[key]

    def returned_call(self, name: str) -> str | None:
        """Return the external call whose result a project function surely returns."""
        parts = parts_of_name(name)
        if self._package is None or parts is None:
            return None
        return self._package.returned_call(self._path, *parts)

    @cached_property
    def import_another_root(self) -> bool:
        """Whether a module of the tree that is imported takes its own from elsewhere."""
        package = self._package
        return package is not None and any(
            package.imports_another_root(self._path, *module) for module in self._modules
        )

    @cached_property
    def given(self) -> frozenset[str]:
        """What the modules of the tree that are imported assign elsewhere: ``K.sum = own_sum``."""
        package = self._package
        return frozenset(
            name
            for module in (self._modules if package else ())
            for name in (package.assigned_elsewhere(self._path, *module) if package else ())
        )

    @cached_property
    def _modules(self) -> tuple[tuple[str, int], ...]:
        """What may be a module that is imported, as (name without dots, dots)."""
        names = (
            name
            for each in self.of.values()
            for name in (each.imported, each.imported.rpartition(".")[0])
        )
        found = ((name.lstrip("."), len(name) - len(name.lstrip("."))) for name in names)
        return tuple(dict.fromkeys(each for each in found if each[0]))

    def is_project_module(self, name: str) -> bool:
        """Say whether a dotted name surely is a project module, or in one."""
        package, top = self._package, name.partition(".")[0]
        return not top or (package is not None and package.holds(self._path, top))

    def star_names(self, star: ImportBinding) -> frozenset[str] | None:
        """Return what a star import of a project module binds, None for other modules."""
        if self._package is None:
            return None
        bare = star.imported.lstrip(".")
        names = self._package.star_names(self._path, bare, len(star.imported) - len(bare))
        return None if names is None else frozenset(names)

    def with_sibling_imports(self, bindings: Iterable[Binding]) -> Iterator[Binding]:
        """Yield those of ``bindings`` that are imports, and what is needed together with them.

        ``import k.a`` and ``import k.b`` bind one name, and neither undoes the other: ``k.a`` needs
        the first also where the second was the last to bind ``k``.
        """
        seen: set[Binding] = set()
        for binding in bindings:
            if binding not in self.of:
                continue
            siblings = [binding]
            if self._is_plain(binding):
                siblings = [*filter(self._is_plain, binding.scope.bindings[binding.name])]
            yield from (each for each in siblings if each not in seen)
            seen.update(siblings)

    def _is_plain(self, binding: Binding) -> bool:
        """Say whether it is ``import a.b``, without ``as``."""
        imported = self.of.get(binding)
        return (
            imported is not None
            and isinstance(imported.statement, cst.Import)
            and imported.alias is not None
            and imported.alias.asname is None
        )

    def _import_binding(self, binding: Binding) -> ImportBinding:
        alias = binding.node if isinstance(binding.node, cst.ImportAlias) else None
        statement = self._scope_analysis.parents[binding.node]
        if isinstance(statement, cst.ImportFrom):
            imported = _module_name(statement)
            if alias is not None:
                separator = "" if imported.endswith(".") or not imported else "."
                imported += separator + (dotted_name(alias.name) or "")
            name = imported
        elif isinstance(statement, cst.Import) and alias is not None:
            imported = dotted_name(alias.name) or ""
            name = imported if alias.asname is not None else binding.name
        else:
            raise TypeError(f"{type(statement).__name__} contains no import")
        through = self.through_tree(name) if alias is not None else None
        return ImportBinding(
            local=binding.name,
            name=through if isinstance(through, str) else name,
            imported=imported,
            statement=statement,
            alias=alias,
            scope=binding.scope,
            exported=self._is_exported(binding, alias),
            own_class=through if isinstance(through, ClassInfo) else None,
        )

    def _is_exported(self, binding: Binding, alias: cst.ImportAlias | None) -> bool:
        if binding.scope.kind is not ScopeKind.MODULE:
            return False
        if self._in_init or alias is None or binding.name in self.listed_for_export:
            return True
        # The explicit form of PEP 484: `import x as x`, `from m import x as x`.
        return alias.asname is not None and dotted_name(alias.name) == binding.name


def parts_of_name(name: str) -> tuple[str, int, str] | None:
    """Return module, level and name of ``..a.b.c``; None where there is no module."""
    bare = name.lstrip(".")
    module, _, leaf = bare.rpartition(".")
    level = len(name) - len(bare)
    return (module, level, leaf) if module or level else None


def _module_name(statement: cst.ImportFrom) -> str:
    return "." * len(statement.relative) + (dotted_name(statement.module) or "")


def _listed_for_export(scope_analysis: ScopeAnalysis) -> Iterator[str]:
    """Yield the names in ``__all__``, in all the ways that type checkers understand."""
    for binding in scope_analysis.module.bindings.get("__all__", ()):
        if binding.kind in {BindingKind.ASSIGN, BindingKind.AUGMENT}:
            yield from _strings(binding.value)
    for use in scope_analysis.uses:
        if use.name != "__all__" or not isinstance(use.chain, cst.Attribute):
            continue
        call = scope_analysis.parents.get(use.chain)
        if isinstance(call, cst.Call) and call.func is use.chain:
            for arg in call.args:
                yield from _strings(arg.value)


def _strings(node: cst.BaseExpression | None) -> Iterator[str]:
    match node:
        case cst.SimpleString() if isinstance(value := literal(node), str):
            yield value
        case cst.List() | cst.Tuple() | cst.Set():
            for element in node.elements:
                yield from _strings(element.value)
        case cst.BinaryOperation():
            yield from _strings(node.left)
            yield from _strings(node.right)
        case _:
            return
