"""`model.build((None, 28, 28))` of a subclassed model no longer creates weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import names_of_variable, names_with_spelling
from kdoctor.analysis.models.unbuilt_weights import OF_NO_MATTER, is_plain_model, makes_weights
from kdoctor.analysis.models.user_classes import class_of, methods_in
from kdoctor.analysis.models.user_models import lineage, methods_of
from kdoctor.analysis.queries import Call, calls, classes
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.members import MemberUse
from kdoctor.value_types import Kind

_CALL: Final = "()"
_PASSED_ON: Final = "(…)"  # as an argument
_RUNS: Final = frozenset({
    *("evaluate", "fit", "predict", "predict_on_batch", "test_on_batch", "train_on_batch", _CALL),
})  # fmt: skip


@rule(
    "KD464",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=calls("build", on=Kind.MODEL)
    .even(hidden=True)
    .beside(classes(of=Kind.MODEL, guarded=True)),
)
def check(build: Call) -> Finding | None:
    """Report each such call."""
    assert build.use is not None
    line = _lineage(build, build.use)
    if not line or not makes_weights(build.module, line) or _is_run_around(build.module, build.use):
        return None
    name = line[0].name.value
    return build.finding(
        f"this creates no weights: `{name}` has none until it is called, so nothing is counted, "
        "loaded or copied before that",
        symbol=f"{name}.build",
        help="Call the model with a symbolic tensor: `model(keras.Input(batch_shape=…))`.",
        fix=_called(build, build.use.node, line),
    )


def _lineage(build: Call, use: MemberUse) -> list[cst.ClassDef]:
    """Return the class of a model and its bases in the file, up to ``keras.Model``.

    None of them where one builds for itself.
    """
    cls = class_of(build.module, use.owner)
    found = [] if cls is None else lineage(build.module, build.facts, cls)
    methods = methods_of(found)
    if "build" in methods or "call" not in methods or not is_plain_model(build.module, found[-1]):
        return []
    return found


def _is_run_around(module: Module, use: MemberUse) -> bool:
    """Say whether what is written like the object was run above, or is run before all else."""
    start = module.span(use.node).start
    function = points_to_of(module).function_around(use.node)
    uses = sorted(_uses_of(module, use.node.value), key=lambda each: each[0])
    if any(place < start and name in _RUNS for place, name, _ in uses):
        return True
    after = (
        name
        for place, name, node in uses
        if place > start and points_to_of(module).function_around(node) is function
    )
    return next((name in _RUNS for name in after if name not in OF_NO_MATTER), False)


def _uses_of(module: Module, owner: cst.BaseExpression) -> Iterator[tuple[int, str, cst.CSTNode]]:
    """Yield where what is written so is called, or a member of it is read, and which.

    Of a name only where it means this variable: each test of a file has a `model` of its own.
    """
    written = module.source(owner)
    if isinstance(owner, cst.Name):
        names = names_of_variable(module, owner)
    else:
        names = names_with_spelling(module, written.rpartition(".")[2])
    for each in names:
        above = module.parent(each)
        node = above if isinstance(above, cst.Attribute) and above.attr is each else each
        around = module.parent(node)
        if module.source(node) != written:
            continue
        if isinstance(around, cst.Attribute) and around.value is node:
            yield module.span(around).start, around.attr.value, around
        elif isinstance(around, cst.Call) and around.func is node:
            yield module.span(around).start, _CALL, around
        elif isinstance(around, cst.Arg):
            yield module.span(node).start, _PASSED_ON, around


def _called(build: Call, written: cst.Attribute, line: list[cst.ClassDef]) -> Fix | NoFix:
    """Return the fix that calls the model with a symbolic tensor of that shape."""
    module, why_not = build.module, NoFix("it is called with more than one tensor")
    shape = build.argument("input_shape", 0)
    is_known = None if shape is None else _is_one_shape(shape.value)
    if shape is None or len(build.node.args) != 1 or is_known is False or not _takes_one(line):
        return why_not
    if not isinstance(module.parent(build.node), cst.Expr):
        return why_not
    owner, value = module.span(written.value), module.outer_span(shape.value)
    if "#" in module.text[owner.end : value.start]:
        return why_not
    spelled, need = speller_at(module, written).spell("keras.Input")
    return build.fix(
        "Call it with a symbolic tensor of that shape",
        Edit(Span(owner.end, value.start), (f"({spelled}(batch_shape=",)),
        Edit(Span(value.end, value.end), (")",)),
        imports=() if need is None else (need,),
        unsafe_because=""
        if is_known
        else "if the model has several inputs, the shapes belong in a list or a dict",
    )


def _takes_one(lineage: list[cst.ClassDef]) -> bool:
    """Say whether ``call`` wants one argument, and no more."""
    call = next(found for each in lineage if (found := methods_in(each).get("call")) is not None)
    wanted = [each for each in call.params.params if each.default is None]
    more = [each for each in call.params.kwonly_params if each.default is None]
    return len(wanted) == 2 and not more and not call.params.posonly_params


def _is_one_shape(node: cst.BaseExpression) -> bool | None:
    """Say whether an expression is one shape, None where that is not known."""
    match node:
        case cst.Tuple() | cst.List():
            inner = (each.value for each in node.elements)
            return not any(isinstance(e, cst.Tuple | cst.List | cst.Dict) for e in inner)
        case cst.BinaryOperation(operator=cst.Add()):
            return True if _is_one_shape(node.left) or _is_one_shape(node.right) else None
        case cst.Dict():
            return False
    return None
