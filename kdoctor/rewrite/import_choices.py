"""Imports in branches: ``if tf2: from tensorflow.keras import …``, ``else: …``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import libcst as cst

from kdoctor.model import Span
from kdoctor.rewrite.expression_context import comments_in, is_for_tools
from kdoctor.rewrite.roots import import_root
from kdoctor.rewrite.source_lines import lines_around
from kdoctor.rewrite.visibility import is_conditional
from kdoctor.syntax import ImportBinding, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import Binding, BindingKind

_IMPORTS = (cst.Import, cst.ImportFrom)
_OTHER_BLOCKS = (cst.For, cst.While, cst.With, cst.Match)
# What a test does beside giving an answer.
_ACTS = (cst.Call, cst.Await, cst.NamedExpr, cst.Yield)


class KeepReason(Enum):
    """Why an unused import is kept."""

    NONE = "nothing"
    CHOICE = (
        "branches choose between this import and another: deleting it could change which is used"
    )
    FIXED = (
        "the import is in a `try` or in another kind of block: deleting it could change what runs"
    )


def reason_to_keep(module: Module, binding: ImportBinding) -> KeepReason:
    """Return why an import in a branch is kept, its uses aside.

    In a function an `if` around it only says where its uses run.
    """
    if not is_conditional(module, binding.statement):
        return KeepReason.NONE
    if not all(each.kind is BindingKind.IMPORT for each in _bound(binding)):
        return KeepReason.FIXED  # `K = None`: what is imported is asked for
    in_function = isinstance(binding.scope.node, cst.FunctionDef)
    for each in module.ancestors(binding.statement):
        if each is binding.scope.node:
            return KeepReason.NONE if in_function else KeepReason.CHOICE
        if isinstance(each, cst.Try | cst.TryStar):
            return KeepReason.CHOICE if _chooses(binding, each) else KeepReason.FIXED
        if isinstance(each, cst.FunctionDef | cst.ClassDef):
            return KeepReason.FIXED  # `global K`: it is made for others
        if isinstance(each, _OTHER_BLOCKS) and not in_function:
            return KeepReason.FIXED
    return KeepReason.FIXED


def may_read_branch_import(module: Module, binding: ImportBinding, use: cst.CSTNode) -> bool:
    """Say whether a use may read an import of some branch.

    What the target never gets to reads what is imported for the other releases only.
    """
    statement = binding.statement
    return not is_conditional(module, statement) or not (
        module.is_dead(use) and not module.is_dead(statement)
    )


def is_in_try(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether a statement stands in a ``try`` of its own scope."""
    for each in module.ancestors(statement):
        if isinstance(each, cst.FunctionDef | cst.ClassDef):
            return False
        if isinstance(each, cst.Try | cst.TryStar):
            return True
    return False


def is_for_another_release(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether the target never gets to a branch; a handler is there for where a body fails."""
    return module.is_dead(statement) and not is_in_try(module, statement)


def emptied_choices(
    module: Module, gone: Iterable[ImportBinding], *, decided: bool
) -> Iterator[cst.If]:
    """Yield each top-level ``if`` whose branches are empty without ``gone``.

    Its test only asks, so that nothing is lost with it, nor is a comment. ``decided``: what comes
    in its place need not choose, for the target is known to get to one branch only, or all
    branches would import the same.
    """
    aliases = {each.alias for each in gone}
    chosen: dict[cst.If, list[ImportBinding]] = {}
    for binding in gone:
        if (outermost := _outermost(module, binding)) is not None:
            chosen.setdefault(outermost, []).append(binding)
    for each, bindings in chosen.items():
        statements = list(_statements(each))
        left = [
            alias
            for statement in statements
            if isinstance(statement, _IMPORTS) and not isinstance(statement.names, cst.ImportStar)
            for alias in statement.names
            if alias not in aliases
        ]
        plain = all(isinstance(statement, _IMPORTS) for statement in statements)
        goes = _only_asks(each) and (not decided or _are_the_same(each, bindings))
        goes = goes or (decided and _is_decided(module, each))
        if plain and not left and goes and not _has_comments(module, each):
            yield each


def whole(module: Module, statement: cst.If) -> Span:
    """Return the lines of an ``if`` with all its branches."""
    return lines_around(module, module.span(statement))


def _bound(binding: ImportBinding) -> Sequence[Binding]:
    return binding.scope.bindings[binding.local]


def _chooses(binding: ImportBinding, each: cst.Try | cst.TryStar) -> bool:
    """Say whether each branch of a ``try`` imports the same name, and nothing asks which did."""
    if each.orelse is not None or each.finalbody is not None:
        return False
    nodes = {found.node for found in _bound(binding)}
    return all(
        any(node in nodes for node in descendants(block))
        for block in (each.body, *(handler.body for handler in each.handlers))
    )


def _outermost(module: Module, binding: ImportBinding) -> cst.If | None:
    """Return the ``if`` of the module itself that an import stands in, and nothing else."""
    found: cst.If | None = None
    for each in module.ancestors(binding.statement):
        if isinstance(each, cst.If):
            found = each
        elif isinstance(each, cst.BaseCompoundStatement):
            return None
    return found


def _statements(statement: cst.If) -> Iterator[cst.CSTNode]:
    """Yield the statements of all branches."""
    branch: cst.If | cst.Else | None = statement
    while branch is not None:
        for line in branch.body.body:
            if isinstance(line, cst.SimpleStatementLine):
                yield from line.body
            elif isinstance(line, cst.If):
                yield from _statements(line)
            else:
                yield line
        branch = branch.orelse if isinstance(branch, cst.If) else None


def _has_comments(module: Module, statement: cst.If) -> bool:
    span = whole(module, statement)
    return not all(map(is_for_tools, comments_in(module.text[span.start : span.end])))


def _is_decided(module: Module, statement: cst.If) -> bool:
    branches = [statement.body, statement.orelse]
    return any(each is not None and module.is_dead(_first(each)) for each in branches)


def _only_asks(statement: cst.If) -> bool:
    return not any(isinstance(each, _ACTS) for each in descendants(statement.test))


def _are_the_same(statement: cst.If, bindings: Iterable[ImportBinding]) -> bool:
    """Say whether one of the branches is always taken, and all import from one root."""
    branch: cst.If | cst.Else | None = statement
    while isinstance(branch, cst.If):
        branch = branch.orelse
    return branch is not None and len({import_root(each.name) for each in bindings}) == 1


def _first(branch: cst.CSTNode) -> cst.CSTNode:
    block = branch.body if isinstance(branch, cst.Else) else branch
    return block.body[0] if isinstance(block, cst.IndentedBlock) else block
