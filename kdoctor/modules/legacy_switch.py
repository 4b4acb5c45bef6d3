"""Find code that sets ``TF_USE_LEGACY_KERAS``, so that ``tf.keras`` is tf_keras.

TensorFlow reads the variable when ``tf.keras`` is first used. So it counts above the first import
from ``tensorflow.keras``, also under a condition: who sets it means to work with tf_keras.

``from transformers import TFBertModel`` sets it, too: see ``modeling_tf_utils.py`` of transformers
4.37 to 4.57, the releases that run on a TensorFlow with Keras 3 and still have such models.

``import tensorflow_model_optimization`` (0.8.0 and 0.8.1) imports TensorFlow first, and sets it
then. That is too late for ``import tensorflow.keras``, which finds Keras 3 still; but the attribute
``tf.keras`` finds out what it is when it is first read, and so do, each for itself, those of
``tf.compat.v1`` and ``tf.compat.v2``. What that is hangs on what the program imports and reads
before: it is open.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from kdoctor.documents import Document, Unit
from kdoctor.keras_api.surface import COMPATIBLE
from kdoctor.lazy_regex import pattern
from kdoctor.model import Place, Span
from kdoctor.modules.dependencies import Dependencies, TrackedMemo
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.modules.module_summary import Imported, imports_in, parsed
from kdoctor.modules.prefilter import imports_of_bytes
from kdoctor.syntax.ast_walk import chain_of, children_of, statements_in
from kdoctor.target import LEGACY_SWITCH, SWITCHES_ON

_BYTES: Final = LEGACY_SWITCH.encode()
_TRANSFORMERS: Final = "transformers"
_TF_MODEL: Final = pattern(r"TF[A-Z]")
_MAGIC: Final = pattern(rf"%(?:set_)?env[ \t]+{LEGACY_SWITCH}[ \t]*[ \t=][ \t]*[\"']?(\w+)")
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TENSORFLOW: Final = "tensorflow"
_KERAS: Final = "tensorflow.keras"
_SETS_LATE: Final = "tensorflow_model_optimization"
# Each test stands for itself: what one sets says nothing of the others.
_TEST: Final = pattern(r"tests?_.*\.py|.*_tests?\.py")


_SetBy: TypeAlias = Callable[[str], bool]  # is the variable set by the module at this path?


class LegacySwitch(Struct, frozen=True):
    """What sets the variable, in words, and its line if it is in the file."""

    why: str
    place: Place | None = None


def switch_in(document: Document, data: bytes) -> LegacySwitch | None:
    """Return what in a document sets the variable, None if nothing does."""
    if _BYTES not in data and _TRANSFORMERS.encode() not in data:
        return None
    return next(filter(None, map(_switch_in, document.units)), None)


def _switch_in(unit: Unit) -> LegacySwitch | None:
    for edit in unit.masks:
        magic = _MAGIC.match("".join(map(str, edit.parts)).strip())
        if magic is not None and magic[1] in SWITCHES_ON:
            return _switch(unit, edit.span.start, f"sets {LEGACY_SWITCH}")
    speaks_of_models = _TRANSFORMERS in unit.text and _TF_MODEL.search(unit.text) is not None
    tree = parsed(unit.text) if LEGACY_SWITCH in unit.text or speaks_of_models else None
    if tree is None:
        return None
    for statement in filter(_switches_on, _before_keras(tree, inside=True)):
        return _switch(unit, _start_of(statement, unit.text), f"sets {LEGACY_SWITCH}")
    for statement in filter(_imports_a_tf_model, _before_keras(tree, inside=False)):
        does = f"imports a TensorFlow model of transformers, which sets {LEGACY_SWITCH}"
        return _switch(unit, _start_of(statement, unit.text), does)
    return None


def _switch(unit: Unit, offset: int, does: str) -> LegacySwitch:
    end = unit.text.find("\n", offset)
    last = min(len(unit.text) if end < 0 else end, unit.cell_at(offset).span.end)
    place = unit.place(Span(offset, last))
    of_cell = "" if place.cell is None else f" of cell {place.cell}"
    return LegacySwitch(f"line {place.line}{of_cell} {does}", place)


def _start_of(statement: ast.stmt, text: str) -> int:
    offset = 0
    for _ in range(statement.lineno - 1):
        offset = text.index("\n", offset) + 1
    return offset


def reads_compat(data: bytes) -> bool:
    """Say whether a file may read what stays open in it, be nothing else wrong there."""
    return b"compat" in data and b"tensorflow" in data and b"keras" in data


def open_roots(texts: Sequence[str]) -> frozenset[str]:
    """Return the roots of Keras that are open in code with these texts if the variable is set late.

    Of ``tf.keras`` the code itself may decide: `from tensorflow.keras import layers` puts Keras 3
    there, too. But what `from tensorflow import keras` gave before stays what it was.
    """
    trees = [tree for text in texts if _KERAS in text and (tree := parsed(text)) is not None]
    at_top = [each for tree in trees for each in _at_top(tree)]
    is_decided = any(map(_loads_keras, at_top)) and not any(map(_takes_keras, at_top))
    return frozenset(COMPATIBLE if is_decided else (*COMPATIBLE, "tf.keras"))


class _Sets(NamedTuple):
    """Whether a module sets the variable, above its first import of Keras, or late."""

    early: bool
    late: bool


class LegacySwitches:
    """Which project modules set the variable for others."""

    def __init__(self, trace: Dependencies, tree: ModuleFinder) -> None:
        self._trace = trace
        self._tree = tree
        self._sets = TrackedMemo(trace, self._summarize, 4096)

    def forget(self) -> None:
        """Drop all caches."""
        self._sets.forget()

    def set_by(self, path: str, texts: Iterable[str]) -> str:
        """Return the module that sets the variable before a file runs; or "".

        It is one in the folder of its package, one that it imports first, and for a test the
        ``conftest.py`` above it. It is named as seen from the file's own folder.
        """
        return self._setter(path, texts, self._is_set_by)

    def set_late_by(self, path: str, texts: Sequence[str]) -> str:
        """Return the module, likewise, that leaves open which Keras is read in a file; or ""."""
        if any(_SETS_LATE in text and _sets_late(parsed(text)) for text in texts):
            return self._tree.relative_path(path, path)
        return self._setter(path, texts, self._is_set_late_by)

    def _is_set_by(self, path: str) -> bool:
        return self._sets(path).early

    def _is_set_late_by(self, path: str) -> bool:
        return self._sets(path).late

    def _setter(self, path: str, texts: Iterable[str], is_set_by: _SetBy) -> str:
        imported = self._imported(path, texts, is_set_by)
        found = (
            self._setter_around(path, is_set_by)
            or self._setter_for_tests(path, is_set_by)
            or next((own for each in imported if (own := self._setter_above(each, is_set_by))), "")
        )
        return found and self._tree.relative_path(path, found)

    def _setter_above(self, path: str, is_set_by: _SetBy) -> str:
        return path if is_set_by(path) else self._setter_around(path, is_set_by)

    def _setter_around(self, path: str, is_set_by: _SetBy) -> str:
        """Return a module in the package's own folder that sets it, or an ``__init__.py``; or "".

        Which of the modules is imported first is not asked: the package means to use tf_keras.
        """
        packages = self._tree.packages_around(path)
        inits = (os.path.join(each, "__init__.py") for each in packages)  # noqa: PTH118
        modules = (
            os.path.join(folder, name)  # noqa: PTH118
            for folder in packages[-1:]
            for name in self._tree.modules_in(folder)
            if not _TEST.fullmatch(name)
        )
        return next(filter(is_set_by, chain(inits, modules)), "")

    def _setter_for_tests(self, path: str, is_set_by: _SetBy) -> str:
        if not _TEST.fullmatch(os.path.basename(path)):  # noqa: PTH119
            return ""
        folders = self._tree.folders_above(path)
        confs = (os.path.join(each, "conftest.py") for each in folders)  # noqa: PTH118
        return next(filter(is_set_by, confs), "")

    def _imported(self, path: str, texts: Iterable[str], is_set_by: _SetBy) -> Iterator[str]:
        """Yield the modules of the project that are imported, above ``tf.keras`` if that counts."""
        for text in texts:
            tree = parsed(text) if self._may_import_one(path, text, is_set_by) else None
            if tree is None:
                continue
            is_late = is_set_by == self._is_set_late_by
            above = _at_top(tree) if is_late else _before_keras(tree, inside=False)
            for each in imports_in(above):
                yield from self._files_of(path, each)

    def _may_import_one(self, path: str, text: str, is_set_by: _SetBy) -> bool:
        """Say whether a file imports, wherever it does, a module that sets the variable.

        Hardly any does: its bytes are asked before it is parsed once more.
        """
        may_hold = partial(self._tree.may_hold, path)
        return any(
            bool(self._setter_above(found, is_set_by))
            for level, module, names in imports_of_bytes(text.encode(errors="replace"), may_hold)
            for name in (None, *names)
            for found in self._files_of(path, Imported(module, level, name))
        )

    def _files_of(self, path: str, imported: Imported) -> Iterator[str]:
        of_tree = imported.level or self._tree.may_hold(path, imported.module.partition(".")[0])
        dotted = [imported.module]
        if imported.name not in (None, "*"):
            dotted.append(f"{imported.module}.{imported.name}".lstrip("."))
        for each in dotted if of_tree else ():
            found = self._tree.find(path, each, imported.level)
            if found is not None:
                yield found

    def _summarize(self, path: str) -> _Sets:
        data = self._trace.read(path) or b""
        tree = parsed(data) if _BYTES in data or _SETS_LATE.encode() in data else None
        if tree is None:
            return _Sets(early=False, late=False)
        early = any(map(_switches_on, _before_keras(tree, inside=False)))
        return _Sets(early, late=_sets_late(tree))


def _at_top(tree: ast.Module) -> Iterator[ast.stmt]:
    return statements_in(tree.body, outside_of=_SCOPES)


def _sets_late(tree: ast.Module | None) -> bool:
    """Say whether a module imports what sets the variable when TensorFlow is there already."""
    return tree is not None and any(
        each.level == 0 and each.module.partition(".")[0] == _SETS_LATE
        for each in imports_in(_at_top(tree))
    )


def _before_keras(tree: ast.Module, *, inside: bool) -> Iterator[ast.stmt]:
    """Yield the statements above the first that decides which Keras ``tf.keras`` is.

    That is an import from ``tensorflow.keras``, or what reads a name of it. Those in functions and
    classes, too, where what is ``inside`` counts.
    """
    known = _names_of_keras(tree)
    decides = (each for each in _at_top(tree) if _loads_keras(each) or _reads_keras(each, known))
    end = next((each.lineno for each in decides), None)
    for each in statements_in(tree.body, outside_of=() if inside else _SCOPES):
        if end is not None and each.lineno >= end:
            return
        yield each


def _loads_keras(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=aliases):
            names = [alias.name for alias in aliases]
        case ast.ImportFrom(module=str() as module, level=0):
            names = [module]
        case _:
            return False
    return any(f"{name}.".startswith(f"{_KERAS}.") for name in names)


def _names_of_keras(tree: ast.Module) -> frozenset[tuple[str, ...]]:
    """Return what a module calls ``tf.keras``, which is nothing before a name of it is read."""
    found: set[tuple[str, ...]] = set()
    for each in _at_top(tree):
        match each:
            case ast.Import(names=aliases):
                own = [alias.asname or alias.name for alias in aliases if alias.name == _TENSORFLOW]
                found |= {(name, "keras") for name in own}
            case ast.ImportFrom(module="tensorflow", names=aliases, level=0):
                found |= {(a.asname or a.name,) for a in aliases if a.name == "keras"}
    return frozenset(found)


def _reads_keras(statement: ast.stmt, known: frozenset[tuple[str, ...]]) -> bool:
    """Say whether a statement, without those inside it, reads a name of what is known."""
    if not known:
        return False
    inside = {id(each) for each in statements_in([statement])} - {id(statement)}
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if id(node) in inside or isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Attribute) and chain_of(node)[:-1] in known:
            return True
        waiting += children_of(node)
    return False


def _takes_keras(statement: ast.stmt) -> bool:
    """Say whether it is `from tensorflow import keras`."""
    match statement:
        case ast.ImportFrom(module="tensorflow", names=aliases, level=0):
            return any(alias.name == "keras" for alias in aliases)
    return False


def _imports_a_tf_model(statement: ast.stmt) -> bool:
    match statement:
        case ast.ImportFrom(module=str() as module, names=aliases, level=0):
            is_there = module.partition(".")[0] == _TRANSFORMERS
            return is_there and any(_TF_MODEL.match(alias.name) for alias in aliases)
    return False


_Pair: TypeAlias = tuple[ast.expr | None, ast.expr]  # a name and a value


def _switches_on(statement: ast.stmt) -> bool:
    """Say whether a statement sets the variable to what TensorFlow takes for a yes."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=name)], value=value):
            pairs: list[_Pair] = [(name, value)]
        case ast.AugAssign(target=owner, op=ast.BitOr(), value=value):
            pairs = _pairs(value)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=owner, attr="setdefault"), args=[name, value])
        ):
            pairs = [(name, value)]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="update")) as call):
            pairs = [pair for each in call.args for pair in _pairs(each)] + _keywords(call)
        case _:
            return False
    return chain_of(owner)[-1:] == ("environ",) and any(map(_is_yes, pairs))


def _pairs(node: ast.expr) -> list[_Pair]:
    match node:
        case ast.Dict(keys=keys, values=values):
            return [*zip(keys, values, strict=True)]
        case ast.Call(func=ast.Name(id="dict")):
            return _keywords(node)
    return []


def _keywords(call: ast.Call) -> list[_Pair]:
    return [(ast.Constant(each.arg), each.value) for each in call.keywords]


def _is_yes(pair: _Pair) -> bool:
    match pair:
        case ast.Constant(value=str() as name), ast.Constant(value=str() as value):
            return name == LEGACY_SWITCH and value in SWITCHES_ON
    return False
