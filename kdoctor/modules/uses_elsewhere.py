"""Where other files use a function or a class of one file: what they do with it is theirs to tell.

Tests do not count: what they call a function with is no matter of the program's.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kdoctor.modules.definition_uses import DefinitionUses
from kdoctor.modules.definitions import Definition
from kdoctor.modules.name_uses import NameUse, Role
from kdoctor.modules.recent_sources import RecentSource, RecentSources
from kdoctor.modules.test_files import is_test_file
from kdoctor.syntax.line_offsets import Lines
from kdoctor.syntax.project_types import OpenUse, Project, UseElsewhere, UsesElsewhere

if TYPE_CHECKING:
    import libcst as cst

    from kdoctor.syntax.module import Module
    from kdoctor.syntax.type_oracle import TypeOracle


class UsesOfFile:
    """What one file of the project may learn of the others' use of it. Paths are absolute.

    ``is_of_keras_2`` says whether a source may work with tf_keras: of such nothing is told.
    """

    def __init__(
        self,
        package: Project,
        sources: RecentSources,
        uses: DefinitionUses,
        is_of_keras_2: Callable[[RecentSource], bool],
    ) -> None:
        self._package = package
        self._sources = sources
        self._uses = uses
        self._is_of_keras_2 = is_of_keras_2

    def of(self, path: str, name: str, oracle: TypeOracle) -> UsesElsewhere:
        """Return where other files use what ``path`` defines under a name at its top level."""
        seen = self._uses.seen_elsewhere(Definition(path, name), but_not=partial(_is_test, path))
        told = [each for each in seen.uses if each[1].role is not Role.CLASS]
        uses = [self._told(*each, oracle) for each in told]
        return UsesElsewhere(tuple(each for each in uses if each), seen.are_all and all(uses))

    def _told(self, source: RecentSource, use: NameUse, oracle: TypeOracle) -> UseElsewhere | None:
        if use.where.is_in_text or self._is_of_keras_2(source):
            return None
        return UseElsewhere(source.text, partial(self._opened, source, use.node, oracle))

    def _opened(
        self, source: RecentSource, node: ast.Name | ast.Attribute, oracle: TypeOracle
    ) -> OpenUse | None:
        asked = self._sources.module(source, self._package, oracle)
        if asked is None:
            return None
        module, noted = asked
        found = noted(partial(_node_at, module, node))
        return None if found is None else OpenUse(module, found, noted)


def _node_at(module: Module, node: ast.Name | ast.Attribute) -> cst.Name | cst.Attribute | None:
    """Return the node of a module's tree that is one of Python's tree, if it reads an import."""
    import libcst as cst  # noqa: PLC0415 - it takes long, and few files ask

    from kdoctor.syntax.scopes import BindingKind  # noqa: PLC0415

    start = Lines(module.text).offset(node.lineno, node.col_offset)
    same: Sequence[cst.Name | cst.Attribute]
    if isinstance(node, ast.Name):
        same = [each for each in module.nodes(cst.Name) if each.value == node.id]
    else:
        same = [each for each in module.attributes if each.attr.value == node.attr]
    found = next((each for each in same if module.span(each).start == start), None)
    root: cst.BaseExpression | None = found
    while isinstance(root, cst.Attribute):
        root = root.value
    bound = module.bindings_at(root) if isinstance(root, cst.Name) else ()
    return found if all(each.kind is BindingKind.IMPORT for each in bound) else None


def _is_test(own: str, other: str) -> bool:
    """Say whether another file is a test, by the folders that it does not share with the first."""
    shared = os.path.commonpath([os.path.dirname(own), other])  # noqa: PTH120
    return is_test_file(os.path.relpath(other, shared))
