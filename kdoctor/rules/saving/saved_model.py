"""`model.save("folder")`, `load_model("folder")`: Keras 3 no longer supports SavedModel here."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import word
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import NOT_WRITTEN_OUT, Ending, renamed
from kdoctor.rules.saving._possible_endings import but_for, hands_path, passes_path, uses
from kdoctor.rules.saving._save_and_load_calls import (
    PathUse,
    handed,
    is_same_path,
    is_saved_here,
    loads,
    reads_orbax,
    saves,
)
from kdoctor.rules.saving._savedmodel_paths import reads_of_saved_models
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind

_REMOTE = ("hf://", "gs://")
_FILES = (".keras", ".h5", ".hdf5")
_NO_FILE = but_for(*_FILES)
# Endings that people give a model's path, and that mean nothing to Keras: others may be no more
# than the rest of a name, as in `model-1.5`.
_OTHER = (".ckpt", ".hdf", ".mdl", ".model", ".pb", ".savedmodel", ".tf")
_INVALID = (
    "ValueError: Invalid filepath extension for saving. Please add either a `.keras` extension for "
    "the native Keras format (recommended) or a `.h5` extension."
)
_SERVED = NoFix(
    "this file reads a SavedModel there: export the model, and save it for Keras under another name"
)
_USED_OTHERWISE = NoFix(
    "the contents of the folder must be saved again, or used through `TFSMLayer`, which is "
    "not a model"
)
_FOLDER = NoFix("kdoctor cannot choose the name of the file in that folder")
_UNSAFE = "whatever reads the folder under its old name must be changed too; for a SavedModel to "


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each save and load of a folder."""
    for use in saves(module):
        is_new = use.ending is None and _is_new_folder(module, use.path)
        if argument(use.call, "save_format"):
            continue  # KD603 reports that
        if module.is_guarded(use.call) or argument(use.call, "zipped"):
            continue
        if is_new or _is_folder(module, use.ending):
            yield _saved(module, use, use.call, is_new=is_new)
        for each in handed(module, use) if use.ending is None else ():
            if _is_folder(module, each.ending):
                yield _saved(module, each, each.path or each.call)
    if reads_orbax(module):
        return
    for use in loads(module):
        if _is_folder(module, use.ending) and not module.is_guarded(use.call):
            yield _loaded(module, use)


def _saved(
    module: Module, use: PathUse, place: cst.BaseExpression, *, is_new: bool = False
) -> Finding:
    fix = None if use.ending is None else _saved_anew(module, use, use.ending)
    return rule.finding(
        module.place(place),
        f"the path does not end in `.keras` or `.h5`: {_INVALID}",
        symbol=use.symbol,
        confidence=use.confidence,
        help="Use a path that ends in `.keras`; for a SavedModel to serve or convert, write "
        "`.export(…)`.",
        fix=fix or (_FOLDER if is_new else _SERVED),
    )


def _is_folder(module: Module, found: Ending | None) -> bool:
    if found is None or found.text.startswith(_REMOTE):
        return False
    if not found.whole and any(each in module.text for each in _REMOTE):
        return False  # what is in front may begin so
    return found.extension is not None and found.extension not in _FILES


def _is_new_folder(module: Module, path: cst.BaseExpression | None) -> bool:
    """Say whether it is a folder that `tempfile` has just made, whose name has no ending."""
    if not isinstance(path, cst.Name):
        return path is not None and _makes_a_folder(module, path, "tempfile.mkdtemp")
    bound = module.bindings_at(path)
    if len(bound) != 1 or bound[0].path or bound[0].value is None:
        return False
    if bound[0].kind is BindingKind.WITH:
        return _makes_a_folder(module, bound[0].value, "tempfile.TemporaryDirectory")
    return bound[0].kind is BindingKind.ASSIGN and _makes_a_folder(
        module, bound[0].value, "tempfile.mkdtemp"
    )


def _makes_a_folder(module: Module, made: cst.BaseExpression, name: str) -> bool:
    return (
        isinstance(made, cst.Call)
        and module.qualified(made.func) == name
        # The name may end in a suffix that is passed.
        and all(each.keyword is not None and each.keyword.value == "prefix" for each in made.args)
    )


def _rename(module: Module, found: Ending) -> Fix | NoFix:
    """Return the fix, or why there is none."""
    old = found.extension if found.extension in _OTHER else ""
    if found.text.endswith(("/", "\\")):
        old = found.text[-1]
    edits = renamed(module, found, old, ".keras")
    if not edits:
        return NOT_WRITTEN_OUT
    if why := taken(module, found, old, ".keras"):
        return why
    return Fix(
        "Change the path's ending to `.keras` throughout this file",
        edits,
        Applicability.UNSAFE,
        unsafe_because=f"{_UNSAFE}serve or convert, write `.export(…)` instead",
    )


def _saved_anew(module: Module, use: PathUse, found: Ending) -> Fix | NoFix | None:
    """Return the fix of a save by what this file reads it with; none where that is both."""
    served = _served(module, use)
    if not served:
        return _rename(module, found)
    if any(is_same_path(module, use, each) for each in loads(module)):
        return None
    # It calls the model itself, and an exported one has signatures alone.
    return None if any(each.what == "hub" for each in served) else _exported(module, use)


def _served(module: Module, use: PathUse) -> list[PathUse]:
    """Return where this file reads a SavedModel at the same path."""
    return [
        each
        for each in reads_of_saved_models(module)
        if is_same_path(module, use, each) or _is_written_the_same(module, use, each)
    ]


def _is_written_the_same(module: Module, use: PathUse, other: PathUse) -> bool:
    """Say whether both paths are put together in the same words: `f"{folder}/model"`."""
    if use.path is None or other.path is None or isinstance(use.path, cst.Name):
        return False
    return module.source(use.path) == module.source(other.path)


def _exported(module: Module, use: PathUse) -> Fix | None:
    """Export the model, which is what reads the folder in this file."""
    method = use.call.func
    if not isinstance(method, cst.Attribute) or len(use.call.args) != 1:
        return None
    return Fix(
        "Export it as a SavedModel, which this file reads",
        (Edit(module.span(method.attr), ("export",)),),
        Applicability.UNSAFE,
        unsafe_because="an exported model can be served and converted, but not loaded with Keras",
    )


def _loaded(module: Module, use: PathUse) -> Finding:
    assert use.ending is not None
    fix: Fix | NoFix = _USED_OTHERWISE
    if is_saved_here(module, use.ending) and not _served(module, use):
        fix = _rename(module, use.ending)
    shown = use.ending.text if use.ending.whole else "…"
    return rule.finding(
        module.place(use.call),
        "Keras 3 no longer loads SavedModels: ValueError: File format not supported: "
        f"filepath={shown}. Keras 3 only supports V3 `.keras` files, legacy H5 format files",
        symbol=use.symbol,
        confidence=use.confidence,
        help="For inference, use `keras.layers.TFSMLayer(path, "
        "call_endpoint='serving_default')`; to train it further, load it once with Keras 2 (`pip "
        "install tf_keras`) and save it again.",
        fix=fix,
    )


_SAVES = uses(lambda quick, facts, called: True, "save", "save_model")  # noqa: ARG005

rule = Rule(
    code="KD604",
    name="saved-model",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=passes_path("save", 0, _NO_FILE)
    | passes_path("save_model", 1, _NO_FILE)
    | hands_path("save", 0, _NO_FILE)
    | hands_path("save_model", 1, _NO_FILE)
    | passes_path("load_model", 0, _NO_FILE)
    | word("mkdtemp", "TemporaryDirectory") & _SAVES,
    since="3.0",
)
