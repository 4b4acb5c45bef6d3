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
from kdoctor.engine.package import OwnModule, ProjectPackage, Value
from kdoctor.syntax.package import ClassInfo

_WORD = re.compile(r"\w+")
_REMEMBERED = 20_000  # modules; memory must not grow with the tree


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
        wanted = [frozenset(each) for each in triggers]
        self._triggers = frozenset().union(*wanted)
        self._any_source = not all(wanted)
        self._package = package
        # With what was looked at to know it.
        self._without_keras: dict[OwnModule, frozenset[str]] = {}

    def speaks_of_keras(self, text: str) -> bool:
        """Say whether a text has one of the words anywhere."""
        return any(word in text for word in self._words)

    def admits(self, path: str, source: str) -> bool:
        """Say whether a rule could fire in ``source``, which stands in the file ``path``."""
        speaks = self.speaks_of_keras(source)
        tree = parsed(source)
        if tree is None:
            return True
        concerned = not speaks and self._imports_keras(path, tree)
        if not speaks and not concerned:
            return False
        triggered = self._any_source
        # Most files say what they are about in their first lines: the walk stops there.
        for name in _identifiers(tree):
            concerned = concerned or self.speaks_of_keras(name)
            triggered = triggered or name in self._triggers
            if concerned and triggered:
                return True
        return triggered and not concerned and self._imports_keras(path, tree)

    def _imports_keras(self, path: str, tree: ast.Module) -> bool:
        """Say whether the project's own modules bring something of Keras into the file.

        What they export is all that ``syntax`` can learn of them: it asks the same package.
        """
        with self._package.trace.apart() as looked:
            waiting = [
                value
                for imported in imports_of(tree)
                for value in self._package.meanings(path, imported)
            ]
            return self._reach_keras(waiting, looked)

    def _reach_keras(self, waiting: list[Value], looked: set[str]) -> bool:
        opened: set[OwnModule] = set()
        while waiting:
            match waiting.pop():
                case (str() as dotted) | ClassInfo(base=str() as dotted):
                    if self.speaks_of_keras(dotted):
                        return True
                case OwnModule() as module if module in self._without_keras:
                    looked |= self._without_keras[module]
                case OwnModule() as module if module not in opened:
                    opened.add(module)
                    waiting += self._package.contents(module)
        if len(self._without_keras) > _REMEMBERED:
            self._without_keras.clear()
        # Nothing that can be reached from them was of Keras.
        self._without_keras |= dict.fromkeys(opened, frozenset(looked))
        return False


def _identifiers(tree: ast.Module) -> Iterator[str]:
    """Yield each identifier of the code, and each word of its strings that are no docstrings."""
    seen: set[str] = set()
    for statement in tree.body:
        for text in _texts(statement):
            if text in seen:
                continue
            seen.add(text)
            # Dotted names, and strings: annotations, `getattr(K, "sum")`, `os.environ["..."]`.
            yield from (text,) if text.isidentifier() else _WORD.findall(text)


def _texts(statement: ast.stmt) -> Iterator[str]:
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, str):
                yield value
            elif isinstance(value, list):
                waiting += (item for item in value if isinstance(item, ast.AST))
                yield from (item for item in value if isinstance(item, str))
