"""``get_config`` writes ``{"class_name": …, "config": …}`` of an inner layer: no module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, speller_at
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import attribute, string
from kdoctor.analysis.roots import USES_KERAS_3, uses_keras_3
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._config_dicts import CLASS, CONFIG, MODULE, class_named, parts_of_dict
from kdoctor.syntax import Module

_WRITES: Final = "get_config"
_UNLIKE: Final = "what is written has two keys more, `module` and `registered_name`"


@rule(
    "KD622",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(attribute(_WRITES), string(CLASS), USES_KERAS_3),
    only_alone=True,
)
def check(file: File) -> Iterator[Finding]:
    """Report each such dict, where the file makes layers of what it reads."""
    module = file.module
    if not uses_keras_3(module, file.facts) or MODULE in module.words or not _reads_layers(file):
        return
    for written in module.nodes(cst.Dict):
        layer = _layer_of(module, written)
        if layer is None or not _is_in_get_config(module, written) or module.is_guarded(written):
            continue
        yield file.finding(
            "the dict does not name the module of the class, so no layer is made of it again: "
            "TypeError: Could not locate class '…'.",
            at=written,
            symbol="keras.layers.deserialize",
            confidence=Confidence.LIKELY,
            help="Write `keras.layers.serialize(layer)`, whose dict has the module.",
            fix=_fix(file, written, layer),
        )


def _reads_layers(file: File) -> bool:
    """Say whether the file calls ``keras.layers.deserialize``."""
    return any(
        each.call is not None
        and is_keras_3(file.facts, each.name)
        and (split := split_root(each.name)) is not None
        and split[1] == "layers.deserialize"
        for each in file.module.references
    )


def _layer_of(module: Module, written: cst.Dict) -> cst.BaseExpression | None:
    """Return the layer that a dict tells the class and the config of, and nothing else."""
    parts = parts_of_dict(written)
    if parts.keys() != {CLASS, CONFIG}:
        return None
    named, config = class_named(parts[CLASS]), parts[CONFIG]
    match named, config:
        case (
            cst.Attribute(value=layer) | cst.Call(args=[cst.Arg(value=layer)]),
            cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="get_config")), args=[]),
        ) if module.source(layer) == module.source(owner):
            return layer
    return None


def _is_in_get_config(module: Module, node: cst.CSTNode) -> bool:
    inside = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    around = next(inside, None)
    return around is not None and around.name.value == _WRITES


def _fix(file: File, written: cst.Dict, layer: cst.BaseExpression) -> Fix | NoFix:
    module, span = file.module, file.module.span(written)
    if "#" in module.text[span.start : span.end]:
        return NoFix("there is a comment inside the dict")
    spelled, need = speller_at(module, written).spell("keras.layers.serialize")
    return file.fix(
        "Use `keras.layers.serialize`, which names the module",
        Edit(span, (f"{spelled}(", Hole(module.outer_span(layer)), ")")),
        imports=() if need is None else (need,),
        unsafe_because=_UNLIKE,
    )
