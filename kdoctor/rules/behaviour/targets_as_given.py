"""`y_true * y_pred` in a custom metric: targets are no longer reshaped to a column, nor cast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_keras_3, speller_at
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.points_to_by_call import MadeObject, points_to_by_call_of
from kdoctor.analysis.dataflow.statements import insert_at_body_start
from kdoctor.analysis.dataflow.uses import is_keyword_or_member, names_of_variable
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.analysis.tensors.constructors import ArrayData, ArrayForm, NumberKind
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.behaviour._elementwise_operands import ElementwiseUse, first_meetings
from kdoctor.rules.behaviour._output_size import Output, output_of
from kdoctor.rules.behaviour._training_targets import BY_GENERATORS, TRAINED, targets_given
from kdoctor.rules.behaviour._user_metrics import MEASURED_BY_OWN, Measure, measures
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_COLUMN = (
    "the targets have shape (n,), which Keras 2 reshaped to a column: with predictions of shape "
    "(n, {units}) the result is {result}"
)
_UNCAST = {
    NumberKind.INT: "the targets are integers, which Keras 2 cast: TypeError: Input 'y' of 'Mul' "
    "Op has type float32 that does not match type int64",
    NumberKind.BOOL: "the targets are booleans, which Keras 2 cast: TypeError: Value passed to "
    "parameter 'x' has DataType bool not in list of allowed values",
}
_AND = (
    "the targets are booleans, which Keras 2 cast: in TensorFlow `*` is then a logical and, and "
    "the product is lost"
)


class _Case(Struct):
    """What one metric is called with, by all that is known."""

    measure: Measure
    outputs: list[Output | None] = []
    flat: cst.BaseExpression | None = None  # targets with one axis
    uncast: cst.BaseExpression | None = None  # targets that are no floats
    numbers: NumberKind | None = None  # what those are
    has_unknown: bool = False  # whether some may be no floats
    is_measured_only: bool | None = None  # asked once, when a fix needs it


@rule(
    "KD457",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(MEASURED_BY_OWN, attribute(*TRAINED, *BY_GENERATORS)),
)
def check(file: File) -> Iterator[Finding]:
    """Report the first place in each such function."""
    module = file.module
    measured = _measured(module)
    meetings = {
        each: [*first_meetings(module, points_to_of(module), each.pair)]
        for each in chain.from_iterable(measured.values())
    }
    if not any(meetings.values()):
        return  # of what sort objects are costs more to know
    inside = {at.pair.function for found in meetings.values() for at in found}
    inside |= {each.pair.function for each in meetings}
    told: set[cst.CSTNode] = set()
    for case in _cases(module, file.facts, measured):
        for meeting in meetings[case.measure]:
            if meeting.pair.function in told or module.is_guarded(meeting.node):
                continue
            finding = _finding(file, case, meeting, inside)
            if finding is not None:
                told.add(meeting.pair.function)
                yield finding


def _measured(module: Module) -> dict[cst.Call, list[Measure]]:
    """Return what each ``compile`` is given to measure by."""
    return {
        call: [*measures(module, points_to_of(module), call)]
        for call in module.nodes(cst.Call)
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "compile"
    }


# -- what each metric gets


def _cases(
    module: Module, facts: TargetFacts, measured: Mapping[cst.Call, list[Measure]]
) -> list[_Case]:
    uses = [
        each
        for each in module.members
        if each.owner.kind is Kind.MODEL and each.called is not None and not each.owner_defines
    ]
    compiled = [each for each in uses if each.called is not None and measured.get(each.called)]
    trained = [each for each in uses if each.member in {*TRAINED, *BY_GENERATORS}]
    by_call, arrays = points_to_by_call_of(module), ranks_of(module)
    targets: dict[MadeObject, list[tuple[cst.BaseExpression, ArrayData]]] = {}
    cases: dict[tuple[cst.Name, bool], _Case] = {}
    for use in trained if compiled else ():
        assert use.called is not None
        given = [*targets_given(module, arrays, use.member, use.called)]
        for run in by_call.runs(use.node) if given else ():
            model = by_call.made(use.node.value, run)
            if model is not None:
                targets.setdefault(model, []).extend(given)
    for use in compiled:
        assert use.called is not None
        for run in by_call.runs(use.node):
            model = by_call.made(use.node.value, run)
            is_ours = model is not None and is_keras_3(facts, module.qualified(model.call.func))
            output = output_of(module, by_call, model) if model is not None and is_ours else None
            for each in measured[use.called]:
                case = cases.setdefault((each.name, each.is_loss), _Case(each))
                case.outputs.append(output)
                for node, data in targets.get(model, ()) if model is not None and is_ours else ():
                    _note(case, node, data, output)
    return [*cases.values()]


def _note(case: _Case, node: cst.BaseExpression, data: ArrayData, output: Output | None) -> None:
    if data.form is ArrayForm.ARRAY and data.axes == 1 and output is not None:
        # As a loss, a function gets a column where the predictions are one.
        is_column = case.measure.is_loss and output.units in {1, None}
        case.flat = case.flat or (None if is_column else node)
    if data.numbers in _UNCAST and case.measure.is_function and case.uncast is None:
        case.uncast, case.numbers = node, data.numbers
    case.has_unknown = case.has_unknown or data.numbers is None


# -- the finding


def _finding(
    file: File, case: _Case, meeting: ElementwiseUse, inside: set[cst.FunctionDef]
) -> Finding | None:
    is_uncast = case.uncast is not None and meeting.mixes
    if not is_uncast and (case.flat is None or not meeting.by_element):
        return None
    units = {each.units if each is not None else None for each in case.outputs}
    given = case.uncast if is_uncast else case.flat
    assert given is not None
    message, severity = _told(case, meeting, is_uncast=is_uncast)
    return file.finding(
        message,
        at=meeting.node,
        symbol=case.measure.name.value,
        severity=severity,
        help=f"Reshape and cast `{meeting.pair.targets.name.value}` like "
        f"`{meeting.pair.predictions.name.value}` first (the targets are passed in line "
        f"{file.module.place(given).line}).",
        fix=_fix(file, case, meeting, inside, is_like=units == {1}),
    )


def _told(case: _Case, meeting: ElementwiseUse, *, is_uncast: bool) -> tuple[str, Severity]:
    """Return what to say, and whether it raises."""
    if not is_uncast:
        units = next((each.units for each in case.outputs if each is not None), None)
        result = "(n, n)" if units == 1 else "of another shape, or an error"
        return _COLUMN.format(units=units or "k", result=result), Severity.CHANGE
    assert case.numbers is not None
    operator = meeting.node.operator if isinstance(meeting.node, cst.BinaryOperation) else None
    if case.numbers is NumberKind.BOOL and isinstance(operator, cst.Multiply):
        return _AND, Severity.CHANGE
    return _UNCAST[case.numbers], Severity.ERROR


def _fix(
    file: File,
    case: _Case,
    meeting: ElementwiseUse,
    inside: set[cst.FunctionDef],
    *,
    is_like: bool,
) -> Fix | NoFix:
    """Return the fix, or why there is none. ``is_like``: the predictions have one column always."""
    module, function = file.module, meeting.pair.function
    targets, predictions = meeting.pair.targets.name.value, meeting.pair.predictions.name.value
    speller = speller_at(module, function.body)
    needs = []
    written = targets
    if case.flat is not None:
        shape, shapes = speller.spell("keras.ops.shape") if is_like else ("", None)
        reshape, reshapes = speller.spell("keras.ops.reshape")
        needs += [shapes, reshapes]
        written = f"{reshape}({written}, {f'{shape}({predictions})' if is_like else '(-1, 1)'})"
    if case.measure.is_function and (case.uncast is not None or case.has_unknown):
        cast, casts = speller.spell("keras.ops.cast")
        needs.append(casts)
        written = f"{cast}({written}, {predictions}.dtype)"
    edit = insert_at_body_start(module, function, f"{targets} = {written}")
    if edit is None:
        return NoFix("the body is on the same line as `def`")
    if case.is_measured_only is None:
        case.is_measured_only = _is_measured_only(module, case, inside)
    is_sure = (is_like or case.flat is None) and case.is_measured_only
    return file.fix(
        f"Reshape and cast `{targets}` like `{predictions}`",
        edit,
        imports=dict.fromkeys(needs),
        unsafe_because=""
        if is_sure
        else "the function may be called with targets of another shape",
    )


def _is_measured_only(module: Module, case: _Case, inside: set[cst.FunctionDef]) -> bool:
    """Say whether a metric is named where models are compiled, and in other metrics, alone.

    What another file imports may be called with anything there.
    """
    names = [case.measure.name]
    if case.measure.is_function or case.measure.is_loss:
        names += [each.name for each in inside]
    if any(module.name_may_be_imported_elsewhere(each.value) for each in names):
        return False
    return all(
        isinstance(module.parent(each), cst.FunctionDef | cst.ClassDef)
        or is_keyword_or_member(module, each)
        or any(
            around in inside or (isinstance(around, cst.Call) and _is_for_keras(around))
            for around in module.ancestors(each)
        )
        for name in names
        for each in names_of_variable(module, name)
    )


def _is_for_keras(call: cst.Call) -> bool:
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return isinstance(name, cst.Name) and name.value in {"compile", "load_model"}
