"""Which files are worth a libcst parse: all those in which a rule could possibly fire.

The gate errs on the side of yes. ``--no-gate`` opens it for every file and must not change what is
reported, so a file that does not pass has nothing to report either way: neither a finding, nor that
its Python cannot be parsed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from kdoctor.engine.outline import imports_of, parsed
from kdoctor.engine.package import OwnModule, ProjectPackage
from kdoctor.syntax.package import ClassInfo

_WORD = re.compile(r"\w+")


class Gate:
    """Goes by the identifiers of one Python source.

    ``words`` are what an identifier must contain for any rule to fire; ``triggers`` holds, for each
    rule, the identifiers of which it needs one, an empty collection for a rule that needs none.
    ``package`` tells what is imported from the project's own modules.
    """

    def __init__(
        self,
        words: Iterable[str],
        triggers: Iterable[Collection[str]],
        package: ProjectPackage,
    ) -> None:
        self._words = tuple(words)
        self._triggers = {frozenset(each) for each in triggers}
        self._package = package

    def admits(self, path: str, source: str) -> bool:
        """Say whether a rule could fire in ``source``, which stands in the file ``path``."""
        tree = parsed(source)
        if tree is None:
            return True
        names = set(_identifiers(tree))
        if not self._speaks_of_keras("\n".join(names)) and not self._imports_keras(path, tree):
            return False
        return any(not triggers or not names.isdisjoint(triggers) for triggers in self._triggers)

    def _speaks_of_keras(self, text: str) -> bool:
        return any(word in text for word in self._words)

    def _imports_keras(self, path: str, tree: ast.AST) -> bool:
        """Say whether the project's own modules bring something of Keras into the file.

        What they export is all that ``syntax`` can learn of them: it asks the same package.
        """
        waiting = [
            value
            for imported in imports_of(tree)
            for value in self._package.meanings(path, imported)
        ]
        opened = set()
        while waiting:
            match waiting.pop():
                case (str() as dotted) | ClassInfo(base=str() as dotted):
                    if self._speaks_of_keras(dotted):
                        return True
                case OwnModule() as module if module not in opened:
                    opened.add(module)
                    waiting += self._package.contents(module)
        return False


def _identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield every identifier of the code, and every word of its strings that are no docstrings."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, str):
                # Dotted names, and strings: annotations, `getattr(K, "sum")`, `os.environ["…"]`.
                yield from _WORD.findall(value)
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        waiting.append(item)
                    elif isinstance(item, str):
                        yield item
