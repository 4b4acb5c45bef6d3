"""Slice a definition out of a module, with only what it needs. Nothing is run here.

A slice keeps the line numbers of its file: omitted lines are blank, so errors name real lines.
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
from kdoctor.verify.user.side_effects import FRAMEWORKS, SideEffects, is_builtin, side_effect_in
from kdoctor.verify.user.statements import Statement, imports_in, statements_of

Reader = Callable[[ModulePlace], str | None]


class NotSliced(Exception):
    """A definition depends on a statement that is not safe to run."""

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
    names: frozenset[str]  # the names of the module that it contains


@dataclass(frozen=True, slots=True)
class Slice:
    """A definition with its dependencies; the module that contains it comes first."""

    pieces: tuple[Piece, ...]
    frameworks: frozenset[str]  # the packages of Keras and TensorFlow that it imports


@dataclass
class Sliced:
    """A module to slice definitions from.

    ``read`` returns the text of another module; ``where`` describes the location of a line.
    """

    text: str
    place: ModulePlace
    read: Reader
    where: Callable[[int], str] = "line {}".format
    _others: dict[str, Sliced] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Normalise line endings to those that Python counts."""
        self.text = LINE_BREAK.sub("\n", self.text)

    @cached_property
    def statements(self) -> list[Statement]:
        """The top-level statements."""
        return statements_of(self.text)

    @cached_property
    def bound(self) -> dict[str, list[Statement]]:
        """The statements that bind or change each name."""
        found: dict[str, list[Statement]] = {}
        for each in self.statements:
            for name in sorted(each.binds):
                found.setdefault(name, []).append(each)
        for each in self.statements:
            for name in sorted(each.changes - each.binds):
                # Changes to an imported module are global, so no name depends on them.
                made = [other for other in found.get(name, []) if not any(imports_in(other.node))]
                if made:
                    found[name].append(each)
        return found

    def _of(self, statement: Statement) -> frozenset[str]:
        """Return the module-level names that a statement binds or changes."""
        return statement.binds | {
            name for name in statement.changes if statement in self.bound.get(name, ())
        }

    @cached_property
    def _side_effects(self) -> SideEffects:
        roots: dict[str, str] = {}
        for each in self.statements:
            for node in imports_in(each.node):
                roots.update(roots_of(node))
        return SideEffects(roots, self._why_not_called, self._why_not_imported)

    def _why_not_called(self, name: str) -> str | None:
        """Return why a name of the module must not be called at import time."""
        found = self.bound.get(name, [])
        if not found:
            return None if is_builtin(name) else "is undefined or comes from a star import"
        for each in found:
            if isinstance(each.node, ast.FunctionDef | ast.ClassDef):
                effect = side_effect_in(each.node)
                if effect:
                    return f"calls {effect[0]}() on {self.where(effect[1])}"
        return None

    def _why_not_imported(self, name: str, attribute: str) -> str | None:
        """Return the same for a function imported from the project's own modules.

        With an ``attribute``, ``name`` is an imported module. None: it is not one of them.
        """
        for each in self.bound.get(name, []):
            for node in imports_in(each.node):
                for alias in node.names:
                    if (alias.asname or alias.name) != name:
                        continue
                    module, wanted = self._meant(node, alias.name, attribute)
                    other = self._other(module)
                    if other is not None and wanted in other.bound:
                        return other._why_not_called(wanted) or ""  # noqa: SLF001 - same class
        return None

    def _meant(
        self, node: ast.Import | ast.ImportFrom, name: str, attribute: str
    ) -> tuple[str, str]:
        """Return the module and name that an imported name, with an attribute, refers to."""
        if isinstance(node, ast.Import):
            return name, attribute
        module = local_modules.imported_module(self.place, node)
        return (f"{module}.{name}", attribute) if attribute else (module, name)

    def slice(self, name: str) -> Slice:
        """Return the slice of a top-level name.

        Raises:
            NotSliced: it depends on a value that only running the program gives.
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
        """Say whether a name may depend on Keras or TensorFlow, whether or not it can run.

        Anything imported from another module of the project may.
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
        """Say whether an import is of Keras, TensorFlow or the project's own modules."""
        if isinstance(node, ast.ImportFrom):
            modules = [local_modules.imported_module(self.place, node)]
        else:
            modules = [alias.name for alias in node.names]
        own = any(local_modules.find(self.place, each) is not None for each in modules)
        return own or any(each.partition(".")[0] in FRAMEWORKS for each in modules)

    def _want(self, name: str, wanted: dict[str, set[str]]) -> None:
        """Add all names that ``name`` depends on to ``wanted``, by module."""
        here = wanted.setdefault(self.place.name, set())
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current in here:
                continue
            here.add(current)
            for statement in self.bound.get(current, []):
                self._check(statement)
                waiting += sorted(statement.needs, reverse=True)  # popped from the end
                for node in imports_in(statement.node):
                    self._follow(node, current, wanted)
            if current not in self.bound and not is_builtin(current):
                for statement in self.statements:
                    if self._follow_stars(statement, current, wanted):
                        waiting += sorted(statement.needs, reverse=True)

    def _want_settings(self, wanted: dict[str, set[str]]) -> None:
        """Add what global Keras settings need; pieces always keep these statements."""
        done = set[str]()
        while left := [each for each in wanted if each not in done]:
            for module in left:
                done.add(module)
                other = self._others[module]
                for setting in filter(other._is_setting, other.statements):  # noqa: SLF001
                    for name in sorted(setting.needs):
                        other._want(name, wanted)  # noqa: SLF001

    def _is_setting(self, statement: Statement) -> bool:
        return self._side_effects.is_setting(statement.node)

    def _check(self, statement: Statement) -> None:
        problem = self._side_effects.why_not(statement.node)
        if problem is not None:
            bound = ", ".join(sorted(self._of(statement)))
            raise NotSliced(f"it needs {bound}: {problem[0]}", problem[1])

    def _follow(
        self,
        node: ast.Import | ast.ImportFrom,
        name: str,
        wanted: dict[str, set[str]],
    ) -> None:
        """Add what an import takes from the project's own modules."""
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
        """Add a name (None: all names) from the modules that a statement star-imports.

        Say whether the statement must be kept for that, although it binds no name itself.
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
        return other is not None and other._has(name, set())  # noqa: SLF001 - same class

    def _has(self, name: str, seen: set[str]) -> bool:
        """Say whether the module has a name, also by (possibly circular) star imports."""
        if name in self.bound:
            return True
        seen.add(self.place.name)
        for node in (node for each in self.statements for node in each.star_imports):
            module = local_modules.imported_module(self.place, node)
            other = None if module in seen else self._other(module)
            if other is not None and other._has(name, seen):  # noqa: SLF001 - same class
                return True
        return False

    def _other(self, name: str) -> Sliced | None:
        """Return one of the project's own modules; None if it does not exist or cannot be read."""
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
        """Add a name of another module (None: all names); say whether it exists."""
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
            other._want_all(wanted)  # noqa: SLF001 - same class
            return True
        try:
            other._want(name, wanted)  # noqa: SLF001
        except NotSliced as refusal:
            raise NotSliced(f"in {module}, {refusal.why}", line) from refusal
        return other._has(name, set())  # noqa: SLF001 - same class

    def _want_all(self, wanted: dict[str, set[str]]) -> None:
        """Add all names of the module that can be sliced: any of them may be used."""
        for name, statements in self.bound.items():
            if any(self._is_of_others(each) for each in statements):
                continue  # a missing package would break definitions that do not need it
            tried = {module: set(names) for module, names in wanted.items()}
            try:
                self._want(name, tried)
            except NotSliced:
                continue  # it may depend on what must not run
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
        """Say whether it imports anything other than the project's own modules."""
        node = statement.node
        if isinstance(node, ast.ImportFrom):
            return self._other(local_modules.imported_module(self.place, node)) is None
        return isinstance(node, ast.Import | ast.Try | ast.If) and any(imports_in(node))

    def piece(self, names: Iterable[str], modules: Container[str]) -> Piece:
        """Return the module with only the statements that bind ``names``, on their own lines.

        ``modules`` are the modules of the slice; star imports of the project's others are dropped.
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
    """Return the key that stands for a statement which binds no name, among wanted names."""
    return f"*{statement.number}"


def roots_of(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Return the names that an import binds, each with its top-level package."""
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: alias.name.partition(".")[0]
            for alias in node.names
        }
    root = "." if node.level else (node.module or "").partition(".")[0]
    return {alias.asname or alias.name: root for alias in node.names}


def _trimmed(node: ast.Import | ast.ImportFrom, names: set[str]) -> str:
    """Return an import of the wanted names only: others may not exist in Keras 3."""
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
