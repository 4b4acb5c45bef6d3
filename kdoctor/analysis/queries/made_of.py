"""What the gate asks of a value: may it come from a class of such a sort?

For queries of the gate alone. A rule follows a value by itself, and as far as it has to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from kdoctor.analysis.class_glimpses import bases_of
from kdoctor.syntax.ast_walk import leaf_of
from kdoctor.syntax.quick_facts import QuickFacts

MadeOf = Callable[[QuickFacts], Callable[[ast.AST], bool]]
"""Of a file, the question whether a node is what a value may be made of."""


def subclass_of(*builtins: str, or_of: Collection[str] = ()) -> MadeOf:
    """A class of the file that may derive from a builtin, or from a class with a dotted name.

    Or one with such a name itself; no plain builtin.
    """
    dotted, plain = frozenset(or_of), frozenset(builtins)

    def made_of(quick: QuickFacts) -> Callable[[ast.AST], bool]:
        def is_known(node: ast.AST) -> bool:
            return isinstance(node, ast.Name | ast.Attribute) and (
                leaf_of(node) in own or not dotted.isdisjoint(quick.meant_by(node))
            )

        own: set[str] = set()
        left = [*quick.nodes.get(ast.ClassDef, ())]
        while True:
            more = [e for e in left if any(is_known(b) or leaf_of(b) in plain for b in bases_of(e))]
            if not more:
                return is_known
            own.update(each.name for each in more)
            left = [each for each in left if each.name not in own]

    return made_of
