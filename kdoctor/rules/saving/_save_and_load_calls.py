"""Where models and weights are saved and loaded: the calls, and the paths that they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, binding_of, passed, value_of
from kdoctor.analysis.dataflow.possible_values import values_passed_to
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Match, Query
from kdoctor.analysis.queries.conditions import suffix
from kdoctor.analysis.queries.path_endings import ending_in, passes_path, uses
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence
from kdoctor.rules.saving._path_endings import H5, Ending, ending
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_SAVE_FUNCTIONS = ("models.save_model", "saving.save_model")
_LOAD_FUNCTIONS = ("models.load_model", "saving.load_model")
_PATH = ("filepath", "path")
LOADS_H5: Final = suffix(*H5) & passes_path("load_model", 0, ending_in(*H5))
"""A whole model may be loaded from a file in HDF5."""


class PathUse(Struct, frozen=True):
    """A call that reads or writes a file; ``what`` is ``save``, ``load`` or the method."""

    what: str
    call: cst.Call
    symbol: str
    path: cst.BaseExpression | None
    ending: Ending | None
    confidence: Confidence


class FileUse(Match):
    """A call that reads or writes a file, for the rule that looks for it."""

    node: cst.Call

    def __init__(self, module: Module, facts: TargetFacts, use: PathUse) -> None:
        super().__init__(
            module, facts, use.call, symbol=use.symbol, confidence=use.confidence
        )  # fmt: skip
        self.use = use
        self.call = use.call
        self.ending = use.ending


def file_uses(*whats: str) -> Query[FileUse]:
    """Return the query for calls that read or write files: see ``PathUse.what``."""

    def find(module: Module, facts: TargetFacts) -> Iterator[FileUse]:
        for what in whats:
            known = _WHOLE.get(what)
            for use in method_uses(module, what) if known is None else known(module):
                if not module.is_guarded(use.call):
                    yield FileUse(module, facts, use)

    called = {each for what in whats for each in _NAMES.get(what, (what,))}
    return Query(find, uses(lambda _quick, _facts, _called: True, *called))


def method_uses(module: Module, *methods: str) -> Iterator[PathUse]:
    """Yield the calls of these methods of models."""
    for use in module.members_named(*methods):
        if use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        if use.owner_defines:
            continue
        symbol = f"{use.owner.cls or 'Model'}.{use.member}"
        yield _use(module, use.member, use.called, symbol, 0, use.confidence)


def loads_of_weights(module: Module, path: cst.BaseExpression) -> Iterator[PathUse]:
    """Yield the calls of ``load_weights``, of whatever object, with a path that is written alike.

    Be it with ``./`` in front, or as a variable that has it, or given to a function that loads it.
    """
    wanted, end = value_of(module, path), ending(module, path)
    for call in module.nodes(cst.Call):
        match call.func:
            case cst.Attribute(attr=cst.Name(value="load_weights")):
                use = _use(module, "load_weights", call, "Model", 0, Confidence.LIKELY)
            case _:
                continue
        if end is not None and end.whole and use.ending is None:
            yield from (each for each in handed(module, use) if is_of_file(each, end))
        if use.path is None or use.ending is None or end is None:
            continue
        is_whole = end.whole and use.ending.whole and end.file == use.ending.file
        if is_whole or module.source(value_of(module, use.path)) == module.source(wanted):
            yield use


def handed(module: Module, use: PathUse) -> Iterator[PathUse]:
    """Yield a use again for each path that functions of the file are given to hand on to it."""
    for path in values_passed_to(module, use.path):
        end = ending(module, path)
        yield PathUse(use.what, use.call, use.symbol, path, end, Confidence.LIKELY)


def is_of_file(use: PathUse, end: Ending) -> bool:
    """Say whether a use surely is of the file that a path is of."""
    return use.ending is not None and use.ending.whole and use.ending.file == end.file


def saves(module: Module) -> Iterator[PathUse]:
    """Yield where whole models are saved, by method or by function."""
    yield from method_uses(module, "save")
    yield from _functions(module, "save", _SAVE_FUNCTIONS, 1)


def all_saves(module: Module) -> Iterator[PathUse]:
    """Yield the saves, and any other ``.save(path)``: only a model's file is loaded as one."""
    known = list(saves(module))
    yield from known
    calls = {id(each.call) for each in known}
    for node in module.nodes(cst.Call):
        if id(node) in calls or not node.args:
            continue
        match node.func:
            case cst.Attribute(attr=cst.Name(value="save")) if module.qualified(node.func) is None:
                yield _use(module, "save", node, "Model.save", 0, Confidence.LIKELY)


def loads(module: Module) -> Iterator[PathUse]:
    """Yield where whole models are loaded."""
    yield from _functions(module, "load", _LOAD_FUNCTIONS, 0)


_WHOLE: Final = {"save": saves, "load": loads}
_NAMES: Final = {"save": ("save", "save_model"), "load": ("load_model",)}


def is_h5(use: PathUse) -> bool:
    """Say whether a path surely is that of a whole model in HDF5."""
    return use.ending is not None and use.ending.extension in H5


def compiles(load: PathUse) -> bool:
    """Say whether ``load_model`` surely compiles the model as it was saved."""
    return literal(passed(load.call, "compile", 2), absent=True) is True


def model_of(save: PathUse) -> cst.BaseExpression | None:
    """Return the model that is saved, by its method or by a function."""
    if isinstance(save.call.func, cst.Attribute) and save.call.func.attr.value == "save":
        return save.call.func.value
    return passed(save.call, "model", 0)


def reads_orbax(module: Module) -> bool:
    """Say whether the file writes Orbax checkpoints: folders that Keras 3 loads."""
    return any(each.name.endswith(".OrbaxCheckpoint") for each in module.references)


def is_same_path(module: Module, one: PathUse, other: PathUse) -> bool:
    """Say whether two uses surely are of one file: it is written out, or one variable has it."""
    if one.ending is not None and other.ending is not None and one.ending.whole:
        return other.ending.whole and one.ending.file == other.ending.file
    bound = binding_of(module, one.path)
    return bound is not None and bound is binding_of(module, other.path)


def is_saved_here(module: Module, found: Ending | None) -> bool:
    """Say whether this file saves a model under the same written-out path."""
    if found is None or not found.whole:
        return False
    return any(
        each.ending is not None and each.ending.whole and each.ending.file == found.file
        for each in (*saves(module), *method_uses(module, "save_weights"))
    )


def _functions(
    module: Module, what: str, names: tuple[str, ...], position: int
) -> Iterator[PathUse]:
    for reference in module.references:
        split = split_root(reference.name)
        if reference.call is None or split is None or split[1] not in names:
            continue
        yield _use(module, what, reference.call, reference.name, position, reference.confidence)


def _use(  # noqa: PLR0913, PLR0917 - the parts of a use
    module: Module, what: str, call: cst.Call, symbol: str, position: int, confidence: Confidence
) -> PathUse:
    given = next(
        (each for name in _PATH if (each := argument(call, name, position)) is not None), None
    )
    path = None if given is None else given.value
    return PathUse(what, call, symbol, path, ending(module, path), confidence)


def named_format(module: Module, use: PathUse) -> cst.Arg | None:
    """Return the `save_format=` of a call, unless Keras 3 reads nothing from it.

    `save` passes over None and all else that is false; `save_weights` has no such parameter.
    """
    given = argument(use.call, "save_format")
    if given is None or use.what == "save_weights":
        return given
    return given if literal(value_of(module, given.value)) else None
