"""``model.build(shape)`` of one's own class of models makes no weights any more.

## What it does
Reports `model.build(…)` of a subclass of `Model` that has no `build` of its own and makes layers in
`__init__`, where the weights are asked for next: `summary`, `get_weights`, `set_weights`,
`trainable_variables` and the like.

## Why it breaks
In Keras 2 `build` of a model ran `call` on a tensor of that shape, and so built all layers inside.
In Keras 3 it only notes that the model is built, with a warning. The layers get their weights with
the first batch. Till then `summary` shows `0 (unbuilt)`, `count_params` is 0, `get_weights` and
`trainable_variables` are empty: a loop over them, which copies or counts weights, does nothing.
`set_weights` is `ValueError: You called `set_weights(weights)` on layer … with a weight list of
length 2, but the layer was expecting 0 weights`.

## What to write instead
`model(keras.Input(batch_shape=shape))`: a model that is called builds what it calls. Or a `build`
of the class' own that builds each layer.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21; keras-team/keras#19535 and #19229. The code of `build` is the
same in Keras 3.0.0, 3.1.1 and 3.4.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.behaviour._build_examples import INVALID as EXAMPLES
from kdoctor.rules.behaviour._build_examples import VALID as FINE
from kdoctor.rules.calls import is_only_spelled_so, speller_at
from kdoctor.rules.facts import Facts
from kdoctor.rules.origins import origins_of
from kdoctor.rules.own_classes import class_named
from kdoctor.rules.own_models import lineage, methods_of
from kdoctor.rules.reads import reads_of
from kdoctor.rules.rule import Rule
from kdoctor.rules.triggers import Trigger, attribute
from kdoctor.rules.unbuilt import (
    ASKED_FOR_WEIGHTS,
    OF_NO_MATTER,
    is_made_of_tensors,
    unbuilt_layers,
)
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Glimpse

_BUILD: Final = "build"
_REFUSED = "You called `set_weights(weights)` on layer"


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each such ``build``."""
    for made in module.nodes(cst.Assign):
        if not isinstance(made.value, cst.Call) or len(made.targets) != 1:
            continue
        node = class_named(module, made.value.func)
        if node is None or is_made_of_tensors(made.value):
            continue
        found = _build_and_next(module, made.targets[0].target)
        if found is None or module.is_guarded(found[0]):
            continue
        late = unbuilt_layers(module, facts, node)
        if late:
            yield _finding(module, facts, node, late, found)


def _build_and_next(module: Module, model: cst.BaseExpression) -> tuple[cst.Call, str] | None:
    """Return the ``build`` of a new model, and what asks for its weights before it is run."""
    around = origins_of(module).function_around(model)
    built = None
    reads = (each for each in reads_of(module, model) if not is_only_spelled_so(module, each))
    for read in sorted(reads, key=lambda each: module.span(each).start):
        used = module.parent(read)
        if not isinstance(used, cst.Attribute) or used.value is not read:
            return None  # it is called, passed on, or kept elsewhere
        if len(module.bindings_at(read)) != 1:
            return None
        if origins_of(module).function_around(read) is not around:
            return None  # a function that may have run before
        name, called = used.attr.value, module.parent(used)
        if name == _BUILD and built is None and isinstance(called, cst.Call):
            built = called if called.func is used else None
        elif built is not None and name in ASKED_FOR_WEIGHTS:
            return built, name
        elif name not in OF_NO_MATTER:
            return None
    return None


def _finding(
    module: Module, facts: Facts, node: cst.ClassDef, late: list[str], found: tuple[cst.Call, str]
) -> Finding:
    build, asked = found
    shown = ", ".join(f"`{each}`" for each in late[:3]) + (" and more" if late[3:] else "")
    fails = asked == "set_weights"
    fix = _fix(module, facts, build, methods_of(lineage(module, facts, node))["call"])
    return rule.finding(
        module.place(build),
        f"`build` does not build {shown} of `{node.name.value}` on Keras 3: the model has no "
        + (f"weights yet: ValueError: {_REFUSED}" if fails else f"weights when `{asked}` is asked"),
        symbol=f"{node.name.value}.build",
        confidence=Confidence.LIKELY,
        severity=Severity.ERROR if fails else None,
        help="Call the model on `keras.Input(batch_shape=…)`, or build each layer in a `build` of "
        "the class' own.",
        fix=fix,
        no_fix_because=None if fix else "what the model is to be called with is for you to say",
    )


def _fix(module: Module, facts: Facts, build: cst.Call, call: cst.FunctionDef) -> Fix | None:
    """Return the fix that calls the model, where it has one input of a shape that is written."""
    match build:
        case cst.Call(func=cst.Attribute(value=model), args=[cst.Arg(star="") as given]) if (
            isinstance(module.parent(build), cst.Expr)
        ):
            pass
        case _:
            return None
    if not _takes_one(call) or not _is_one_shape(given.value):
        return None
    spelled, need = speller_at(module, build).spell("keras.Input")
    parts = (
        Hole(module.outer_span(model)),
        f"({spelled}(batch_shape=",
        Hole(module.outer_span(given.value)),
        "))",
    )
    return Fix(
        "Call the model on an `Input` of that shape",
        (Edit(module.span(build), parts),),
        facts.applicability(*(each for each in INVALID if each.after)),
        imports=(need,) if need else (),
    )


def _takes_one(call: cst.FunctionDef) -> bool:
    """Say whether ``call`` needs nothing but one input."""
    parameters = call.params
    needed = [each for each in parameters.params if each.default is None]
    return (
        not (
            call.decorators
            or parameters.posonly_params
            or isinstance(parameters.star_arg, cst.Param)
            or any(each.default is None for each in parameters.kwonly_params)
        )
        and len(needed) == 2
    )


def _is_one_shape(node: cst.BaseExpression) -> bool:
    """Say whether it is a tuple or a list of sizes, maybe put together, not one of shapes."""
    match node:
        case cst.Tuple(elements=[_, *_] as elements) | cst.List(elements=[_, *_] as elements):
            return all(_may_be_a_size(each) for each in elements)
        case cst.BinaryOperation(left=left, operator=cst.Add()):
            return isinstance(left, cst.Tuple | cst.BinaryOperation) and _is_one_shape(left)
    return False


def _may_be_a_size(node: cst.BaseElement) -> bool:
    if isinstance(node, cst.StarredElement):
        return True
    return not isinstance(node.value, cst.Tuple | cst.List | cst.Dict | cst.Call)


def _may_build_one(glimpse: Glimpse, _: Facts) -> bool:
    names = {
        each.node.func.value.id
        for each in glimpse.calls_of(_BUILD)
        if isinstance(each.node.func, ast.Attribute)
        if isinstance(each.node.func.value, ast.Name)
    }
    classes = {each.name for each in glimpse.nodes.get(ast.ClassDef, ())} if names else set()
    return any(
        isinstance(each.value, ast.Call)
        and isinstance(each.value.func, ast.Name)
        and each.value.func.id in classes
        and any(isinstance(to, ast.Name) and to.id in names for to in each.targets)
        for each in glimpse.nodes.get(ast.Assign, ())
    )


rule = Rule(
    code="KD468",
    name="build-makes-no-weights",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute(_BUILD) & attribute(*ASKED_FOR_WEIGHTS) & Trigger(_may_build_one),
    since="3.0",
)

VALID = FINE
INVALID = EXAMPLES
