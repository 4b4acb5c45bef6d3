"""Reverse imports: which files import a name from a module, and from which Keras root.

Asked only before an import goes that they may need, in a fix or in the diff of one, or before one
of Keras comes into a file that has none. All files of the project are then read, once and by their
bytes: what looks like such a use counts as one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.modules.backend_imports import is_for_a_backend
from kdoctor.modules.common_root import most_common_root
from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.file_stamp import (
    FileStamp,
    Signature,
    combined_signature,
    digest,
    import_query_key,
)
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.modules.module_summary import parsed
from kdoctor.modules.name_reads import holds_module, holds_word, may_read
from kdoctor.modules.prefilter import imports_of_bytes
from kdoctor.modules.project_files import bytes_of, files_of
from kdoctor.modules.run_files import run_files
from kdoctor.modules.star_importers import binds, may_hide_a_name, mentions
from kdoctor.modules.text_reads import TextReads
from kdoctor.modules.tried_imports import is_tried
from kdoctor.modules.word_index import CALLS, CALLS_MEMBER, TAKES, WRITES, WordIndex

# By these a file gets at a module, or at what is in it, through text: plain words, for which bytes
# are searched several times as fast as by a pattern, and what has to be a word of its own.
_THROUGH_TEXT = (
    *(b"import_module", b"__import__", b"importlib", b"resolve_name", b"run_path", b"run_module"),
    *(b"getattr", b"setattr", b"delattr", b"attrgetter", b"__dict__", b"getmembers"),
)
# Each begins with a literal, for which bytes are searched fast; that it begins a word comes then.
_THROUGH_TEXT_BY_WORD = (
    pattern(rb"patch(?<!\wpatch)\b"),
    pattern(rb"vars(?<!\wvars)\b"),
    pattern(rb"dir(?<!\wdir)\s*\("),
    pattern(rb"sys\s*\.\s*modules"),  # `_sys.modules`, too
)
# All that is in a module.
_ALL_OF_IT = pattern(rb"\bvars\s*\(|__dict__|\bdir\s*\(|getmembers")
# Modules by whatever name or path.
_LOADS = (
    *(b"import_module", b"__import__", b"resolve_name", b"run_path", b"run_module"),
    *(b"load_module", b"load_source", b"spec_from_file_location", b"find_spec"),
)
_LOADED = pattern(rb"sys\s*\.\s*modules")
# A module by a name that the file itself makes up.
_BY_ANY_NAME = pattern(rb"(?:import_module|__import__|resolve_name)\s*\(\s*(?:[^\s'\"]|[fF]['\"])")
_ONLY_WORDS = bytes(
    each if each < 128 and (chr(each).isalnum() or each == ord("_")) else 32 for each in range(256)
)
_PROJECTS = 4  # that are remembered; memory must not grow with the tree
_TAKEN, _LEFT = digest(b"taken"), digest(b"left")
_TRIED, _FOR_A_BACKEND = "try:", "if:"  # asked in place of a name
_OF_IMPORTERS = {_TRIED: is_tried, _FOR_A_BACKEND: is_for_a_backend}
_HIDDEN = "* "  # asked before a name
_WRITTEN = "< "  # before a word


class _Import(Struct, frozen=True, gc=False):
    """What a file imports from a module: some names, or, where there are none, the module."""

    importer: str
    names: tuple[str, ...]


class _TextReader(Struct, frozen=True, gc=False):
    """A file that may read modules through text, or even load them by a name that a text gives.

    ``mentions`` are the modules of the project, by the names they are imported as, that it speaks
    of: of most it does not, and is not read again for them.
    """

    path: str
    loads_modules: bool
    mentions: frozenset[str]


_Index = dict[str, list[_Import]]  # by the path of the module


class _Project:
    """The files among which a module may be imported, as they were when they were listed."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = tuple(files)
        # The names that its modules are imported as; `my-module` is no word.
        self.leaves = frozenset(filter(_is_word, map(_leaf, self.files)))
        self.index: _Index | None = None  # made when it is first needed
        self.through_text: list[_TextReader] = []  # likewise

    @cached_property
    def words(self) -> WordIndex:
        """Which of the files write a word."""
        return WordIndex(self.files, bytes_of)

    @cached_property
    def root(self) -> str | None:
        """The root that most of the files import Keras from."""
        return most_common_root(map(bytes_of, self.files))

    @cached_property
    def signature(self) -> Signature | None:
        """What changes with any of the files; asked for before they are read."""
        return combined_signature(self.files)


