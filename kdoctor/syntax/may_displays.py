"""May-types of displays and comprehensions: what stands in a list, a tuple, a set or a dict."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from kdoctor.syntax.may_classes import MayClasses
from kdoctor.syntax.symbol_table import Namespace
from kdoctor.syntax.type_sets import Types, list_of
from kdoctor.value_types import Type


class MayDisplays(MayClasses):
    """The part of may-types that is about displays."""

    def _display(self, node: ast.List | ast.Tuple | ast.Set, space: Namespace) -> Types:
        return frozenset(self._held(node.elts, space))

    def _held(self, elements: Iterable[ast.expr], space: Namespace) -> Iterator[Type]:
        for each in elements:
            types = self._of(each, space)
            yield from types if isinstance(each, ast.Starred) else map(list_of, types)

    def _dict(self, node: ast.Dict, space: Namespace) -> Types:
        keyed = (value for key, value in zip(node.keys, node.values, strict=True) if key)
        others = (value for key, value in zip(node.keys, node.values, strict=True) if not key)
        return frozenset(self._held(keyed, space)).union(
            *(self._of(each, space) for each in others)
        )

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, space: Namespace
    ) -> Types:
        return frozenset(map(list_of, self._of(node.elt, space)))

    def _dict_comprehension(self, node: ast.DictComp, space: Namespace) -> Types:
        return frozenset(map(list_of, self._of(node.value, space)))
