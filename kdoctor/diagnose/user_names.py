"""Explain names missing in the user's own file: weights not built yet, missing imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from kdoctor import parse_ast
from kdoctor.diagnose.by_rules import source_of
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import FrameOrigin
from kdoctor.diagnose.snippets import home_of

_ATTRIBUTE: Final = re.compile(r"^'(?P<cls>\w+)' object has no attribute '(?P<name>\w+)'")
_NAME: Final = re.compile(r"^name '(?P<name>[A-Z]\w+)' is not defined")


def explain_unbuilt(case: Case) -> Diagnosis | None:
    """Return why an attribute that ``build`` sets is not there: nobody has called the layer yet."""
    matched = _ATTRIBUTE.match(case.error.message)
    frame = case.own
    data = source_of(frame, case.read) if matched and frame is not None else None
    if matched is None or data is None or b"keras" not in data:
        return None
    cls, name = matched["cls"], matched["name"]
    if name not in _set_by_build(data, cls):
        return None
    return Diagnosis(
        Fault.YOUR_CODE,
        f"`{cls}.build` makes `{name}`, and Keras calls `build` when the layer is called for the "
        "first time: this one has not been called yet.",
        case.error,
        place=frame,
        evidence=(f"`self.{name} = …` is in `build` of `class {cls}` in {frame and frame.path}",),
        steps=(
            Step(StepKind.CODE, "layer(x)", "call it once on data or on a keras.Input"),
            Step(StepKind.CODE, "layer.build((None, 3))", "or build it for an input shape"),
        ),
        target=case.target,
    )


def _set_by_build(data: bytes, cls: str) -> set[str]:
    try:
        tree = parse_ast.parse(data)
    except (SyntaxError, ValueError):
        return set()
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bodies = [each for node in classes if node.name == cls for each in node.body]
    methods = [each for each in bodies if isinstance(each, ast.FunctionDef)]
    built = {name for each in methods if each.name == "build" for name in _attributes(each)}
    return built - {
        name for each in methods if each.name == "__init__" for name in _attributes(each)
    }


def _attributes(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def explain_unimported(case: Case) -> Diagnosis | None:
    """Return where a class is that the user's line uses and the file does not import."""
    matched = _NAME.match(case.error.message)
    frame = case.raised_in
    if matched is None or frame is None or frame.origin is not FrameOrigin.USER:
        return None
    name = matched["name"]
    module = home_of(name, case.target)
    data = source_of(frame, case.read)
    if module is None or data is None or b"keras" not in data:
        return None
    return Diagnosis(
        Fault.YOUR_CODE,
        f"The file uses `{name}` and never imports it. Keras has a `keras{module}.{name}`.",
        case.error,
        place=frame,
        evidence=(f"{case.target} has keras{module}.{name}: {case.target.source}",),
        steps=(Step(StepKind.CODE, f"from keras{module} import {name}", "if it is that one"),),
        target=case.target,
    )
