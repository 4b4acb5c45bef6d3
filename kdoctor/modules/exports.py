"""What the project's modules export: ``syntax.Package`` over the file system."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kdoctor.modules.ast_cache import AstCache
from kdoctor.modules.call_sites import CallSites
from kdoctor.modules.definition_uses import DefinitionUses
from kdoctor.modules.definitions import UNCLEAR, Definitions
from kdoctor.modules.dependencies import Dependencies, TrackedMemo
from kdoctor.modules.function_summaries import FunctionSummaries
from kdoctor.modules.legacy_switch import LegacySwitches
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.modules.module_summary import Imported, ModuleSummary, summary_from
from kdoctor.modules.name_meanings import (
    IN_RING,
    Modules,
    Outlines,
    OwnModule,
    Resolution,
    Stars,
    Value,
)
from kdoctor.modules.project_callees import ProjectCallees
from kdoctor.modules.project_values import Checks, ProjectValues
from kdoctor.modules.recent_sources import RecentSource, RecentSources
from kdoctor.modules.reverse_imports import ReverseImports
from kdoctor.modules.star_names import StarNames
from kdoctor.modules.uses_elsewhere import UsesOfFile
from kdoctor.modules.word_index import WRITES
from kdoctor.syntax.alias_chains import AliasCache, AliasChainOnce
from kdoctor.syntax.observations import Observations
from kdoctor.syntax.package import ClassInfo, ParameterCallees
from kdoctor.syntax.project_types import Passing, Reach, UsesElsewhere
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.target import LEGACY_SWITCH
from kdoctor.value_types import Observation

if TYPE_CHECKING:
    import ast

    from kdoctor.syntax.type_oracle import TypeOracle
    from kdoctor.syntax.type_sets import Types
    from kdoctor.syntax.user_class import UserClass
    from kdoctor.syntax.values import Value as ValueThere

_MIN_CACHED_ENTRIES = 600  # files and folders that were looked at: those of several projects
_MAX_CACHED_ENTRIES = 10 * _MIN_CACHED_ENTRIES  # where one project has more than that
# Files after which it was much again: one project must be larger than that.
_MIN_FILES_BETWEEN_EVICTIONS = 50
# Files that were looked at for names of which it is kept what they mean.
_MAX_RESOLVED_WEIGHT = 400_000
_NOTHING: Types = frozenset()
_RE_EXPORTS = 5  # modules that a function is imported through


class ProjectPackage:
    """The project's modules, each read on first use.

    ``stars`` says what ``from module import *`` binds for a module outside of the tree;
    ``outlines`` what a file of it binds, as an editor may hold it. Relative paths count from
    ``start``, by default the working folder. ``trace``, where it ``listens``, has what was read.
    ``follows_types``: other files are asked what they pass, return and keep, and do with functions.
    ``observations``: what names were seen to hold as the program ran.
    """

    def __init__(  # noqa: PLR0913 - what is known of the project
        self, stars: Stars, outlines: Outlines | None = None, start: str = "", *,
        listens: bool = True, follows_types: bool = False,
        observations: Iterable[Observation] = (),
    ) -> None:  # fmt: skip
        self.stars = self._stars = stars
        self.follows_types = follows_types
        self.observations = Observations(observations)
        self.trace = Dependencies(listens=listens)
        self.trees = AstCache()
        self._tree = ModuleFinder(start, self.trace)
        # Bounded: memory must not grow with the tree.
        self._summary = TrackedMemo(self.trace, outlines or self._read, 256)
        self._answers = TrackedMemo(self.trace, self._ask, 8192)
        self._public = StarNames(self._tree, self._summary, stars, self.trace)
        self._definitions = Definitions(self._file, self._summary, self._public)
        self._kept = AliasCache()  # what names of modules mean, with what was looked at to know it
        self._switches = LegacySwitches(self.trace, self._tree)
        self._functions = FunctionSummaries(self.trace, self.trees)
        self._handed = TrackedMemo(self.trace, self._functions.parameter_callees, 256)
        self._callees = ProjectCallees(
            self._definitions, self._summary, self._handed, self._answers
        )
        self._returned_call = TrackedMemo(self.trace, self._functions.returned_call, 256)
        # Whether anything of Keras can be reached from a module, and what was looked at to know it.
        self.reach_keras: dict[OwnModule, tuple[bool, frozenset[str]]] = {}
        self._importers = ReverseImports(start, self.trace)
        self.keras_root = self._importers.keras_root
        self._classes: dict[tuple[ClassInfo, TypeOracle], UserClass] = {}
        self._sources = RecentSources(self.trace, self.trees)
        self._uses = DefinitionUses(self._definitions, self._sources.of, self._importers.files_that)
        self._values = self._project_values()
        self._uses_of_file = UsesOfFile(self, self._sources, self._uses, self._may_be_of_keras_2)
        self._much, self._files = _MIN_CACHED_ENTRIES, 0  # files: since all was forgotten

    def _project_values(self) -> ProjectValues:
        sources = self._sources
        calls = CallSites(self._definitions, self._uses, self._importers.files_that)
        checks = Checks(self._may_be_of_keras_2, self._own_class)
        return ProjectValues(self, self.stars, sources, calls, checks, self.trace)

    def evict_if_large(self) -> None:
        """Drop all caches if they are large. Not to be called while a file is read.

        A large project whose modules all import each other would be read again for each file: so
        much more is kept where it was soon much again.
        """
        self._files += 1
        if self.trace.size <= self._much:
            return
        if self._files < _MIN_FILES_BETWEEN_EVICTIONS:
            self._much = min(2 * self._much, _MAX_CACHED_ENTRIES)
        self._files = 0
        self._forget_answers()

    def forget(self) -> None:
        """Drop all caches. Not to be called while a file is read."""
        self._forget_answers()
        self._importers.forget()
        self.trees.forget()

    def _forget_answers(self) -> None:
        self._tree.forget()
        for known in (self._summary, self._answers, self._handed, self._returned_call):
            known.forget()
        for each in (
            self._functions,
            self._switches,
            self._public,
            self._kept,
            self._values,
            self._sources,
        ):
            each.forget()
        self.reach_keras.clear()
        self._classes.clear()
        self.trace.forget()

    def prefetch(self, unit_path: str) -> None:
        """Summarize a file's bindings ahead of time."""
        self._summary(self._tree.canonical_path(unit_path))

    def exports(self, unit_path: str, module: str, level: int, name: str) -> str | ClassInfo | None:
        """Return what ``from module import name`` binds in ``unit_path``.

        A dotted name where it comes from outside of the tree, a class where the tree defines it;
        None where the module is not of the tree or the name may mean several things.
        """
        path = self._file(unit_path, module, level)
        if path is None:
            return None
        value = self._answers(path, name)
        if isinstance(value, OwnModule) or self._is_hidden(unit_path, module, level, name, path):
            return None
        return value

    def _file(self, unit_path: str, module: str, level: int) -> str | None:
        """Return the file of a module of the tree, also where a package hands it on as its own.

        ``net.backend`` where ``net/__init__.py`` says ``from .. import backend``.
        """
        path = self._tree.find(unit_path, module, level)
        package, _, name = module.rpartition(".")
        if path is not None or not name or not (package or level):
            return path
        package_path = self._file(unit_path, package, level)
        value = None if package_path is None else self._answers(package_path, name)
        return value.path if isinstance(value, OwnModule) else None

    def may_hold(self, unit_path: str, top: str) -> bool:
        """Say whether ``import top.…`` in ``unit_path`` can be a project module."""
        return self._tree.may_hold(unit_path, top)

    def holds(self, unit_path: str, top: str) -> bool:
        """Say whether ``import top`` in ``unit_path`` surely is a project module."""
        return self._tree.find(unit_path, top, 0) is not None

    def has_file(self, unit_path: str, relative: str) -> bool:
        """Say whether a relative path exists beside ``unit_path`` or in its project."""
        return self._tree.has_file(unit_path, relative)

    def parameter_callees(
        self, unit_path: str, module: str, level: int, name: str, *, of_instance: bool
    ) -> ParameterCallees:
        """Return what a project function calls with its parameters, by position."""
        found = self._definitions.locate(unit_path, module, level, name)
        if found is None or found is UNCLEAR:
            return ()
        return self._callees.of(found, instance=of_instance)

    def returned_call(self, unit_path: str, module: str, level: int, name: str) -> str | None:
        """Return the call whose result a project function surely returns."""
        found = self._function(unit_path, module, level, name)
        callee = None if found is None else self._returned_call(*found)
        value = None if found is None or callee is None else self._answers(found[0], callee)
        return value if isinstance(value, str) else None

    def _function(
        self, unit_path: str, module: str, level: int, name: str
    ) -> tuple[str, str] | None:
        """Return the file and the name of a function of the tree."""
        path = self._tree.find(unit_path, module, level)
        for _ in range(_RE_EXPORTS):
            summary = None if path is None else self._summary(path)
            match list(summary.names.get(name, ())) if summary else []:
                case [None] if path is not None:
                    return path, name
                case [Imported(name=str(imported)) as through] if path is not None:
                    path, name = self._tree.find(path, through.module, through.level), imported
                case _:
                    return None
        return None

    def tree(self, unit_path: str, text: str) -> ast.Module | None:
        """Return the syntax tree of a source that is examined, None if it is no Python."""
        if not self.follows_types:
            return self.trees.take(text)
        return self._sources.tree(self._tree.canonical_path(unit_path), text)

    def quick_facts(self, unit_path: str, text: str, tree: ast.Module) -> QuickFacts:
        """Return the quick facts of a source that is examined."""
        if not self.follows_types:
            return QuickFacts(tree, unit_path, self, self.stars)
        path = self._tree.canonical_path(unit_path)
        facts = self._sources.facts(path, text, tree, self, self.stars)
        facts.forget_answers()
        return facts

    def forget_trees(self) -> None:
        """Drop all trees that are kept of files."""
        self._sources.forget()

    def drop_modules(self) -> None:
        """Drop the modules that an examined file led to: their trees are large."""
        self._sources.drop_modules()

    def passing(
        self, unit_path: str, function: str, parameter: str, reach: Reach
    ) -> Passing | None:
        """Return what all calls in the project pass for a parameter of ``unit_path``'s function."""
        own = self._tree.canonical_path(unit_path)
        return self._values.passing(own, function, parameter, reach)

    def may_be_passed(
        self, unit_path: str, function: str, parameter: str, reach: Reach
    ) -> Types | None:
        """Return what the calls in other files may pass, None where ``passing`` is None."""
        own = self._tree.canonical_path(unit_path)
        return self._values.may_be_passed(own, function, parameter, reach)

    def returned(
        self, unit_path: str, module: str, level: int, name: str, reach: Reach
    ) -> ValueThere | None:
        """Return what a function of another module surely returns."""
        found = self._definitions.locate(unit_path, module, level, name)
        return None if found in {None, UNCLEAR} else self._values.returned(*found, reach)

    def may_be_returned(
        self, unit_path: str, module: str, level: int, name: str, reach: Reach
    ) -> Types:
        """Return what a function of another module may return."""
        found = self._definitions.locate(unit_path, module, level, name)
        return _NOTHING if found in {None, UNCLEAR} else self._values.may_be_returned(*found, reach)

    def kept(self, cls: ClassInfo, member: str, reach: Reach) -> ValueThere | None:
        """Return what an attribute of the objects of a class surely holds."""
        return self._values.kept(cls.path, cls.name, member, reach)

    def may_be_kept(self, cls: ClassInfo, member: str, reach: Reach) -> Types:
        """Return what an attribute of the objects of a class may hold."""
        return self._values.may_be_kept(cls.path, member, reach)

    def uses_elsewhere(self, unit_path: str, name: str, oracle: TypeOracle) -> UsesElsewhere:
        """Return where other files, but for tests, use what a file defines at its top level."""
        return self._uses_of_file.of(self._tree.canonical_path(unit_path), name, oracle)

    def _own_class(self, path: str, name: str, oracle: TypeOracle) -> UserClass | None:
        """Return a class as other modules see it, the same each time."""
        from kdoctor.syntax.classes import of_another_file  # noqa: PLC0415 - it imports libcst

        info = self._answers(path, name)
        if not isinstance(info, ClassInfo):
            return None
        key = info, oracle
        if key not in self._classes:
            self._classes[key] = of_another_file(info, oracle)
        return self._classes[key]

    def _may_be_of_keras_2(self, source: RecentSource) -> bool:
        """Say whether a source may work with tf_keras, by its imports or by what others set."""
        if "tf_keras" in source.text or LEGACY_SWITCH in source.text:
            return True
        asked = source.path, [source.text]
        return bool(self._switches.set_by(*asked) or self._switches.set_late_by(*asked))

    def star_names(self, unit_path: str, module: str, level: int) -> Collection[str] | None:
        """Return what ``from module import *`` binds, None if unknown."""
        path = self._tree.find(unit_path, module, level)
        return None if path is None else self._public(path)

    def imports_another_root(self, unit_path: str, module: str, level: int) -> bool:
        """Say whether a module of the tree imports tf_keras: what it makes may be of Keras 2."""
        path = self._tree.find(unit_path, module, level)
        summary = None if path is None else self._summary(path)
        return summary is not None and summary.takes_tf_keras

    def may_be_imported_from(self, unit_path: str, name: str) -> bool:
        """Say whether another file of the project may take a name out of a file."""
        return self._importers.take(unit_path, name)

    def is_written(self, unit_path: str, word: str) -> bool:
        """Say whether a file of the project writes a word; so it may, where there is too much."""
        return self._importers.files_that(unit_path, WRITES + word) != ()

    def do_importers_write(self, unit_path: str, word: str) -> bool:
        """Say whether a file that imports a file, maybe through others, writes a word."""
        return self._importers.write(unit_path, word)

    def may_hide_elsewhere(self, unit_path: str, name: str) -> bool:
        """Say whether a new name of a file may hide one of a file that takes all of it."""
        return self._importers.hide(unit_path, name)

    def is_tried(self, unit_path: str) -> bool:
        """Say whether another file of the project goes on where its import of a file fails."""
        return self._importers.is_tried(unit_path)

    def is_for_a_backend(self, unit_path: str) -> bool:
        """Say whether the files of the project import a file for one backend of Keras alone."""
        return self._importers.is_for_a_backend(unit_path)

    def assigned_elsewhere(self, unit_path: str, module: str, level: int) -> Collection[str]:
        """Return what a module of the tree assigns in modules that are not of the tree."""
        path = self._tree.find(unit_path, module, level)
        summary = None if path is None else self._summary(path)
        if path is None or summary is None:
            return ()
        meant = [self._answers(path, each) for each in summary.given]
        return [each for each in meant if isinstance(each, str)]

    def switched_by(self, unit_path: str, texts: Iterable[str]) -> str:
        """Return the module that sets ``TF_USE_LEGACY_KERAS`` for a file with ``texts``, or ""."""
        return self._switches.set_by(unit_path, texts)

    def switched_late_by(self, unit_path: str, texts: Sequence[str]) -> str:
        """Return the module that leaves open which Keras ``tf.keras`` is in a file, or ""."""
        return self._switches.set_late_by(unit_path, texts)

    def meanings(self, unit_path: str, imported: Imported) -> Iterator[Value]:
        """Yield what an import may bind, for each name where it imports several."""
        if imported.name != "*":
            yield self._question().meant(unit_path, imported)
            return
        path = self._tree.find(unit_path, imported.module, imported.level)
        yield imported.module if path is None else OwnModule(path)

    def contents(self, module: OwnModule) -> Iterator[Value]:
        """Yield what the names of a module of the tree mean, and the modules of its stars."""
        summary = self._summary(module.path)
        if summary is None:
            return
        yield from (self._answers(module.path, name) for name in summary.names)
        for star in summary.stars:
            yield from self.meanings(module.path, star)

    def _is_hidden(self, unit_path: str, module: str, level: int, name: str, path: str) -> bool:
        """Say whether a module of the tree has the name, too.

        Where ``pkg/__init__.py`` says ``import keras`` and ``pkg/keras.py`` is there, ``pkg.keras``
        is that file as soon as anybody has imported it, unless it is what the name comes from:
        ``from .keras import keras``.
        """
        below = f"{module}.{name}" if module else name
        if self._tree.find(unit_path, below, level) in (None, path):
            return False
        summary = self._summary(path)
        bindings = summary.names.get(name, set()) if summary else set()
        return not any(
            isinstance(each, Imported) and each.level == 1 and each.module == name
            for each in bindings
        )

    def _read(self, path: str) -> ModuleSummary | None:
        data = self.trace.read(path)
        if data is None or (tree := self.trees.of_bytes(data)) is None:
            return None
        self._functions.note(path, tree)
        return summary_from(tree, data)

    def _ask(self, path: str, name: str) -> Value:
        return self._question().dotted(path, name)

    def _question(self) -> Resolution:
        if self._kept.weight > _MAX_RESOLVED_WEIGHT:
            # In a ring of 100 modules each name has them all.
            self._kept.forget()
        modules = Modules(self._tree, self._summary, self._stars, self._public, self.trace)
        return Resolution(modules, AliasChainOnce(self._kept, IN_RING))