class ReverseImports:
    """The importers of each module. Relative paths are relative to ``start``.

    ``trace`` learns which answers were given.
    """

    def __init__(self, start: str = "", trace: Dependencies | None = None) -> None:
        self._tree = ModuleFinder(start, Dependencies(listens=False))
        self._trace = trace
        self._projects: dict[tuple[str, str | None], _Project] = {}

    def forget(self) -> None:
        """Drop the index."""
        self._projects.clear()
        self._tree.forget()

    def take(self, path: str, name: str) -> bool:
        """Say whether another file may import a name from the module at ``path``.

        By ``from module import name``, by ``*``, as ``module.name``, or through text:
        ``getattr(import_module("module"), "name")``, ``mock.patch("module.name")``.
        """
        return self._answer(path, name)

    def users(self, path: str, names: frozenset[str]) -> list[str]:
        """Return the files that may import any of these names, be it from one that hands it on."""
        own = self._tree.canonical_path(path)
        index = self._index(self._project(own))
        found: dict[str, None] = {}
        waiting = [own]
        for module in waiting:  # it grows meanwhile
            leaf = _leaf(module)
            for each in index.get(module, ()):
                if each.importer in found or each.importer == own:
                    continue
                takes = "*" in each.names or not names.isdisjoint(each.names)
                if takes or (
                    not each.names and any(_reads(each.importer, leaf, name) for name in names)
                ):
                    found[each.importer] = None
                    waiting.append(each.importer)
        return [*found]

    def keras_root(self, unit_path: str) -> str | None:
        """Return the usual Keras root of a file's project, None if there is none."""
        own = self._tree.canonical_path(unit_path)
        if self._trace is not None and self._trace.is_recording:
            self._trace.note(import_query_key(own, ""), self.state(own, ""))
        return self._project(own).root

    def is_tried(self, path: str) -> bool:
        """Say whether a file goes on where its import of the module at ``path`` fails.

        Be it that it imports one that imports it.
        """
        return self._answer(path, _TRIED)

    def is_for_a_backend(self, path: str) -> bool:
        """Say whether the module at ``path`` is imported for one backend of Keras alone."""
        return self._answer(path, _FOR_A_BACKEND)

    def hide(self, path: str, name: str) -> bool:
        """Say whether a new name of the module at ``path`` may hide one of another file.

        Of one that takes all of it by a star.
        """
        return self._answer(path, f"{_HIDDEN}{name}")

    def write(self, path: str, code: str) -> bool:
        """Say whether a file that imports ``path``, maybe through others, has `word`, `word=`."""
        return self._answer(path, f"{_WRITTEN}{code}")

    def _write(self, own: str, code: str) -> bool:
        project = self._project(own)
        writing = project.words.files_that(WRITES + code.strip(".="))
        if not writing:
            return writing is None  # there is too much to be searched
        index = self._index(project)
        waiting = [own]
        known = {own}
        for module in waiting:  # it grows meanwhile
            importers = {each.importer for each in index.get(module, ())} - known
            if any(mentions(each, code) for each in importers.intersection(writing)):
                return True
            waiting += sorted(importers)
            known |= importers
        return False

    def _answer(self, path: str, asked: str) -> bool:
        own = self._tree.canonical_path(path)
        if self._trace is None or not self._trace.is_recording:
            return self._is_so(own, asked)
        state = self.state(own, asked)
        self._trace.note(import_query_key(own, asked), state)
        return state.digest == _TAKEN

    def _is_so(self, own: str, asked: str) -> bool:
        if asked in _OF_IMPORTERS:
            return self._importers(own, _OF_IMPORTERS[asked])
        if asked.startswith(_HIDDEN):
            return self._hide(own, asked.removeprefix(_HIDDEN))
        if asked.startswith(_WRITTEN):
            return self._write(own, asked.removeprefix(_WRITTEN))
        return self._take(own, asked)

    def _hide(self, own: str, name: str) -> bool:
        index = self._index(self._project(own))

        def importers(module: str) -> Iterator[str]:
            return (each.importer for each in index.get(module, ()) if "*" in each.names)

        return may_hide_a_name(own, name, importers, self._tree.find)

    def _importers(self, own: str, asked: Callable[..., bool]) -> bool:
        """Ask a question of which the answer lies in how files import a module."""
        index = self._index(self._project(own))
        return asked(own, _leaf, lambda of: (e.importer for e in index.get(of, ())), bytes_of)

    def files_that(self, path: str, asked: str) -> tuple[str, ...] | None:
        """Return the files of a file's project that do something with a word: ``CALLS + "f"``.

        None where there is too much.
        """
        own = self._tree.canonical_path(path)
        if self._trace is not None and self._trace.is_recording:
            self._trace.note(import_query_key(own, asked), self.state(own, asked))
        return self._files_that(own, asked)

    def _files_that(self, own: str, asked: str) -> tuple[str, ...] | None:
        project, name = self._project(own), asked[1:]
        if asked.startswith(TAKES):
            whole = {each.importer for each in self._index(project).get(own, ())}
            whole.intersection_update(project.words.files_that(WRITES + name) or ())
            return tuple(sorted(whole.union(self.users(own, frozenset({name})))))
        return project.words.files_that(asked)

    def state(self, own: str, name: str) -> FileStamp:
        """Return the answer as a dependency of a result. The path is absolute.

        Without a name it is about the root.
        """
        signature = self.signature(own)
        if name.startswith((WRITES, CALLS, CALLS_MEMBER, TAKES)):
            files = self._files_that(own, name)
            return FileStamp(signature, digest("\0".join(files or ("",)).encode(errors="replace")))
        if not name:
            return FileStamp(signature, digest((self._project(own).root or "").encode()))
        return FileStamp(signature, _TAKEN if self._is_so(own, name) else _LEFT)

    def signature(self, own: str) -> Signature | None:
        """Return a cheap signature that changes if any answer about a module does."""
        return self._project(own).signature

    def _take(self, own: str, name: str) -> bool:
        project = self._project(own)
        index = self._index(project)
        if self._is_taken(index, own, name, {own}):
            return True
        leaf = _leaf(own)
        importers = {each.importer for each in index.get(own, ())}
        return any(
            _reads_through_text(file, leaf, name, imports_it=file.path in importers)
            for file in project.through_text
            if file.path != own
            # What speaks neither of the module nor of any at all is not read again.
            and (
                file.loads_modules
                or file.path in importers
                or leaf in file.mentions
                or leaf not in project.leaves
            )
        )

    def _is_taken(self, index: _Index, module: str, name: str, seen: set[str]) -> bool:
        leaf = _leaf(module)
        for each in index.get(module, ()):
            if name in each.names:
                return True
            if not each.names and _reads(each.importer, leaf, name):
                return True
            # What a star brings is read there, or is taken from there.
            if "*" in each.names and not name.startswith("_") and each.importer not in seen:
                seen.add(each.importer)
                if not binds(each.importer, name) and (
                    mentions(each.importer, name)
                    or self._is_taken(index, each.importer, name, seen)
                ):
                    return True
        # `import package`, then `package.module.name`.
        return any(
            _reads(each.importer, leaf, name)
            for package in _packages(module)
            for each in index.get(package, ())
        )

    def _project(self, path: str) -> _Project:
        top, package = self._tree.top_of(path)
        key = top, package
        if key not in self._projects:
            if len(self._projects) >= _PROJECTS:
                del self._projects[next(iter(self._projects))]
            self._projects[key] = _Project(files_of(top, package))
        return self._projects[key]

    def _index(self, project: _Project) -> _Index:
        if project.index is None:
            index: _Index = {}
            for path in project.files:
                data = bytes_of(path)
                if _may_read_through_text(data):
                    mentions = _words_among(data, project.leaves)
                    project.through_text.append(_TextReader(path, _loads_modules(data), mentions))
                for module, found in self._imports(path, data):
                    if module != path:
                        index.setdefault(module, []).append(found)
            project.index = index
        return project.index

    def _imports(self, path: str, data: bytes) -> Iterator[tuple[str, _Import]]:
        """Yield the modules of the project that a file imports, with what it takes from each."""
        find = self._tree.find
        yield from ((each, _Import(path, ("*",))) for each in run_files(path, data))
        for level, module, names in imports_of_bytes(
            data, lambda top: self._tree.may_hold(path, top)
        ):
            found = find(path, module, level)
            if found is not None:
                yield found, _Import(path, names)
            for name in names:
                below = find(path, f"{module}.{name}" if module else name, level)
                if below is not None:
                    yield below, _Import(path, ())


