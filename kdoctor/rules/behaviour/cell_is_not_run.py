"""`RNN(cell)`: layers inside a custom cell are not built until the first batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor import keras_api
from kdoctor.analysis.calls import argument, instances, is_keras_3, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.unbuilt_weights import makes_weights
from kdoctor.analysis.models.user_classes import class_named, methods_in, only_base
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.analysis.triggers import classes, method_of, word
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Context, Kind


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such class once."""
    told: set[cst.ClassDef] = set()
    for _, call, made in instances(module, Kind.LAYER, facts):
        given = argument(call, "cell", 0) if made.cls == "RNN" else None
        if given is None or module.is_guarded(call) or not _is_in_a_model(module, call):
            continue
        for cls in _cells(module, given.value):
            if cls not in told and _is_left_unbuilt(module, facts, cls):
                told.add(cls)
                yield _finding(module, cls)


def _cells(module: Module, node: cst.BaseExpression) -> Iterator[cst.ClassDef]:
    """Yield the classes of the file that cells are of: one, or several in a list."""
    value = value_of(module, node)
    if isinstance(value, cst.List | cst.Tuple):
        for each in value.elements:
            yield from _cells(module, each.value)
    cls = class_named(module, value.func) if isinstance(value, cst.Call) else None
    if cls is not None:
        yield cls


def _is_in_a_model(module: Module, call: cst.Call) -> bool:
    """Say whether the layer is called with a symbolic tensor, or is one of a ``Sequential``."""
    above = module.parent(call)
    if isinstance(above, cst.Call) and above.func is call:
        is_run = module.context_of(above) in {Context.CALL, Context.TRAIN_LOOP}
        return not is_run and bool(above.args) and is_symbolic(module, above.args[0].value)
    if isinstance(above, cst.Arg):
        outer = module.parent(above)
        return isinstance(outer, cst.Call) and _adds(module, outer)
    listed = module.parent(above) if isinstance(above, cst.Element) else None
    given = module.parent(listed) if isinstance(listed, cst.List) else None
    outer = module.parent(given) if isinstance(given, cst.Arg) else None
    if not isinstance(outer, cst.Call):
        return False
    name = module.qualified(outer.func)
    made = module.oracle.class_type(name) if name else None
    # Without its inputs it is built by the first batch in any case.
    return made is not None and made.cls == "Sequential" and _begins_with_inputs(module, listed)


def _adds(module: Module, outer: cst.Call) -> bool:
    """Say whether it is ``model.add(…)`` of a model that is known."""
    if not isinstance(outer.func, cst.Attribute) or outer.func.attr.value != "add":
        return False
    found = module.type_of(outer.func.value)
    return found is not None and found.kind is Kind.MODEL and found.cls == "Sequential"


def _begins_with_inputs(module: Module, listed: cst.CSTNode | None) -> bool:
    first = listed.elements[0].value if isinstance(listed, cst.List) else None
    if not isinstance(first, cst.Call):
        return False
    name = (module.qualified(first.func) or "").rpartition(".")[2]
    shaped = ("input_shape", "input_dim", "batch_input_shape")
    return name in {"Input", "InputLayer"} or any(argument(first, each) for each in shaped)


def _is_left_unbuilt(module: Module, facts: TargetFacts, cls: cst.ClassDef) -> bool:
    base = only_base(module, cls)
    name = module.qualified(base) if base is not None else None
    made = module.oracle.class_type(name) if name else None
    methods = methods_in(cls)
    return (
        made is not None
        and made.cls == "Layer"
        and is_keras_3(facts, name)
        and "build" not in methods
        and "call" in methods
        and makes_weights(module, [cls])
    )


def _finding(module: Module, cls: cst.ClassDef) -> Finding:
    name = cls.name.value
    return rule.finding(
        module.place(cls.name),
        f"the layers in `{name}` have no weights until the first batch, as `RNN` does not run its "
        "cell before that: `load_weights`, `load_model` and `set_weights` fail",
        symbol=f"{name}.build",
        confidence=Confidence.LIKELY,
        help="Add a `build` that builds each of them with the shape that it receives.",
        fix=NoFix("kdoctor cannot tell which shape each of them is called with"),
    )


def _may_be_a_cell(facts: TargetFacts, node: ast.ClassDef, bases: frozenset[str]) -> bool:
    known = keras_api.oracle(facts.target)
    made = [known.class_type(base) for base in bases]
    return any(each is not None and each.cls == "Layer" for each in made) and (
        method_of(node, "__init__") is not None and method_of(node, "build") is None
    )


rule = Rule(
    code="KD466",
    name="cell-is-not-run",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("RNN") & classes(_may_be_a_cell),
    since="3.0",
)
