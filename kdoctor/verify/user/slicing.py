"""Cut a definition out of a module, with what it needs and nothing else. Pure: nothing is run.

A slice keeps the lines of its file: what is left out is blank, so that errors name true lines.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kdoctor import parse_ast
from kdoctor.rewrite.source_lines import LINE_BREAK
from kdoctor.verify.user import local_modules
from kdoctor.verify.user.local_modules import ModulePlace
from kdoctor.verify.user.side_effects import FRAMEWORKS, SideEffects, is_builtin, loud_name_in
from kdoctor.verify.user.statements import Statement, imports_in, statements_of

Reader = Callable[[ModulePlace], str | None]


class NotSliced(Exception):
    """What a definition needs cannot be had without running more than definitions."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.why = why
        self.line = line


@dataclass(frozen=True, slots=True)
class Piece:
    """One module of a slice, as the worker loads it."""

    name: str
    package: str
    is_package: bool
    text: str
    path: Path
    names: frozenset[str]  # of the module's, that it holds


@dataclass(frozen=True, slots=True)
class Slice:
    """A definition with all that it needs: the module that holds it first."""

    pieces: tuple[Piece, ...]
    frameworks: frozenset[str]  # what it imports of Keras and TensorFlow


@dataclass
class Sliced:
    """A module that definitions are cut out of.

    ``read`` gives the text of another module; ``where`` tells of a line where that stands.
    """

    text: str
    place: ModulePlace
    read: Reader
    where: Callable[[int], str] = "line {}".format
    _others: dict[str, Sliced] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Let lines end as Python counts them, whatever ends them in the file."""
        self.text = LINE_BREAK.sub("\n", self.text)

    @cached_property
    def statements(self) -> list[Statement]:
        """The top-level statements."""
        return statements_of(self.text)

    @cached_property
    def bound(self) -> dict[str, list[Statement]]:
        """Which statements bind a name."""
        found: dict[str, list[Statement]] = {}
        for each in self.statements:
            for name in sorted(each.binds):
                found.setdefault(name, []).append(each)
        for each in self.statements:
            for name in sorted(each.changes - each.binds):
                # A module that is imported is everybody's: nobody needs what is set in it.
                made = [other for other in found.get(name, []) if not any(imports_in(other.node))]
                if made:
                    found[name].append(each)
        return found

    def _of(self, statement: Statement) -> frozenset[str]:
        """Return the names of the module that a statement binds or changes."""
        return statement.binds | {
            name for name in statement.changes if statement in self.bound.get(name, ())
        }

    @cached_property
    def _quietness(self) -> SideEffects:
        roots: dict[str, str] = {}
        for each in self.statements:
            for node in imports_in(each.node):
                roots.update(roots_of(node))
        return SideEffects(roots, self._why_not_called, self._why_not_imported)

    def _why_not_called(self, name: str) -> str | None:
        """Return why a name of the module may not be called while it is loaded."""
        found = self.bound.get(name, [])
        if not found:
            return None if is_builtin(name) else "is undefined or comes from a star import"
        for each in found:
            if isinstance(each.node, ast.FunctionDef | ast.ClassDef):
                loud = loud_name_in(each.node)
                if loud:
                    return f"calls {loud[0]}() on {self.where(loud[1])}"
        return None

    def _why_not_imported(self, name: str, attribute: str) -> str | None:
        """Return the same of a function that is imported from the project's own modules.

        With an ``attribute``, of one in a module that is imported. None: it is none of them.
        """
        for each in self.bound.get(name, []):
            for node in imports_in(each.node):
                for alias in node.names:
                    if (alias.asname or alias.name) != name:
                        continue
                    module, wanted = self._meant(node, alias.name, attribute)
                    other = self._other(module)
                    if other is not None and wanted in other.bound:
                        return other._why_not_called(wanted) or ""  # noqa: SLF001 - of its kind
        return None

    def _meant(
        self, node: ast.Import | ast.ImportFrom, name: str, attribute: str
    ) -> tuple[str, str]:
        """Return the module and the name in it that an imported name means, with an attribute."""
        if isinstance(node, ast.Import):
            return name, attribute
        module = local_modules.imported_module(self.place, node)
        return (f"{module}.{name}", attribute) if attribute else (module, name)

    def slice(self, name: str) -> Slice:
        """Return the slice of a name that is bound at the top level.

        Raises:
            NotSliced: it needs a value that only the running program has.
        """
        self._others[self.place.name] = self
        wanted: dict[str, set[str]] = {}
        self._want(name, wanted)
        self._want_settings(wanted)
        order = [self.place.name, *(each for each in wanted if each != self.place.name)]
        pieces = [self._others[each].piece(wanted[each], wanted) for each in order]
        frameworks = {
            root
            for piece in pieces
            for node in ast.walk(parse_ast.parse(piece.text))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for root in roots_of(node).values()
        }
        return Slice(tuple(pieces), frozenset(frameworks & FRAMEWORKS))

    def may_need_keras(self, name: str) -> bool:
        """Say whether a name may come to something of Keras or TensorFlow, run or not.

        What comes from another module of the project may.
        """
        seen, waiting = set[str](), [name]
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            statements = self.bound.get(current, [])
            if not statements and not is_builtin(current):
                statements = [each for each in self.statements if each.is_star_import]
            for statement in statements:
                if any(map(self._is_of_keras, imports_in(statement.node))):
                    return True
                waiting += statement.needs
        return False

    def _is_of_keras(self, node: ast.Import | ast.ImportFrom) -> bool:
        """Say whether an import brings something of Keras, or of the project's own."""
        if isinstance(node, ast.ImportFrom):
            modules = [local_modules.imported_module(self.place, node)]
        else:
            modules = [alias.name for alias in node.names]
        own = any(local_modules.find(self.place, each) is not None for each in modules)
        return own or any(each.partition(".")[0] in FRAMEWORKS for each in modules)

    def _want(self, name: str, wanted: dict[str, set[str]]) -> None:
        """Add to ``wanted`` all names that ``name`` needs, by module."""
        here = wanted.setdefault(self.place.name, set())
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current in here:
                continue
            here.add(current)
            for statement in self.bound.get(current, []):
                self._check(statement)
                waiting += sorted(statement.needs, reverse=True)  # it takes from the end
                for node in imports_in(statement.node):
                    self._follow(node, current, wanted)
            if current not in self.bound and not is_builtin(current):
                for statement in self.statements:
                    if self._follow_stars(statement, current, wanted):
                        waiting += sorted(statement.needs, reverse=True)

    def _want_settings(self, wanted: dict[str, set[str]]) -> None:
        """Add what the settings of all modules need: pieces keep them, whatever else they hold."""
        done = set[str]()
        while left := [each for each in wanted if each not in done]:
            for module in left:
                done.add(module)
                other = self._others[module]
                for setting in filter(other._is_setting, other.statements):  # noqa: SLF001
                    for name in sorted(setting.needs):
                        other._want(name, wanted)  # noqa: SLF001

    def _is_setting(self, statement: Statement) -> bool:
        return self._quietness.is_setting(statement.node)

    def _check(self, statement: Statement) -> None:
        problem = self._quietness.why_not(statement.node)
        if problem is not None:
            bound = ", ".join(sorted(self._of(statement)))
            raise NotSliced(f"it needs {bound}: {problem[0]}", problem[1])

    def _follow(
        self,
        node: ast.Import | ast.ImportFrom,
        name: str,
        wanted: dict[str, set[str]],
    ) -> None:
        """Take what an import brings from the project's own modules."""
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            if local != name and alias.name != "*":
                continue
            if isinstance(node, ast.Import):
                self._take(alias.name, None, node.lineno, wanted)
                continue
            module = local_modules.imported_module(self.place, node)
            inner = f"{module}.{alias.name}"
            if local_modules.find(self.place, inner) and not self._defines(module, alias.name):
                self._take(module, "", node.lineno, wanted)
                self._take(inner, None, node.lineno, wanted)
                continue
            found = self._take(module, alias.name, node.lineno, wanted)
            if not found and node.level:
                raise NotSliced(
                    f"it needs {alias.name} from {module}, which cannot be found", node.lineno
                )

    def _follow_stars(
        self, statement: Statement, name: str | None, wanted: dict[str, set[str]]
    ) -> bool:
        """Take a name, None for all, of the modules that a statement imports all of.

        Say whether it is to be kept for that, though it binds nothing by name.
        """
        found = False
        for node in statement.star_imports:
            module = local_modules.imported_module(self.place, node)
            if self._defines(module, name) if name else self._other(module) is not None:
                self._take(module, name, node.lineno, wanted)
                found = True
        if not found or statement.is_star_import:
            return False
        self._check(statement)
        wanted[self.place.name].add(_mark(statement))
        return True

    def _defines(self, module: str, name: str) -> bool:
        other = self._other(module)
        return other is not None and other._has(name, set())  # noqa: SLF001 - of its own kind

    def _has(self, name: str, seen: set[str]) -> bool:
        """Say whether the module has a name, also by star imports, which may go in circles."""
        if name in self.bound:
            return True
        seen.add(self.place.name)
        for node in (node for each in self.statements for node in each.star_imports):
            module = local_modules.imported_module(self.place, node)
            other = None if module in seen else self._other(module)
            if other is not None and other._has(name, seen):  # noqa: SLF001 - of its own kind
                return True
        return False

    def _other(self, name: str) -> Sliced | None:
        """Return a module of the project's own; None where there is none that can be read."""
        if name == self.place.name or name.partition(".")[0] in FRAMEWORKS:
            return None
        if name not in self._others:
            place = local_modules.find(self.place, name)
            text = None if place is None else self.read(place)
            if place is None or text is None:
                return None
            other = Sliced(text, place, self.read, _others=self._others)
            try:
                other.statements  # noqa: B018 - parsed now
            except SyntaxError as error:
                raise NotSliced(f"{place.path.name} is not valid Python: {error.msg}", 1) from error
            self._others[name] = other
        return self._others[name]

    def _take(
        self,
        module: str,
        name: str | None,
        line: int,
        wanted: dict[str, set[str]],
    ) -> bool:
        """Take a name of another module, None: all its definitions. Say whether it is there."""
        other = self._other(module)
        if other is None:
            return False
        for above in local_modules.packages_above(module):
            if self._other(above) is not None:
                wanted.setdefault(above, set())
        wanted.setdefault(module, set())
        if name == "":
            return True
        if name is None:
            other._want_all(wanted)  # noqa: SLF001 - of its own kind
            return True
        try:
            other._want(name, wanted)  # noqa: SLF001
        except NotSliced as refusal:
            raise NotSliced(f"in {module}, {refusal.why}", line) from refusal
        return other._has(name, set())  # noqa: SLF001 - of its own kind

    def _want_all(self, wanted: dict[str, set[str]]) -> None:
        """Add all names of the module that can be had: which of them is used, nothing tells."""
        for name, statements in self.bound.items():
            if any(self._is_of_others(each) for each in statements):
                continue  # a package that is not here would break what needs none of it
            tried = {module: set(names) for module, names in wanted.items()}
            try:
                self._want(name, tried)
            except NotSliced:
                continue  # nor what it needs: that may be what must not be run
            for module, names in tried.items():  # the sets themselves: callers hold them
                wanted.setdefault(module, set()).update(names)
        for statement in self.statements:
            if not statement.star_imports or _mark(statement) in wanted[self.place.name]:
                continue
            if all(self._is_taken(node, wanted) for node in statement.star_imports):
                continue
            try:
                if self._follow_stars(statement, None, wanted):
                    for name in sorted(statement.needs):
                        self._want(name, wanted)
            except NotSliced:
                continue

    def _is_taken(self, node: ast.ImportFrom, wanted: dict[str, set[str]]) -> bool:
        return local_modules.imported_module(self.place, node) in wanted

    def _is_of_others(self, statement: Statement) -> bool:
        """Say whether it imports what is none of the project's own modules."""
        node = statement.node
        if isinstance(node, ast.ImportFrom):
            return self._other(local_modules.imported_module(self.place, node)) is None
        return isinstance(node, ast.Import | ast.Try | ast.If) and any(imports_in(node))

    def piece(self, names: Iterable[str], modules: Container[str]) -> Piece:
        """Return the module with only the statements that bind ``names``, on their lines.

        ``modules`` are those of the slice: a star import of another one brings nothing to it.
        """
        names = set(names)
        lines = self.text.split("\n")
        kept = [""] * len(lines)
        for statement in self.statements:
            if not self._is_kept(statement, names, modules):
                continue
            start, end = statement.first_line - 1, statement.node.end_lineno or 0
            if isinstance(statement.node, ast.ImportFrom | ast.Import):
                shown = _trimmed(statement.node, names)
                kept[start] = f"{kept[start]}; {shown}" if kept[start] else shown
            elif kept[start] or _shares_a_line(statement, self.statements):
                text = ast.unparse(statement.node)
                kept[start] = f"{kept[start]}; {text}" if kept[start] else text
            else:
                kept[start:end] = lines[start:end]
        text = "\n".join(kept)
        held = frozenset(names & self.bound.keys())
        place = self.place
        return Piece(place.name, place.package, place.is_package, text, place.path, held)

    def _is_kept(self, statement: Statement, names: set[str], modules: Container[str]) -> bool:
        if statement.is_future or self._is_setting(statement):
            return True
        if isinstance(statement.node, ast.ImportFrom) and statement.is_star_import:
            module = local_modules.imported_module(self.place, statement.node)
            return module in modules or self._other(module) is None
        return bool(self._of(statement) & names) or _mark(statement) in names


def _mark(statement: Statement) -> str:
    """Return what stands among wanted names for a statement that binds nothing by name."""
    return f"*{statement.number}"


def roots_of(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Return the names that an import binds, each with the top-level package it is of."""
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: alias.name.partition(".")[0]
            for alias in node.names
        }
    root = "." if node.level else (node.module or "").partition(".")[0]
    return {alias.asname or alias.name: root for alias in node.names}


def _trimmed(node: ast.Import | ast.ImportFrom, names: set[str]) -> str:
    """Return an import of the wanted names only: another name may be gone in Keras 3."""
    if isinstance(node, ast.ImportFrom) and (
        node.module == "__future__" or node.names[0].name == "*"
    ):
        return ast.unparse(node)
    aliases = [
        alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in names
    ]
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(aliases))
    return ast.unparse(ast.ImportFrom(node.module, aliases, node.level))


def _shares_a_line(statement: Statement, statements: list[Statement]) -> bool:
    first, last = statement.first_line, statement.node.end_lineno
    return any(
        other is not statement and (other.first_line == last or other.node.end_lineno == first)
        for other in statements[max(0, statement.number - 1) : statement.number + 2]
    )
