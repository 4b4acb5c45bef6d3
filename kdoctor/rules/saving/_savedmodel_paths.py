"""Where a SavedModel is read: a folder that `model.export` writes, and no `.keras` file."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.model import Confidence
from kdoctor.rules.saving._path_endings import ending
from kdoctor.rules.saving._path_expressions import parameter_of
from kdoctor.rules.saving._save_and_load_calls import PathUse
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind

# By the end of the dotted name: the parameter of the folder, and its place.
_READERS = {
    "saved_model.load": ("export_dir", 0),
    "saved_model.load_v2": ("export_dir", 0),
    "saved_model.loader.load": ("export_dir", 2),
    "saved_model.contains_saved_model": ("export_dir", 0),
    "TFLiteConverter.from_saved_model": ("saved_model_dir", 0),
    "TocoConverter.from_saved_model": ("saved_model_dir", 0),
    "layers.TFSMLayer": ("filepath", 0),
    "converters.convert_tf_saved_model": ("saved_model_dir", 0),
    "tensorflow_hub.KerasLayer": ("handle", 0),
    "tensorflow_hub.load": ("handle", 0),
}
# Of any function, as `TrtGraphConverterV2`.
_KEYWORDS = ("input_saved_model_dir", "saved_model_dir", "saved_model_path")


def reads_of_saved_models(module: Module) -> Iterator[PathUse]:
    """Yield each call that reads a SavedModel; ``what`` is ``hub`` where it calls it whole.

    Also a call of a function of the file that reads what it is given.
    """
    parameters: dict[cst.CSTNode, str] = {}
    for call in module.nodes(cst.Call):
        name = module.qualified(call.func) or ""
        given = _folder(call, name)
        if given is None:
            continue
        what = "hub" if name == "tensorflow_hub.KerasLayer" else "served"
        yield _read(module, what, call, given.value)
        for bound in module.bindings_at(given.value) if isinstance(given.value, cst.Name) else ():
            if bound.kind is BindingKind.PARAMETER:
                parameters[bound.node] = what
    for call in module.nodes(cst.Call) if parameters else ():
        for each in call.args:
            parameter = parameter_of(module, call, each)
            if parameter is not None and parameter in parameters:
                yield _read(module, parameters[parameter], call, each.value)


def _folder(call: cst.Call, name: str) -> cst.Arg | None:
    parameter, place = next(
        (_READERS[each] for each in _READERS if f".{name}".endswith(f".{each}")), ("", None)
    )
    given = argument(call, parameter, place) if parameter else None
    by_keyword = (argument(call, each) for each in _KEYWORDS)
    return given or next((each for each in by_keyword if each is not None), None)


def _read(module: Module, what: str, call: cst.Call, path: cst.BaseExpression) -> PathUse:
    return PathUse(what, call, "", path, ending(module, path), Confidence.LIKELY)
