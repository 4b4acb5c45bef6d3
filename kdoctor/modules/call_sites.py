"""All calls of a function, a constructor or a method in its project, where they can be told.

A function that is handed on as a value, looked up under a name, decorated, or called with stars is
called where nobody sees it: then nothing is known of what it takes. Calls by people outside of the
project count for nothing: a parameter has what the project's own calls pass, its tests' included.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from kdoctor.modules.definition_uses import MAX_NAMES, DefinitionUses, UnseenError
from kdoctor.modules.definitions import UNCLEAR, Definition, Definitions
from kdoctor.modules.name_uses import NameUse, NameUses, Role
from kdoctor.modules.word_index import CALLS, CALLS_MEMBER, WRITES
from kdoctor.syntax.ast_walk import chain_of, leaf_of

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKES_BY_NAME: Final = ("cls", "type", "__class__", "__subclasses__")
_INIT: Final = "__init__"


class CallSite(Struct, frozen=True):
    """A call. It is the ``number``-th in its unit, by source, of those whose last name is ``leaf``.

    ``bound``: how many parameters the call does not pass, for they are bound: ``self``.
    """

    path: str
    unit: int
    leaf: str
    number: int
    bound: int


class CallSites:
    """The calls in one project: ``uses`` of what it defines.

    ``files_that`` are the files of the project of the first that do something with a word
    (``word_index.CALLS + "f"``), None where they are too many to tell.
    """

    def __init__(
        self,
        definitions: Definitions,
        uses: DefinitionUses,
        files_that: Callable[[str, str], tuple[str, ...] | None],
    ) -> None:
        self._definitions = definitions
        self._uses = uses
        self._files_that = files_that

    def may_be_elsewhere(self, path: str, function: str) -> bool:
        """Say whether another file may call a function, a constructor or a method of a module."""
        owner, _, name = function.rpartition(".")
        if name == _INIT:
            asked = WRITES + owner  # what derives from it calls it without its name
        elif owner:
            asked = CALLS_MEMBER + name
        else:
            asked = CALLS + name
        files = () if name != _INIT and _is_special(name) else self._files_that(path, asked)
        return any(each != path for each in files or ())

    def of(self, path: str, function: str) -> Iterator[CallSite]:
        """Yield all calls of ``function``, ``Class.__init__`` or ``Class.method`` of a module.

        Raises:
            UnseenError: it may be called elsewhere, too.
        """
        owner, _, name = function.rpartition(".")
        if not owner:
            return self._of_name(Definition(path, name))
        if name == _INIT:
            return self._of_constructor(Definition(path, owner))
        return self._of_method(Definition(path, owner), name)

    # -- functions

    def _of_name(self, target: Definition) -> Iterator[CallSite]:
        self._check_module(target.path)
        self._check_function(target)
        for source, use in self._uses.of(target):
            if use.role is not Role.CALL:
                raise UnseenError
            yield _site(source, use, 0)

    def _check_module(self, path: str) -> None:
        """Check that a module does not look up its own names."""
        for source in self._uses.sources_of(path):
            if source.reads_own_names:
                raise UnseenError

    def _check_function(self, target: Definition) -> None:
        found = [
            each
            for source in self._uses.sources_of(target.path)
            for each in source.tree.body
            if isinstance(each, _FUNCTIONS) and each.name == target.name
        ]
        if len(found) != 1 or found[0].decorator_list or isinstance(found[0], ast.AsyncFunctionDef):
            raise UnseenError

    # -- constructors

    def _of_constructor(self, target: Definition) -> Iterator[CallSite]:
        self._check_module(target.path)
        node = self._class(target)
        if not any(isinstance(each, _FUNCTIONS) and each.name == _INIT for each in node.body):
            raise UnseenError
        waiting = [target]
        for each in waiting:  # it grows meanwhile
            if len(waiting) > MAX_NAMES:
                raise UnseenError
            for source, use in self._uses.of(each):
                match use.role:
                    case Role.CALL:
                        yield _site(source, use, 1)
                    case Role.BASE:
                        yield from self._of_subclass(source, use, waiting)
                    case Role.MEMBER if use.member == _INIT:
                        inits = (init for init in source.of(_INIT) if init.node is use.parent)
                        yield from (_site(source, init, 0) for init in inits)
                    case Role.MEMBER if not use.member.startswith("__"):
                        pass
                    case Role.CLASS:
                        pass
                    case _:
                        raise UnseenError

    def _of_subclass(
        self, source: NameUses, use: NameUse, waiting: list[Definition]
    ) -> Iterator[CallSite]:
        """Yield the calls of ``super().__init__`` in a subclass, or note it if it has none."""
        node = use.parent
        if not isinstance(node, ast.ClassDef) or node not in source.tree.body:
            raise UnseenError
        self._check_class(source, node)
        made = [each for each in node.body if isinstance(each, _FUNCTIONS) and each.name == _INIT]
        if not made:
            if (again := Definition(source.path, node.name)) not in waiting:
                waiting.append(again)
            return
        for each in source.of(_INIT):
            if each.holder is node and each.receiver == "super":
                if each.role is not Role.CALL:
                    raise UnseenError
                yield _site(source, each, 1)

    def _class(self, target: Definition) -> ast.ClassDef:
        """Return a class that is made by calling it alone, and whose bases are known."""
        found = [
            (source, each)
            for source in self._uses.sources_of(target.path)
            for each in source.tree.body
            if isinstance(each, ast.ClassDef) and each.name == target.name
        ]
        if len(found) != 1:
            raise UnseenError
        source, node = found[0]
        self._check_class(source, node)
        return node

    def _check_class(self, source: NameUses, node: ast.ClassDef) -> None:
        if node.decorator_list or node.keywords or len(node.bases) > 1:
            raise UnseenError
        makers = (use for name in _MAKES_BY_NAME for use in source.of(name))
        if any(use.holder is node for use in makers):
            raise UnseenError
        if any(isinstance(each, _FUNCTIONS) and each.name == "__new__" for each in node.body):
            raise UnseenError
        for base in node.bases:
            self._check_base(source, base)

    def _check_base(self, source: NameUses, base: ast.expr) -> None:
        """Check that nothing but the project makes the objects of a class, or calls its methods."""
        chain = chain_of(base)
        if chain[-1:] in {("object",), ("ABC",)}:
            return
        found = self._meant(source, chain)
        if found in (None, UNCLEAR):
            raise UnseenError
        assert found is not None
        self._class(found)

    def _meant(self, source: NameUses, chain: tuple[str, ...]) -> Definition | None:
        """Return what a name, or an attribute of a module, means in a file."""
        if not chain:
            return UNCLEAR
        found: set[Definition | None] = set()
        for local, imported in source.imports:
            if local == chain[0]:
                found.add(
                    self._definitions.imported(source.path, imported)
                    if len(chain) == 1
                    else self._definitions.dotted(source.path, imported, chain[1:])
                )
        if len(chain) == 1 and not found:
            found.add(Definition(source.path, chain[0]))
        return found.pop() if len(found) == 1 else UNCLEAR

    # -- methods

    def _of_method(self, target: Definition, method: str) -> Iterator[CallSite]:
        """Yield all calls of a method of that name, whatever they are of: there may be too many."""
        node = self._class(target)
        found = [each for each in node.body if isinstance(each, _FUNCTIONS) and each.name == method]
        if (
            len(found) != 1
            or found[0].decorator_list
            or isinstance(found[0], ast.AsyncFunctionDef)
            or _is_special(method)
        ):
            raise UnseenError
        for source in self._uses.sources_with(target.path, method):
            if source.is_named_by_text(method):
                raise UnseenError
            imported = {local for local, _ in source.imports}
            for use in source.of(method):
                if len(use.chain) > 1 and use.chain[0] in imported:
                    if self._is_other_member(source, use.chain):
                        continue
                    if use.chain[0][:1].isupper():
                        raise UnseenError
                if use.is_attribute:
                    if use.role is not Role.CALL or use.owner[:1].isupper():
                        raise UnseenError
                    yield _site(source, use, 1)
                elif use.holder is node:
                    raise UnseenError

    def _is_other_member(self, source: NameUses, chain: tuple[str, ...]) -> bool:
        """Say whether it is a member of a module, or of what is of no module of the tree."""
        found = {
            self._definitions.dotted(source.path, imported, chain[1:])
            for local, imported in source.imports
            if local == chain[0]
        }
        roots = {
            self._definitions.imported(source.path, imported)
            for local, imported in source.imports
            if local == chain[0]
        }
        return UNCLEAR not in found and roots == {None}


def _is_special(method: str) -> bool:
    return method.startswith("__") and method.endswith("__")


def _site(source: NameUses, use: NameUse, bound: int) -> CallSite:
    return CallSite(source.path, source.unit, leaf_of(use.node), source.number(use), bound)
