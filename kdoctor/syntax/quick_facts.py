"""Quick facts of a source from its ``ast``: enough to rule out rules.

A tree of libcst's, and what rules then ask of it, takes five times as long. A glimpse errs on the
side of more: scopes and the order of statements count for nothing, so that a name has all the
meanings it has anywhere.
"""

from __future__ import annotations

import ast
import weakref
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property, partial

from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.syntax.ast_walk import chain_of, nodes_in
from kdoctor.syntax.imports import parameter_callees, through_tree
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.package import ClassInfo, ParameterCallees
from kdoctor.syntax.project_types import MAX_DEPTH, Noted, Project, ProjectTypes, directly
from kdoctor.syntax.source_index import Path, SourceIndex, joined
from kdoctor.syntax.symbol_table import SymbolTable
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.target import FRAMEWORKS

_WORD = pattern(r"\w+")
_DOTTED = pattern(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_NOTHING: frozenset[str] = frozenset()
_MAX_NAME_PARTS = 12  # parts of a name: `a = a.b` has no end
_MAX_ANNOTATION_LENGTH = 200  # characters

Stars = Callable[[str], Collection[str] | None]


class QuickCall(Struct, frozen=True, eq=False, gc=False):
    """One call: its possible dotted names, and its arguments.

    ``leaf`` is the last name as written, "" where a call or the like is called. ``places`` is the
    number of arguments by position, of which the ``self`` of ``Base.__init__(self, …)`` is none.
    ``node`` is the call.
    """

    names: frozenset[str]
    leaf: str
    places: int
    keywords: frozenset[str]
    node: ast.Call

    @property
    def is_of_named_base(self) -> bool:
        """Whether it is ``Base.__init__(self, …)``, not ``super().__init__(…)``."""
        return len(self.node.args) > self.places

    @property
    def by_position(self) -> Sequence[ast.expr]:
        """What is passed by position."""
        return self.node.args[self.is_of_named_base :]

    @property
    def starred(self) -> bool:
        """Whether there may be more arguments by position."""
        return ast.Starred in [each.__class__ for each in self.node.args]

    @property
    def is_attribute(self) -> bool:
        """Whether something's attribute is called."""
        return isinstance(self.node.func, ast.Attribute)

    @property
    def is_hidden(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` hide some arguments."""
        return self.starred or None in [each.arg for each in self.node.keywords]

    @property
    def values(self) -> tuple[ast.expr, ...]:
        """What is passed, by position and by keyword."""
        return (*self.node.args, *(each.value for each in self.node.keywords))

    def argument(self, keyword: str, place: int | None = None) -> ast.expr | None:
        """Return what is passed by a keyword, or at a place (from 0)."""
        if keyword in self.keywords:
            return next(each.value for each in self.node.keywords if each.arg == keyword)
        by_place = place is not None and place < self.places
        return self.by_position[place] if by_place and place is not None else None


class QuickFacts(SourceIndex):
    """The quick facts of one source, the file ``path`` of ``package``'s project.

    ``stars`` says what ``from module import *`` binds for a module outside of the tree. What names
    mean is asked through ``noted``, who learns on what files that rests.
    """

    def __init__(
        self, tree: ast.Module, path: str = "", package: Project | None = None,
        stars: Stars = lambda _: None, noted: Noted = directly,
    ) -> None:  # fmt: skip
        super().__init__(tree)
        self.answers: dict[Hashable, object] = {}  # see ``kdoctor.memoize``
        self._path = path
        self._package = package
        self._stars = stars
        self._noted = noted
        self._through: dict[str, str | ClassInfo | None] = {}
        # No module of the tree is called like a framework, whatever lies in its folders.
        self._tops = {"": True, **dict.fromkeys(FRAMEWORKS, False)}
        self._handed_over: dict[tuple[str, bool], ParameterCallees] = {}
        self._meanings: dict[tuple[str, Path], frozenset[str]] = {}
        self._possible: dict[tuple[TypeOracle, int], MayTypes] = {}
        self._calls_by_place: dict[int, list[QuickCall]] = {}

    def forget_answers(self) -> None:
        """Forget what was asked of the file when it was examined, and of others for it."""
        self.answers.clear()
        self._possible = {each: known for each, known in self._possible.items() if not each[1]}

    # -- what is written

    @cached_property
    def words(self) -> frozenset[str]:
        """All identifiers, words in strings, and names behind project imports."""
        texts = _WORD.findall("\n".join(self.strings))
        meant = (part for name in self._own_meanings for part in name.split("."))
        return self.written.union(texts, meant)

    @cached_property
    def suffixes(self) -> frozenset[str]:
        """The suffix of each string: ``h5`` of ``"model.h5"``."""
        return frozenset([each.rpartition(".")[2] for each in self.strings])

    @cached_property
    def names(self) -> frozenset[str]:
        """The dotted names that are imported, or read through imports."""
        imported = (*self.modules, *self.star_modules)
        return self._read_names.union(imported, *self._meant_by_imports.values())

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The dotted names that objects here may be of: read, not just imported.

        Those in docstrings, too, and the bases of project classes.
        """
        in_documents = self._in_text("\n".join(self.documents))
        return self._read_names.union(in_documents, self._bases)

    @cached_property
    def _read_names(self) -> frozenset[str]:
        """The dotted names that are read through imports, be it in a short string."""
        known = self.locals
        texts = "\n".join(each for each in self.strings if len(each) <= _MAX_ANNOTATION_LENGTH)
        return _NOTHING.union(
            *(self._meant(root, path) for root, path in self.chains if root in known),
            *(self._meant(root, ()) for root in self.read if root in known),
            self._in_text(texts),
        )

    @cached_property
    def members(self) -> frozenset[str]:
        """Attributes read from possible instances, not only from modules."""
        imported = self.imported.keys() - self.bound
        ends = (path for root, path in self.chains if root not in imported)
        return frozenset(self.of_expressions).union(*ends)

    @cached_property
    def calls(self) -> tuple[QuickCall, ...]:
        """Every call."""
        return tuple(map(self._called, self.call_nodes))

    def calls_of(self, name: str) -> Sequence[QuickCall]:
        """Return the calls of something of such a name, as written or as meant."""
        written = self.calls_by_leaf.get(name, [])
        return [*written, *self._calls_meant[name]] if name in self._calls_meant else written

    def calls_with(self, keyword: str) -> Sequence[QuickCall]:
        """Return the calls that pass such a keyword."""
        return self._calls_by_keyword.get(keyword, ())

    def calls_beyond(self, place: int) -> Sequence[QuickCall]:
        """Return the calls that pass something by position there (from 0)."""
        if place not in self._calls_by_place:
            self._calls_by_place[place] = [each for each in self.calls if each.places > place]
        return self._calls_by_place[place]

    @cached_property
    def calls_by_meaning(self) -> dict[str, list[QuickCall]]:
        """The calls of each dotted name that something called may be."""
        return _grouped((name, called) for called in self.calls for name in called.names)

    @cached_property
    def calls_by_leaf(self) -> dict[str, list[QuickCall]]:
        """The calls of each last name that is written."""
        return _grouped((called.leaf, called) for called in self.calls)

    @cached_property
    def _calls_by_keyword(self) -> dict[str, list[QuickCall]]:
        return _grouped((name, called) for called in self.calls for name in called.keywords)

    @cached_property
    def _calls_meant(self) -> dict[str, list[QuickCall]]:
        """The calls of each last name that is meant and not written, as ``D()`` of ``Dense``."""
        return _grouped(
            (leaf, called)
            for name, calls in self.calls_by_meaning.items()
            for leaf in (name.rpartition(".")[2],)
            for called in calls
            if called.leaf != leaf
        )

    def values_of(self, node: ast.expr | None) -> list[ast.expr]:
        """Return an expression, or all that is assigned to it where it is a name."""
        if isinstance(node, ast.Name):
            return self.assigned.get(node.id, [])
        return [] if node is None else [node]

    def reached(self, given: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """Yield what is in nodes, and in all that is assigned to the names in them."""
        waiting = [*given]
        seen: set[str] = set()
        for each in waiting:  # it grows meanwhile
            for inner in nodes_in(each):
                yield inner
                if isinstance(inner, ast.Name) and inner.id not in seen:
                    seen.add(inner.id)
                    waiting += self.values_of(inner)

    def is_rebound(self, node: ast.expr) -> bool:
        """Say whether the first name of a chain is bound by anything but an import, too."""
        return not self.bound.isdisjoint(chain_of(node)[:1])

    def meant_by(self, node: ast.expr) -> frozenset[str]:
        """Return the dotted names that an expression may be, none where it is no chain."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in self.locals:  # as most are
            return _NOTHING
        return self._meant(root.id, chain_of(node)[1:])

    def parameter_callees(self, name: str, *, of_instance: bool = False) -> ParameterCallees:
        """Return what a project function calls with its parameters, by position."""
        if self._package is None or not self._may_be_own(name):
            return ()
        key = name, of_instance
        if key not in self._handed_over:
            asked = partial(
                parameter_callees, self._package, self._path, name, of_instance=of_instance
            )
            self._handed_over[key] = self._noted(asked)
        return self._handed_over[key]

    def classes_meant_by(self, node: ast.expr) -> Iterator[ClassInfo]:
        """Yield the classes of the tree's other modules that an expression may be."""
        for name in self.meant_by(node):
            found = self._tree(name)
            if isinstance(found, ClassInfo):
                yield found

    @property
    def asks_other_files(self) -> bool:
        """Whether types are followed into other files."""
        return self._package is not None and self._package.follows_types

    def possible(self, oracle: TypeOracle, depth: int = MAX_DEPTH) -> MayTypes:
        """Return the may-types of the expressions, given an oracle.

        ``depth`` is how many files further the project is asked.
        """
        known = self._possible.get((oracle, depth))
        if known is None:
            own = weakref.proxy(self)  # a ring would keep the tree until a collector comes
            project = ProjectTypes(self._package, self._path, oracle, depth)
            known = MayTypes(self._symbol_table, own, oracle, project)
            self._possible[oracle, depth] = known
        return known

    @cached_property
    def _symbol_table(self) -> SymbolTable:
        return SymbolTable(self.scopes)

    # -- what names mean

    @cached_property
    def locals(self) -> dict[str, frozenset[str]]:
        """What each name of the file may mean of what is imported."""
        found = {name: set(meanings) for name, meanings in self._meant_by_imports.items()}
        for module in self.star_modules:
            for name in self._bound_by_star(module):
                found.setdefault(name, set()).add(joined(module, (name,)))
        grown = True
        while grown:
            grown = False
            for name, values in self.aliases.items():
                known = found.get(name, set())
                more = {
                    name
                    for root, path in values
                    for meaning in found.get(root, ())
                    if meaning.count(".") < _MAX_NAME_PARTS
                    for name in self._with_tree(joined(meaning, path))
                } - known
                if more:
                    found[name] = known | more
                    grown = True
        return {name: frozenset(meanings) for name, meanings in found.items()}

    @cached_property
    def _meant_by_imports(self) -> dict[str, set[str]]:
        return {
            local: {meaning for name in names for meaning in self._with_tree(name)}
            for local, names in self.imported.items()
        }

    def _bound_by_star(self, module: str) -> Collection[str]:
        bare = module.lstrip(".")
        own = None
        if self._package is not None:
            level = len(module) - len(bare)
            own = self._noted(partial(self._package.star_names, self._path, bare, level))
        known = self._stars(module) if own is None else own
        return self.written.intersection(known or ())

    def _meant(self, root: str, path: Path) -> frozenset[str]:
        if root not in self.locals:
            return _NOTHING
        found = self._meanings.get((root, path))
        if found is None:
            names = [joined(meaning, path) for meaning in self.locals[root]]
            through = [each for each in map(self._tree, names) if isinstance(each, str)]
            found = self._meanings[root, path] = frozenset((*names, *through))
        return found

    def _with_tree(self, name: str) -> tuple[str, ...]:
        through = self._tree(name)
        return (name, through) if isinstance(through, str) else (name,)

    def _tree(self, name: str) -> str | ClassInfo | None:
        if self._package is None or not self._may_be_own(name):
            return None
        if name not in self._through:
            asked = partial(through_tree, self._package, self._path, name)
            self._through[name] = self._noted(asked)
        return self._through[name]

    def _may_be_own(self, name: str) -> bool:
        """Say whether a dotted name may be one of the tree's own modules, or in one."""
        top, dot, _ = name.partition(".")
        if top not in self._tops:
            package = self._package
            self._tops[top] = package is not None and self._noted(
                partial(package.may_hold, self._path, top)
            )
        return bool(dot) and self._tops[top]

    @cached_property
    def _own_meanings(self) -> frozenset[str]:
        """What the modules of the tree bring in, under its own names."""
        return frozenset(each for each in self._own if isinstance(each, str)) | self._bases

    @cached_property
    def _bases(self) -> frozenset[str]:
        classes = (each for each in self._own if isinstance(each, ClassInfo))
        return frozenset(each.base for each in classes if each.base)

    @cached_property
    def project_classes(self) -> tuple[ClassInfo, ...]:
        """The classes of the tree's other modules that the file imports."""
        return tuple(dict.fromkeys(each for each in self._own if isinstance(each, ClassInfo)))

    @cached_property
    def _own(self) -> list[str | ClassInfo]:
        found = map(self._tree, self.names)
        return [each for each in found if each is not None]

    def _in_text(self, text: str) -> frozenset[str]:
        """Return what the names that stand in a text mean."""
        known = self.locals
        written = set(_DOTTED.findall(text))
        chains = (each.split(".") for each in written if each.partition(".")[0] in known)
        return _NOTHING.union(*(self._meant(root, tuple(path)) for root, *path in chains))

    def _called(self, node: ast.Call) -> QuickCall:
        function, keywords = node.func, node.keywords
        leaf, names = "", _NOTHING
        if isinstance(function, ast.Attribute):
            leaf, names = function.attr, self.meant_by(function)
        elif isinstance(function, ast.Name):
            leaf, names = function.id, self._meant(function.id, ())
        return QuickCall(
            names,
            leaf,
            len(node.args) - (leaf == "__init__" and _names_its_base(node)),
            frozenset([each.arg for each in keywords if each.arg]) if keywords else _NOTHING,
            node,
        )


def _names_its_base(node: ast.Call) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=base), args=[ast.Name(id="self"), *_]):
            while isinstance(base, ast.Attribute):
                base = base.value
            return isinstance(base, ast.Name) and base.id != "self"
    return False


def _grouped(pairs: Iterable[tuple[str, QuickCall]]) -> dict[str, list[QuickCall]]:
    found: defaultdict[str, list[QuickCall]] = defaultdict(list)
    for name, called in pairs:
        found[name].append(called)
    return dict(found)
