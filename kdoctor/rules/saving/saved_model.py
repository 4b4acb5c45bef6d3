"""`model.save("folder")`, `load_model("folder")`: Keras 3 no longer supports SavedModel here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.queries.path_endings import but_for, hands_path, passes_path, path_made_by
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._path_endings import Ending
from kdoctor.rules.saving._path_renaming import rename_to_keras
from kdoctor.rules.saving._save_and_load_calls import (
    FileUse,
    PathUse,
    file_uses,
    handed,
    is_same_path,
    is_saved_here,
    loads,
    named_format,
    reads_orbax,
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
_UNSAFE = (
    "whatever reads the folder under its old name must be changed too; for a SavedModel to serve "
    "or convert, write `.export(…)` instead"
)


_NEW_FOLDERS: Final = ("mkdtemp", "TemporaryDirectory")
_SAVES: Final = (
    passes_path("save", 0, _NO_FILE)
    | passes_path("save_model", 1, _NO_FILE)
    | hands_path("save", 0, _NO_FILE)
    | hands_path("save_model", 1, _NO_FILE)
    | path_made_by("save", 0, *_NEW_FOLDERS)
    | path_made_by("save_model", 1, *_NEW_FOLDERS)
)


@rule(
    "KD604",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("save").beside(_SAVES)
    | file_uses("load").beside(passes_path("load_model", 0, _NO_FILE)),
)
def check(found: FileUse) -> Iterator[Finding]:
    """Report each save and load of a folder."""
    module, use = found.module, found.use
    if use.what == "load":
        if _is_folder(module, use.ending) and not reads_orbax(module):
            yield _loaded(found)
        return
    if named_format(module, use) or argument(use.call, "zipped"):
        return  # KD603 reports the format
    is_new = use.ending is None and _is_new_folder(module, use.path)
    if is_new or _is_folder(module, use.ending):
        yield _saved(found, use, use.call, is_new=is_new)
    for each in handed(module, use) if use.ending is None else ():
        if _is_folder(module, each.ending):
            yield _saved(found, each, each.path or each.call)


def _saved(
    found: FileUse, use: PathUse, place: cst.BaseExpression, *, is_new: bool = False
) -> Finding:
    fix = None if use.ending is None else _saved_anew(found.module, use, use.ending)
    return found.finding(
        f"the path does not end in `.keras` or `.h5`: {_INVALID}",
        at=place,
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
    return rename_to_keras(module, found, old, unsafe_because=_UNSAFE)


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
    return check.fix(
        "Export it as a SavedModel, which this file reads",
        Edit(module.span(method.attr), ("export",)),
        unsafe_because="an exported model can be served and converted, but not loaded with Keras",
    )


def _loaded(found: FileUse) -> Finding:
    module, ending = found.module, found.ending
    assert ending is not None
    shown = ending.text if ending.whole else "…"
    is_renamed = is_saved_here(module, ending) and not _served(module, found.use)
    return found.finding(
        "Keras 3 no longer loads SavedModels: ValueError: File format not supported: "
        f"filepath={shown}. Keras 3 only supports V3 `.keras` files, legacy H5 format files",
        help="For inference, use `keras.layers.TFSMLayer(path, "
        "call_endpoint='serving_default')`; to train it further, load it once with Keras 2 (`pip "
        "install tf_keras`) and save it again.",
        fix=_rename(module, ending) if is_renamed else _USED_OTHERWISE,
    )