def _leaf(module: str) -> str:
    """Return the name under which a module is imported."""
    folder, _, name = module.rpartition(os.sep)
    return folder.rpartition(os.sep)[2] if name == "__init__.py" else name.removesuffix(".py")


def _packages(module: str) -> Iterator[str]:
    """Yield the packages around a module, from the inside out."""
    folder = os.path.dirname(module)  # noqa: PTH120
    while True:
        package = os.path.join(folder, "__init__.py")  # noqa: PTH118
        if package != module:
            if not os.path.isfile(package):  # noqa: PTH113
                return
            yield package
        folder = os.path.dirname(folder)  # noqa: PTH120


def _reads(path: str, module: str, name: str) -> bool:
    """Say whether a file reads ``module.name``, be it that it gave the module another name."""
    data = bytes_of(path)
    own = re.escape(module.encode())
    names = {own, *map(re.escape, re.findall(rb"\b" + own + rb"\s+as\s+(\w+)", data))}
    dotted = rb"\b(?:" + rb"|".join(sorted(names)) + rb")\s*\.\s*" + re.escape(name.encode())
    return re.search(dotted + rb"\b", data) is not None


def _may_read_through_text(data: bytes) -> bool:
    """Say whether a file may get at a module, or at what is in it, through text."""
    return any(word in data for word in _THROUGH_TEXT) or any(
        each.search(data) for each in _THROUGH_TEXT_BY_WORD
    )


