"""Imports of names that nothing replaces, put off until the functions run that read them.

One such import at the top of a file stops all that imports the file. Where only functions read the
name, the import can stand in these: all the rest works, and what breaks is told where it is needed.
That is safe: it raises what it raised, where it was meant, and nothing has another meaning; but not
where another file of the project tries to import this one and goes on without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.memoize import once
from kdoctor.model import Applicability, Confidence, Edit, Fix, Span
from kdoctor.rewrite.import_places import is_docstring
from kdoctor.rewrite.source_lines import lines_around, margin
from kdoctor.rewrite.visibility import has_keep_comment
from kdoctor.rules.loading import load_rule
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind
from kdoctor.syntax.scopes import ScopeKind

_TITLE = "Import it in the functions that use it"
_NOT_RUN = "that all else then works was not tried"
_TRIED = "another file does without this one where it cannot be imported"
_IMPORT_ERRORS = frozenset({"Exception", "ImportError", "ModuleNotFoundError"})
_Statement = cst.Import | cst.ImportFrom | cst.Try


class _Deferred(Struct, frozen=True):
    """An import, or the alternatives of a ``try``, and the functions that it is to stand in."""

    texts: Mapping[cst.FunctionDef, str]  # lines without indentation
    drops: tuple[Span, ...] = ()
    edits: tuple[Edit, ...] = ()  # that take it away where dropping a name of an import does not


def deferred_import(
    module: Module,
    facts: TargetFacts,
    reference: Reference,
    missing: Collection[Reference],
    *,
    of_keras: bool = True,
) -> Fix | None:
    """Return the fix of a missing import, None where something else than functions needs it.

    It is the same fix for all of ``missing`` in one file that can be put off. These functions still
    fail, and the name is told of in them. Only for imports ``of_keras`` is it proven.
    """
    if reference.kind is not ReferenceKind.IMPORT:
        return None
    imported = frozenset(each.binding for each in missing if each.kind is ReferenceKind.IMPORT)
    found = _all_deferred(module, imported)
    if reference.binding not in found.bindings:
        return None
    proven = facts.applicability(*load_rule("names.missing_name").group("deferred"))
    is_certain = all(each.confidence is Confidence.CERTAIN for each in missing)
    reason = "" if of_keras and is_certain and proven is Applicability.SAFE else _NOT_RUN
    if not reason and _is_tried(module):
        reason = _TRIED
    if not reason:
        return found.fix
    return replace(found.fix, applicability=Applicability.UNSAFE, unsafe_because=reason)


@once  # for it, other files of the project are read
def _is_tried(module: Module) -> bool:
    return module.is_tried_in_project()


class _Together(Struct, frozen=True):
    """What is put off in one file."""

    bindings: frozenset[ImportBinding]
    fix: Fix


@once
def _all_deferred(module: Module, missing: frozenset[ImportBinding]) -> _Together:
    found: dict[_Statement, tuple[list[ImportBinding], _Deferred]] = {}
    for statement, bindings in _by_statement(module, missing).items():
        deferred = _deferred(module, statement, bindings)
        if deferred is not None:
            found[statement] = bindings, deferred
    texts: dict[cst.FunctionDef, list[str]] = {}
    for _, deferred in found.values():
        for function, text in deferred.texts.items():
            texts.setdefault(function, []).append(text)
    edits = [_inserted(module, function, lines) for function, lines in texts.items()]
    edits += [each for _, deferred in found.values() for each in deferred.edits]
    return _Together(
        frozenset(each for bindings, _ in found.values() for each in bindings),
        Fix(
            _TITLE,
            tuple(edits),
            Applicability.SAFE,
            drops=tuple(each for _, deferred in found.values() for each in deferred.drops),
        ),
    )


def _by_statement(
    module: Module, missing: Iterable[ImportBinding]
) -> Mapping[_Statement, list[ImportBinding]]:
    """Return what is missing by its statement of the module itself, in source order."""
    found: dict[_Statement, list[ImportBinding]] = {}
    named = ((module.span(each.alias), each) for each in missing if each.alias is not None)
    for _, binding in sorted(named, key=lambda pair: pair[0]):
        if binding.scope.kind is not ScopeKind.MODULE:
            continue
        line = module.parent(binding.statement)
        above = module.parent(line) if line is not None else None
        if isinstance(above, cst.Module):
            found.setdefault(binding.statement, []).append(binding)
            continue
        block = module.parent(above) if above is not None else None
        around = module.parent(block) if isinstance(block, cst.ExceptHandler) else block
        if isinstance(around, cst.Try) and isinstance(module.parent(around), cst.Module):
            found.setdefault(around, []).append(binding)
    return found


def _deferred(
    module: Module, statement: _Statement, bindings: list[ImportBinding]
) -> _Deferred | None:
    """Return one statement's, None where it has to stay."""
    if isinstance(statement, cst.Try):
        bindings = _all_imported_by(module, statement)
        if not bindings or not _only_chooses_imports(statement):
            return None
    used = _functions_that_use(module, bindings)
    if not used or any(has_keep_comment(module, each.statement) for each in bindings):
        return None
    if isinstance(statement, cst.Try):
        text = module.source(statement).rstrip()
        if "#" in text:
            return None  # a comment stands where it stands
        whole = Edit(lines_around(module, module.span(statement)), ("",))
        return _Deferred(dict.fromkeys(used, text), edits=(whole,))
    beginning = _beginning(module, statement)
    texts = {
        function: f"{beginning} {', '.join(_written(module, each) for each in names)}"
        for function, names in used.items()
    }
    drops = [module.span(each.alias) for each in bindings if each.alias is not None]
    return _Deferred(texts, tuple(drops))


