"""Which saved models code loads: those whose paths it writes out, and that are at hand."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed
from kdoctor.analysis.dataflow.texts import NUMBER, texts_of
from kdoctor.documents import Document, read_regular
from kdoctor.engine.examine import with_deep_stack
from kdoctor.errors import FileProblem, SyntaxProblem
from kdoctor.keras_api import oracle
from kdoctor.models.at_hand import at_hand
from kdoctor.models.load import Load
from kdoctor.modules.exports import ProjectPackage
from kdoctor.syntax import Module
from kdoctor.target import Target

# Also where the object is not known: what is told is the file, and that one is there.
_LOADERS: Final = frozenset({"load_model", "load_weights", "TFSMLayer"})
_FUNCTIONS: Final = frozenset({"tensorflow.saved_model.load", "tensorflow.train.load_checkpoint"})
_PATH: Final = ("filepath", "path", "export_dir")


def loads_in(path: str, target: Target) -> list[Load]:
    """Return the calls of a file that load saved models which are there, in their order.

    Relative paths count from the working folder, else from the folder of the code: a script is
    run from either. Nothing is told of a path that the code puts together from what it is given.

    Raises:
        FileProblem: the code cannot be read, or is no Python.
    """
    knows = oracle(target)
    package = ProjectPackage(knows.star_names)
    found = list[Load]()
    try:
        data = read_regular(path)
    except OSError as error:
        raise FileProblem(f"cannot be read: {error.strerror or error}") from error
    for unit in Document.parse(data, path).units:
        try:
            module = Module.parse(unit, knows, package)
        except SyntaxProblem as problem:
            raise FileProblem(str(problem)) from problem
        found += with_deep_stack(partial(_of, module, (Path(), Path(path).parent)))
    return found


def _of(module: Module, folders: tuple[Path, ...]) -> list[Load]:
    found = list[Load]()
    for call in module.nodes(cst.Call):
        if not _is_loader(module, call):
            continue
        given = next(filter(None, (passed(call, name, 0) for name in _PATH)), None)
        for text in () if given is None else texts_of(module, given):
            if not text.whole or NUMBER in text.text:
                continue
            path = next(filter(None, (at_hand(each, text.text) for each in folders)), None)
            if path is not None:
                found.append(Load(module.place(call), module.source(call), path))
    return found


def _is_loader(module: Module, call: cst.Call) -> bool:
    match call.func:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            written = name
        case _:
            return False
    known = module.qualified(call.func) or ""
    return written in _LOADERS or known.rpartition(".")[2] in _LOADERS or known in _FUNCTIONS