def _loads_modules(data: bytes) -> bool:
    """Say whether a file may get at modules by whatever name or path."""
    return any(word in data for word in _LOADS) or _LOADED.search(data) is not None


def _reads_through_text(file: _TextReader, leaf: str, name: str, *, imports_it: bool) -> bool:
    """Say whether a file may read a name of the module imported as ``leaf`` through text."""
    data = bytes_of(file.path)
    names_it = imports_it or holds_word(data, leaf)
    if not (names_it or file.loads_modules):
        return False
    reads_it = may_read(data, name)
    if not (reads_it or _ALL_OF_IT.search(data)):
        return False
    is_notebook = file.path.endswith(".ipynb")
    if not (is_notebook or names_it or reads_it):
        return False  # all names are taken of a module that is named, not of any that is loaded
    if not (is_notebook or file.loads_modules or holds_module(data, leaf)):
        return False
    tree = None if is_notebook else parsed(data)
    if tree is None:
        return _mentions_both(data, leaf.encode(), name.encode(), imports_it=imports_it)
    return TextReads(tree, leaf, imports_it=imports_it).read(name)


def _is_word(name: str) -> bool:
    return name.isascii() and name.replace("_", "a").isalnum()


def _words_among(data: bytes, wanted: frozenset[str]) -> frozenset[str]:
    """Return which of some words, names of modules, are in a file."""
    return wanted.intersection(data.translate(_ONLY_WORDS).decode("ascii").split())


def _mentions_both(data: bytes, leaf: bytes, name: bytes, *, imports_it: bool) -> bool:
    """Say whether a file reads a name of a module, as far as its words tell."""
    leaf, word = re.escape(leaf), re.escape(name)
    dotted = rb"['\"](?:[\w.]*\.)?" + leaf + rb"[.:]" + word + rb"\b"
    if re.search(dotted, data):  # mock.patch("package.module.name")
        return True
    named = re.search(rb"(?:['\"]|\.)" + leaf + rb"['\"]", data) is not None
    if b"run_path" in data or b"spec_from_file" in data:
        named = named or re.search(rb"\b" + leaf + rb"\.py\b", data) is not None
    if not (imports_it or named):
        return _BY_ANY_NAME.search(data) is not None and _reads_dynamically(data, word)
    if _ALL_OF_IT.search(data):
        return True
    return re.search(rb"['\"]" + word + rb"['\"]|\.\s*" + word + rb"\b", data) is not None


def _reads_dynamically(data: bytes, word: bytes) -> bool:
    """Say whether a file reads a name of what it imports by a name that it makes up."""
    made = set(re.findall(rb"(\w+)\s*=\s*[\w.]*(?:import_module|__import__)\s*\(", data))
    held = rb"|".join(sorted(map(re.escape, made))) or rb"(?!)"
    read = (
        rb"getattr\s*\([^\n]*['\"]" + word + rb"['\"]"
        rb"|(?:import_module|__import__|resolve_name)\s*\([^\n]*\)\s*\.\s*" + word + rb"\b"
        rb"|\b(?:" + held + rb")\s*\.\s*" + word + rb"\b"
    )
    return re.search(read, data) is not None