def _all_imported_by(module: Module, statement: cst.Try) -> list[ImportBinding]:
    span = module.span(statement)
    return [each for each in module.imports if span.covers(module.span(each.statement))]


def _only_chooses_imports(statement: cst.Try) -> bool:
    """Say whether a ``try`` does nothing but import, and import something else if that fails."""
    if statement.orelse is not None or statement.finalbody is not None:
        return False
    blocks = [statement.body, *(each.body for each in statement.handlers)]
    return all(map(_is_for_imports, statement.handlers)) and all(map(_only_imports, blocks))


def _is_for_imports(handler: cst.ExceptHandler) -> bool:
    if handler.name is not None:
        return False
    kinds = handler.type
    listed = [each.value for each in kinds.elements] if isinstance(kinds, cst.Tuple) else [kinds]
    return all(
        each is None or (isinstance(each, cst.Name) and each.value in _IMPORT_ERRORS)
        for each in listed
    )


def _only_imports(block: cst.BaseSuite) -> bool:
    return isinstance(block, cst.IndentedBlock) and all(
        isinstance(line, cst.SimpleStatementLine)
        and all(isinstance(each, cst.Import | cst.ImportFrom) for each in line.body)
        for line in block.body
    )


def _functions_that_use(
    module: Module, bindings: Collection[ImportBinding]
) -> Mapping[cst.FunctionDef, list[ImportBinding]]:
    """Return the outermost functions with what each uses, none where something is needed before."""
    found: dict[cst.FunctionDef, list[ImportBinding]] = {}
    for binding in bindings:
        if binding.exported or module.name_may_be_imported_elsewhere(binding.local):
            return {}
        if _is_bound_otherwise(module, binding, bindings):
            return {}
        for use in module.uses_of(binding):
            function = _function_around(module, use)
            if function is None:
                return {}
            names = found.setdefault(function, [])
            if binding not in names:
                names.append(binding)
    return found


def _is_bound_otherwise(
    module: Module, binding: ImportBinding, bindings: Iterable[ImportBinding]
) -> bool:
    """Say whether anything but the alternatives of one ``try`` binds the name, too.

    What a function calls ``global`` it does not find in itself.
    """
    ours = {each.alias for each in bindings}
    bound = module.scope_of(module.tree).bindings.get(binding.local, ())
    shared = (each.name.value for one in module.nodes(cst.Global) for each in one.names)
    return binding.local in shared or any(each.node not in ours for each in bound)


def _function_around(module: Module, node: cst.CSTNode) -> cst.FunctionDef | None:
    """Return the outermost function that a node is run by: it stands in its body."""
    found, inside = None, node
    for each in module.ancestors(node):
        if isinstance(each, cst.FunctionDef):
            found = each if inside is each.body else None
        inside = each
    return found if found is not None and isinstance(found.body, cst.IndentedBlock) else None


def _beginning(module: Module, statement: cst.Import | cst.ImportFrom) -> str:
    """Return an import up to its names: ``from keras.engine import``."""
    if isinstance(statement, cst.Import):
        return "import"
    dots = "." * len(statement.relative)
    source = module.source(statement.module) if statement.module is not None else ""
    return f"from {dots}{source} import"


def _written(module: Module, binding: ImportBinding) -> str:
    assert binding.alias is not None
    return module.source(binding.alias).rstrip(" ,\t\n")


def _inserted(module: Module, function: cst.FunctionDef, texts: Iterable[str]) -> Edit:
    """Return the edit that writes imports at the beginning of a function, below its docstring."""
    first, *others = function.body.body
    start = module.span(others[0] if others and is_docstring(first) else first).start
    indent = margin(module.text, start)
    written = "".join(
        f"{line}\n{indent}" if line else f"\n{indent}"
        for text in texts
        for line in text.splitlines()
    )
    return Edit(Span(start, start), (written,))
