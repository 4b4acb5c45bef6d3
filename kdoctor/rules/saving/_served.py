"""Where a SavedModel is read: a folder that `model.export` writes, and no `.keras` file."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.model import Confidence
from kdoctor.rules.calls import argument
from kdoctor.rules.saving._paths import ending
from kdoctor.rules.saving._uses import PathUse
from kdoctor.syntax import Module

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
    """Yield each call that reads a SavedModel; ``what`` is ``hub`` where it calls it whole."""
    for call in module.nodes(cst.Call):
        name = module.qualified(call.func) or ""
        parameter, place = next(
            (_READERS[each] for each in _READERS if f".{name}".endswith(f".{each}")), ("", None)
        )
        given = argument(call, parameter, place) if parameter else None
        if given is None:
            given = next((e for each in _KEYWORDS if (e := argument(call, each))), None)
        if given is not None:
            what = "hub" if name == "tensorflow_hub.KerasLayer" else "served"
            yield PathUse(
                what, call, name, given.value, ending(module, given.value), Confidence.LIKELY
            )
