"""Weights can only be saved to a path that ends in `.weights.h5`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import NOT_WRITTEN_OUT, Ending, renamed
from kdoctor.rules.saving._possible_endings import but_for, hands_path, in_one_piece, passes_path
from kdoctor.rules.saving._save_and_load_calls import (
    PathUse,
    handed,
    is_saved_here,
    loads,
    loads_of_weights,
    method_uses,
    reads_orbax,
    saves,
)
from kdoctor.syntax import Module

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
_LATEST = ways_also_by_1("tensorflow.train.latest_checkpoint")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each call whose path surely has a wrong ending."""
    for use in method_uses(module, "save_weights", "load_weights"):
        if module.is_guarded(use.call) or _in_shards(use.call):
            continue
        if use.what == "save_weights":
            yield from _saved(module, use, use.call)
            for each in handed(module, use) if use.ending is None else ():
                yield from _saved(module, each, each.path or each.call)
        else:
            yield from _loaded(module, use)


def _in_shards(call: cst.Call) -> bool:
    """Say whether what Keras 2 does not know is asked for: several files and a `.weights.json`."""
    given = argument(call, "max_shard_size")
    return given is not None and literal(given.value) is not None


def _saved(module: Module, use: PathUse, place: cst.BaseExpression) -> Iterator[Finding]:
    extension = None if use.ending is None else use.ending.extension
    if use.ending is None or extension is None or use.ending.text.endswith(_NEW):
        return
    if use.path is None:
        return
    shown = use.ending.shown
    fix = rename_to_weights(module, use.ending, use.path)
    yield rule.finding(
        module.place(place),
        "weights can only be saved to a path that ends in `.weights.h5`: ValueError: The "
        f"filename must end in `.weights.h5`. Received: filepath={shown}",
        symbol=use.symbol,
        confidence=use.confidence,
        help=f"{help_for(fix, use.ending)}.",
        fix=fix,
    )


def help_for(fix: Fix | NoFix, found: Ending) -> str:
    """Return what to do with a path of weights that has a wrong ending."""
    text = "Use a path that ends in `.weights.h5`, here and where it is loaded"
    if fix != BY_NAME:
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
    edits = [edit for each in by_end for edit in each]
    return Fix(
        "Change the path's ending to `.weights.h5` throughout this file",
        tuple(dict.fromkeys(edits)),
        Applicability.UNSAFE,
        unsafe_because=_UNSAFE + (_NOT_AS_BEFORE if is_checkpoint else ""),
    )


def _is_by_name(call: cst.Call) -> bool:
    """Say whether weights may be loaded by the names of layers, as old files only can be."""
    given = argument(call, "by_name", 1)
    return given is not None and literal(given.value) not in (False, None)


def _loaded(module: Module, use: PathUse) -> Iterator[Finding]:
    extension = None if use.ending is None else use.ending.extension
    is_checkpoint = extension in ("", ".ckpt", ".tf") or _is_latest_checkpoint(module, use)
    if not is_checkpoint or reads_orbax(module):
        return
    fix: Fix | NoFix = _CONVERT
    if use.ending is not None and use.path is not None and is_saved_here(module, use.ending):
        fix = rename_to_weights(module, use.ending, use.path)
    shown = use.ending.text if use.ending is not None and use.ending.whole else "…"
    yield rule.finding(
        module.place(use.call),
        "Keras 3 no longer reads TensorFlow checkpoints: ValueError: File format not supported: "
        f"filepath={shown}",
        symbol=use.symbol,
        confidence=use.confidence,
        help="Load it once with Keras 2 (`pip install tf_keras`), call "
        '`save_weights("name.weights.h5")` there, and load that file.',
        fix=fix,
    )


def _is_latest_checkpoint(module: Module, use: PathUse) -> bool:
    path = None if use.path is None else value_of(module, use.path)
    return isinstance(path, cst.Call) and module.qualified(path.func) in _LATEST


rule = Rule(
    code="KD601",
    name="weights-filename",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=passes_path("save_weights", 0, in_one_piece(_NEW))
    | hands_path("save_weights", 0, in_one_piece(_NEW))
    | passes_path("load_weights", 0, but_for(".h5", ".hdf5", ".keras"))
    | word("load_weights") & word("latest_checkpoint"),
    since="3.0",
)
