"""`Add` and other merging layers drop the mask if one of their inputs has none."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_hidden, is_keras_3, speller_at, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.tensors.masks import MASKED, is_mask_always_dropped, is_masked
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

MERGING = frozenset({"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"})
"""The layers whose mask was that of the inputs that have one."""


HELPER = """\
@{register}()
class {name}KeepingMask({layer}):
    \"\"\"Masked as `{name}` of Keras 2: by the masks that there are.\"\"\"

    def compute_mask(self, inputs, mask=None):
        masks = [each for each in mask or [] if each is not None]
        return {every}({stack}(masks), axis=0) if masks else None"""


def _merging_leaf(facts: TargetFacts, name: str) -> str | None:
    """Return the last part of the name of a merging layer or function, None of any other name."""
    split = split_root(name)
    if split is None or not is_keras_3(facts, name):
        return None
    parent, _, leaf = split[1].rpartition(".")
    is_one = leaf in MERGING or (leaf.islower() and leaf.title() in MERGING)
    return leaf if parent == "layers" and is_one else None


def _is_merging(facts: TargetFacts, name: str) -> bool:
    return _merging_leaf(facts, name) is not None


@rule(
    "KD425",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(
        references(*MERGING, *map(str.lower, MERGING), where=_is_merging, guarded=True), MASKED
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each layer that gets both sorts."""
    module = file.module
    found = [
        (name, call)
        for name, call in _merges(module, file.facts)
        if call.args and _gets_both(module, call)
        if not (is_mask_always_dropped(module, call) or module.is_guarded(call))
    ]
    for name, call in found:
        first = next(each for known, each in found if known == name)
        yield file.finding(
            f"`{name}` drops the mask if one input has none: Keras 2 kept it, on Keras 3 padding "
            "is treated as data",
            symbol=f"keras.layers.{name}.compute_mask",
            at=call.func,
            help="Subclass the layer, and return the existing mask, `mask[0]`, from "
            "`compute_mask(self, inputs, mask=None)`; or give the other input the same mask.",
            fix=_fix(file, name, call, first),
        )


def _gets_both(module: Module, call: cst.Call) -> bool:
    inputs = value_of(module, call.args[0].value)
    if not isinstance(inputs, cst.List | cst.Tuple):
        return False
    return {True, False} <= {is_masked(module, each.value) for each in inputs.elements}


def _fix(file: File, name: str, call: cst.Call, first: cst.Call) -> Fix | NoFix:
    """Return the fix that makes a subclass of the layer, which keeps the mask."""
    module, layer = file.module, value_of(file.module, call.func)
    before, own = top_statement(module, first), f"{name}KeepingMask"
    speller = speller_at(module, before)
    written = {
        "register": speller.spell("keras.saving.register_keras_serializable"),
        "layer": speller.spell(f"keras.layers.{name}"),
        "every": speller.spell("keras.ops.all"),
        "stack": speller.spell("keras.ops.stack"),
    }
    spelled = {part: text for part, (text, _) in written.items()}
    helper = helper_edits(module, before, own, HELPER.format(name=name, **spelled))
    if helper is None or is_hidden(call):
        return NoFix("the layer is not created here")
    if isinstance(layer, cst.Call):
        edits = [Edit(module.span(layer.func), (own,))]
    else:  # the function: what is not the inputs goes to the layer
        rest = [part for each in call.args[1:] for part in (", ", Hole(module.span(each)))][1:]
        inputs = Hole(module.span(call.args[0]))
        edits = [Edit(module.span(call), (f"{own}(", *rest, ")(", inputs, ")"))]
    return file.fix(
        f"Use a subclass of `{name}` that keeps the mask",
        *edits,
        *helper,
        imports=dict.fromkeys(need for _, need in written.values()),
        unsafe_because="the layers after it get a mask again, and the layer has another class "
        "when the model is saved",
    )


def _merges(module: Module, facts: TargetFacts) -> Iterator[tuple[str, cst.Call]]:
    """Yield the calls that apply a merging layer, as a layer or as a function, with its name."""
    layers, functions = _merging(module, facts)
    if not layers and not functions:
        return
    for call in module.nodes(cst.Call):
        layer = value_of(module, call.func)
        name = layers.get(layer) if isinstance(layer, cst.Call) else functions.get(call)
        if name is not None:
            yield name, call


def _merging(module: Module, facts: TargetFacts) -> tuple[dict[cst.Call, str], dict[cst.Call, str]]:
    """Return the calls that make a merging layer, and the calls of the functions, by their name."""
    layers: dict[cst.Call, str] = {}
    functions: dict[cst.Call, str] = {}
    for reference in module.references:
        leaf = _merging_leaf(facts, reference.name)
        if reference.call is None or leaf is None:
            continue
        if leaf.islower():
            functions[reference.call] = leaf.title()
        else:
            layers[reference.call] = leaf
    return layers, functions
