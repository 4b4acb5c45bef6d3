"""Weights can only be saved to a path that ends in `.weights.h5`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.path_endings import but_for, hands_path, in_one_piece, passes_path
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import H5, NOT_WRITTEN_OUT, Ending, renamed
from kdoctor.rules.saving._save_and_load_calls import (
    FileUse,
    PathUse,
    file_uses,
    handed,
    is_saved_here,
    loads,
    loads_of_weights,
    reads_orbax,
    saves,
)
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

_NEW = ".weights.h5"
_OLD_WEIGHTS = (".h5", ".hdf5", ".keras", ".ckpt", ".tf", ".hdf", ".weights")
_NO_CHECKPOINTS = (".h5", ".hdf5", ".keras", ".hdf")
_UNSAFE = "existing files, other programs and people may use the old name"
_NOT_AS_BEFORE = (
    "; unlike a checkpoint, it needs an existing folder, and a model that has its weights when "
    "it is loaded"
)
_CONVERT = NoFix("the weights must be converted with Keras 2, which can still read them")
BY_NAME = NoFix("it is loaded with `by_name=`, which does not work with `.weights.h5`")
SAVED_WHOLE = (
    "the file holds the configuration of the model, too, which all of its layers must give"
)
_LATEST = ways_also_by_1("tensorflow.train.latest_checkpoint")


@rule(
    "KD601",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("save_weights", "load_weights").beside(
        passes_path("save_weights", 0, in_one_piece(_NEW))
        | hands_path("save_weights", 0, in_one_piece(_NEW))
        | passes_path("load_weights", 0, but_for(".h5", ".hdf5", ".keras"))
        | word("load_weights") & word("latest_checkpoint")
    ),
)
def check(found: FileUse) -> Iterator[Finding]:
    """Report each call whose path surely has a wrong ending."""
    if _in_shards(found.call):
        return
    if found.use.what == "load_weights":
        yield from _loaded(found)
        return
    yield from _saved(found, found.use, found.call)
    for each in handed(found.module, found.use) if found.ending is None else ():
        yield from _saved(found, each, each.path or each.call)


def _save_whole(found: FileUse) -> Fix | NoFix:
    """Return the fix that saves the model with its weights, of which they can be loaded by name."""
    assert isinstance(found.call.func, cst.Attribute)
    known = {None, "overwrite", "filepath"}
    if (
        len(found.call.args) > 2
        or not {each.keyword and each.keyword.value for each in found.call.args} <= known
    ):
        return BY_NAME
    return found.fix(
        "Save the whole model: weights can be loaded by name from its file",
        Edit(found.module.span(found.call.func.attr), ("save",)),
        unsafe_because=SAVED_WHOLE,
    )


def _in_shards(call: cst.Call) -> bool:
    """Say whether what Keras 2 does not know is asked for: several files and a `.weights.json`."""
    given = argument(call, "max_shard_size")
    return given is not None and literal(given.value) is not None


def _saved(found: FileUse, use: PathUse, place: cst.BaseExpression) -> Iterator[Finding]:
    extension = None if use.ending is None else use.ending.extension
    if use.ending is None or extension is None or use.ending.text.endswith(_NEW):
        return
    if use.path is None:
        return
    fix = rename_to_weights(found.module, use.ending, use.path)
    if fix == BY_NAME and extension in H5 and place is found.call:
        fix = _save_whole(found)
    yield found.finding(
        "weights can only be saved to a path that ends in `.weights.h5`: ValueError: The "
        f"filename must end in `.weights.h5`. Received: filepath={use.ending.shown}",
        at=place,
        confidence=use.confidence,
        help=f"{help_for(fix, use.ending)}.",
        fix=fix,
    )


def help_for(fix: Fix | NoFix, found: Ending) -> str:
    """Return what to do with a path of weights that has a wrong ending."""
    text = "Use a path that ends in `.weights.h5`, here and where it is loaded"
    if fix != BY_NAME and not (isinstance(fix, Fix) and fix.unsafe_because == SAVED_WHOLE):
        return text
    path = f'"{found.text}"' if found.whole else "path"
    return (
        f"{text}, without `by_name=`; or save the whole model with `save({path})` to a path that "
        "ends in `.h5`: its weights can be loaded by name"
    )


def rename_to_weights(module: Module, found: Ending, path: cst.BaseExpression) -> Fix | NoFix:
    """Return the fix that lets a path end in ``.weights.h5``, or why there is none."""
    loaded = list(loads_of_weights(module, path))
    if any(_is_by_name(each.call) for each in loaded):
        return BY_NAME
    old = found.extension or ""
    is_checkpoint = old not in _NO_CHECKPOINTS
    if old not in _OLD_WEIGHTS:
        old = ""
    # `model_weights.h5`, `model.weights.hdf5`
    if old and found.text.endswith(f".weights{old}"):
        old = f".weights{old}"
    if why := taken(module, found, old, _NEW):
        return why
    # A whole model that goes by the same path keeps its name.
    models = [use.path for use in (*saves(module), *loads(module)) if use.path is not None]
    ends = [each.ending for each in loaded if each.ending is not None]
    by_end = [renamed(module, end, old, _NEW, but=models) for end in (found, *ends)]
    if not all(by_end):
        return NOT_WRITTEN_OUT
    edits: list[Edit] = [*dict.fromkeys(edit for each in by_end for edit in each)]
    return check.fix(
        "Change the path's ending to `.weights.h5` throughout this file",
        *edits,
        unsafe_because=_UNSAFE + (_NOT_AS_BEFORE if is_checkpoint else ""),
    )


def _is_by_name(call: cst.Call) -> bool:
    """Say whether weights may be loaded by the names of layers, as old files only can be."""
    given = argument(call, "by_name", 1)
    return given is not None and literal(given.value) not in (False, None)


def _loaded(found: FileUse) -> Iterator[Finding]:
    module, use = found.module, found.use
    extension = None if use.ending is None else use.ending.extension
    is_checkpoint = extension in ("", ".ckpt", ".tf") or _is_latest_checkpoint(module, use)
    if not is_checkpoint or reads_orbax(module):
        return
    fix: Fix | NoFix = _CONVERT
    if use.ending is not None and use.path is not None and is_saved_here(module, use.ending):
        fix = rename_to_weights(module, use.ending, use.path)
    shown = use.ending.text if use.ending is not None and use.ending.whole else "…"
    yield found.finding(
        "Keras 3 no longer reads TensorFlow checkpoints: ValueError: File format not supported: "
        f"filepath={shown}",
        help="Load it once with Keras 2 (`pip install tf_keras`), call "
        '`save_weights("name.weights.h5")` there, and load that file.',
        fix=fix,
    )


def _is_latest_checkpoint(module: Module, use: PathUse) -> bool:
    path = None if use.path is None else value_of(module, use.path)
    return isinstance(path, cst.Call) and module.qualified(path.func) in _LATEST
