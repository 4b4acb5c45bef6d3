"""`Add` and other merging layers drop the mask if one of their inputs has none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_hidden, is_keras_3, speller_at, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.masks import MASKED, is_mask_always_dropped, is_masked, masks_of
from kdoctor.analysis.triggers import Trigger, names, word
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.symbol_table import passed_values

MERGING = frozenset({"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"})
"""The layers whose mask was that of the inputs that have one."""


HELPER = """\
@{register}()
class {name}KeepingMask({layer}):
    \"\"\"Masked as `{name}` of Keras 2: by the masks that there are.\"\"\"

    def compute_mask(self, inputs, mask=None):
        masks = [each for each in mask or [] if each is not None]
        return {every}({stack}(masks), axis=0) if masks else None"""


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each layer that gets both sorts."""
    found = [
        (name, call)
        for name, call in _merges(module, facts)
        if call.args and _gets_both(module, call)
        if not (is_mask_always_dropped(module, call) or module.is_guarded(call))
    ]
    for name, call in found:
        first = next(each for known, each in found if known == name)
        fix = _fix(module, name, call, first)
        yield rule.finding(
            module.place(call.func),
            f"`{name}` drops the mask if one input has none: Keras 2 kept it, on Keras 3 padding "
            "is treated as data",
            symbol=f"keras.layers.{name}.compute_mask",
            confidence=Confidence.LIKELY,
            help="Subclass the layer, and return the existing mask, `mask[0]`, from "
            "`compute_mask(self, inputs, mask=None)`; or give the other input the same mask.",
            fix=fix or NoFix("the layer is not created here"),
        )


def _gets_both(module: Module, call: cst.Call) -> bool:
    inputs = value_of(module, call.args[0].value)
    if not isinstance(inputs, cst.List | cst.Tuple):
        return False
    return {True, False} <= {is_masked(module, each.value) for each in inputs.elements}


def _may_get_both(quick: QuickFacts, _: TargetFacts) -> bool:
    several = (
        inputs.elts
        for called in quick.calls
        for given in passed_values(called.node)
        for inputs in quick.values_of(given)
        if isinstance(inputs, ast.List | ast.Tuple) and len(inputs.elts) > 1
    )
    return any(
        {True, False} <= set().union(*(masks_of(quick, each) for each in inputs))
        for inputs in several
    )


def _fix(module: Module, name: str, call: cst.Call, first: cst.Call) -> Fix | None:
    """Return the fix that makes a subclass of the layer, which keeps the mask."""
    layer = value_of(module, call.func)
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
        return None
    if isinstance(layer, cst.Call):
        edits = [Edit(module.span(layer.func), (own,))]
    else:  # the function: what is not the inputs goes to the layer
        rest = [part for each in call.args[1:] for part in (", ", Hole(module.span(each)))][1:]
        inputs = Hole(module.span(call.args[0]))
        edits = [Edit(module.span(call), (f"{own}(", *rest, ")(", inputs, ")"))]
    return Fix(
        f"Use a subclass of `{name}` that keeps the mask",
        (*edits, *helper),
        Applicability.UNSAFE,
        tuple(dict.fromkeys(need for _, need in written.values() if need is not None)),
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


def _merging_leaf(facts: TargetFacts, name: str) -> str | None:
    """Return the last part of the name of a merging layer or function, None of any other name."""
    split = split_root(name)
    if split is None or not is_keras_3(facts, name):
        return None
    parent, _, leaf = split[1].rpartition(".")
    is_one = leaf in MERGING or (leaf.islower() and leaf.title() in MERGING)
    return leaf if parent == "layers" and is_one else None


rule = Rule(
    code="KD425",
    name="merge-drops-the-mask",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(*MERGING, *map(str.lower, MERGING))
    & MASKED
    & names(lambda facts, dotted: _merging_leaf(facts, dotted) is not None)
    & Trigger(_may_get_both),
    since="3.0",
)
