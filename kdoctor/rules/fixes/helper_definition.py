"""A small class or function that a fix writes into the file, above the statement that needs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, ImportNeed, NoFix, Span
from kdoctor.rewrite import Speller
from kdoctor.rewrite.source_lines import LINE_BREAK, line_start
from kdoctor.rewrite.visibility import is_conditional
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.fallback_helpers import checks_types
from kdoctor.target import FRAMEWORKS

# A program that has come past them has Keras.
_IMPORTS_KERAS = frozenset({*FRAMEWORKS, "keras_contrib", "tensorflow_addons"})
# What is not the same where long lines were broken.
_LAYOUT = pattern(r"\s+|,(?=\s*[)\]}])")


def top_statement(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    """Return the statement of the module itself that ``node`` is in."""
    inside: cst.CSTNode = node
    for each in module.ancestors(node):
        if isinstance(each, cst.Module):
            return inside
        inside = each
    return inside


def is_name_of_module(module: Module, name: str, at: cst.CSTNode) -> bool:
    """Say whether a name that the module binds would be read at ``at``, and no other so called."""
    owner = module.scope_of(at).owner(name)
    return owner is None or owner is module.scope_of(module.tree)


class SpelledHelper(Struct, frozen=True):
    """A helper as a file spells it: the edits that add it, and the imports that it needs."""

    edits: tuple[Edit, ...]
    imports: tuple[ImportNeed, ...]


def spelled_helper(
    module: Module,
    reference: Reference,
    nodes: Iterable[cst.CSTNode],
    name: str,
    template: tuple[str, Mapping[str, str]],
) -> SpelledHelper | None:
    """Return the helper above the first of all ``nodes`` that need it, None as ``helper_edits``.

    ``template`` is its text, and the qualified name of each field in it.
    """
    before = top_statement(module, min(nodes, key=module.span))
    # For the place of the helper: what a function imports cannot be read there.
    speller = Speller(module, before, reference.name, reference.binding)
    text, names = template
    spelled = {key: speller.spell(each) for key, each in names.items()}
    text = text.format(**{key: written for key, (written, _) in spelled.items()})
    edits = helper_edits(module, before, name, text)
    if edits is None:
        return None
    needs = [need for _, need in spelled.values() if need is not None] if edits else []
    return SpelledHelper(tuple(edits), tuple(dict.fromkeys(needs)))


def helper_edits(module: Module, before: cst.CSTNode, name: str, text: str) -> list[Edit] | None:
    """Return ``definition_edits`` of a class or function that reads names of Keras.

    None also where the module imports Keras in functions only: what stands beside them cannot read
    that, and may be imported where there is no Keras.
    """
    is_new = module.scope_of(module.tree).owner(name) is None
    if is_new and not is_readable_at(module, before, text):
        return None
    return definition_edits(module, before, name, text)


def definition_edits(
    module: Module, before: cst.CSTNode, name: str, text: str
) -> list[Edit] | None:
    """Return the edits that put a class or function above the module's statement ``before``.

    None are needed where the module has one of that name that says the same; None is returned
    where the name means something else. All fixes of one file must name the same ``before``: equal
    edits are made once.
    """
    scope = module.scope_of(module.tree)
    if scope.owner(name) is not None:
        return [] if has_same(module, name, text) else None
    if class_named(module, cst.Name(name)) is not None:
        return None
    return [insertion(module, before, text)]


def not_added(name: str) -> NoFix:
    """Return the reason for no fix where a file cannot have a function of this name."""
    return NoFix(
        f"`{name}` cannot be added to this file: the name is taken, or Keras is not available there"
    )


def has_same(module: Module, name: str, text: str) -> bool:
    """Say whether the module has a class or function of a name that says the same."""
    bound = module.scope_of(module.tree).bindings.get(name, [])
    node = bound[0].node if len(bound) == 1 else None
    return isinstance(node, cst.ClassDef | cst.FunctionDef) and (
        _LAYOUT.sub("", module.source(node)) in _LAYOUT.sub("", text)
    )


def is_readable_at(module: Module, before: cst.CSTNode, text: str) -> bool:
    """Say whether a class or function that reads Keras may stand above a statement."""
    if not imports_keras_at_once(module):
        return False
    # A class reads its base where it stands.
    return text.startswith("def ") or _has_keras_at(module, before)


def insertion(module: Module, before: cst.CSTNode, text: str) -> Edit:
    """Return the edit that puts a class or function above the module's statement ``before``."""
    start = _with_comments(module.text, module.span(_first(before)).start)
    above = module.text[module.unit.cell_at(start).span.start : start]
    blank = len(LINE_BREAK.findall(above[len(above.rstrip("\r\n")) :]))
    gap = "\n" * max(0, 3 - blank) if above.strip() else ""
    return Edit(Span(start, start), (f"{gap}{text}\n\n\n",))


def imports_keras_at_once(module: Module) -> bool:
    """Say whether the module imports Keras whenever it is imported itself, be it one of two."""
    return any(True for _ in _imports_of_keras(module))


def _has_keras_at(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether Keras is imported above a statement, by all that the statement may rely on."""
    start = module.span(_first(statement)).start
    above = [each for each in _imports_of_keras(module) if module.span(each).start < start]
    return any(not is_conditional(module, each) for each in above) or (
        bool(above) and len(above) == len(list(_imports_of_keras(module)))
    )


def _imports_of_keras(module: Module) -> Iterator[cst.Import | cst.ImportFrom]:
    scope = module.scope_of(module.tree)
    for each in module.imports:
        if (
            each.scope is scope
            and each.name.partition(".")[0] in _IMPORTS_KERAS
            and not any(
                isinstance(above, cst.If) and checks_types(above.test)
                for above in module.ancestors(each.statement)
            )
        ):
            yield each.statement


def _first(statement: cst.CSTNode) -> cst.CSTNode:
    """Return what a statement starts with: its span has no decorators, which belong to it."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef) and statement.decorators:
        return statement.decorators[0]
    return statement


def _with_comments(text: str, offset: int) -> int:
    """Return where the line of ``offset`` starts, or the comments right above it."""
    start = line_start(text, offset)
    while start:
        above = line_start(text, len(text[:start].removesuffix("\n").removesuffix("\r")))
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
