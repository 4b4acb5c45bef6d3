"""`super().__init__("net")` of a model: Keras 3 takes the name by keyword only."""

from __future__ import annotations

from kdoctor.analysis.calls import arguments
from kdoctor.analysis.queries import Call, Instance, calls
from kdoctor.analysis.queries.forms import Expression, form_of
from kdoctor.model import Edit, Finding, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind


def _is_name(form: object) -> bool:
    """Say whether an argument is plainly a name: tensors may stand there, too."""
    if isinstance(form, Expression):
        return form.kind == "JoinedStr" or (form.kind == "Name" and form.name == "name")
    return isinstance(form, str)


@rule(
    "KD331",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls("__init__", on=Instance(Kind.MODEL, "Functional"))
    .passing("", place=0, where=_is_name)
    .even(hidden=True),
)
def check(call: Call) -> Finding | None:
    """Report each name that is passed by position."""
    given = arguments(call.call)
    by_position = [each for each in given if each.keyword is None and each.star != "**"]
    if len(by_position) != 1 or call.passes("name"):
        return None
    [first] = by_position
    if first.star or not _is_name(form_of(first.value)):
        return None
    start = call.module.outer_span(first.value).start
    return call.finding(
        "the name of a model is keyword-only: TypeError: Layer.__init__() takes 1 positional "
        "argument but 2 were given",
        at=first,
        symbol="keras.Model(name)",
        help="Pass it by keyword: `name=…`.",
        fix=call.fix(
            "Pass it as `name=`",
            Edit(Span(start, start), ("name=",)),
            unsafe_because="Keras 2.4 to 2.15 ignored it, and called the model by its class",
        ),
    )
