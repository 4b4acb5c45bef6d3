"""`load_weights(by_name=…)` only works for legacy HDF5 files."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden
from kdoctor.analysis.queries import calls
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.model import Edit, Finding, NoFix, Severity, Span
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._save_and_load_calls import FileUse, file_uses
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_NEW_FILES = (".weights.h5", ".keras")
_ERROR = "ValueError: `by_name` only supports loading legacy '.h5' or '.hdf5' files. Received: "


@rule(
    "KD606",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("load_weights").beside(
        keyword("by_name") | calls("load_weights", on=Kind.MODEL).passing("", place=1).trigger
    ),
)
def check(found: FileUse) -> Iterator[Finding]:
    """Report each ``by_name`` that is refused or taken for something else."""
    if is_hidden(found.call):
        return
    given, ending = argument(found.call, "by_name"), found.ending
    is_new = ending is not None and ending.text.endswith(_NEW_FILES)
    if given is not None and ending is not None and is_new and literal(given.value) is not None:
        yield _refused(found, given, ending.shown)
    by_position = [each for each in found.call.args if each.keyword is None]
    if len(by_position) > 1:
        yield _shifted(found, by_position)


def _refused(found: FileUse, given: cst.Arg, shown: str) -> Finding:
    needless = literal(given.value) is False
    edits = remove_arguments(found.module, found.call, [given]) if needless else None
    return found.finding(
        f"{_ERROR}{shown}",
        at=given,
        symbol=f"{found.symbol}(by_name)",
        help="Leave it out."
        if needless
        else "Load the weights into the model they were saved from, and copy them layer by "
        "layer: `new.get_layer(name).set_weights(old.get_layer(name).get_weights())`.",
        fix=found.fix("Leave out `by_name=`", *edits)
        if edits
        else NoFix(
            "there is a comment next to it"
            if needless
            else "only the names in the file tell which layers are loaded"
        ),
    )


def _shifted(found: FileUse, by_position: list[cst.Arg]) -> Finding:
    names = ("by_name", "skip_mismatch")
    starts = [found.module.outer_span(each.value).start for each in by_position[1:]]
    return found.finding(
        "the second parameter of `load_weights` was `by_name` and is `skip_mismatch` now",
        at=by_position[1],
        symbol=f"{found.symbol}(by_name)",
        severity=Severity.CHANGE,
        help="Write `by_name=`.",
        fix=found.fix(
            "Write `by_name=`",
            *(
                Edit(Span(start, start), (f"{name}=",))
                for name, start in zip(names, starts, strict=False)
            ),
            unsafe_because="code written for Keras 2.13 or later means `skip_mismatch`",
        ),
    )
