"""Arguments of saving and loading that Keras 3 refuses, or reads as something else."""

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

_ERRORS = {
    "save": "ValueError: The following argument(s) are not supported: ['{0}']",
    "load": "TypeError: load_model() got an unexpected keyword argument '{0}'",
    "save_weights": "TypeError: Model.save_weights() got an unexpected keyword argument '{0}'",
    "load_weights": "ValueError: Invalid keyword arguments: {{'{0}': ",
}
_GONE = {
    "save": ("signatures", "options", "save_traces"),
    "load": ("options",),
    "save_weights": ("options",),
    "load_weights": ("options",),
}
_INCLUDE_OPTIMIZER = 2  # self.save(filepath, overwrite, include_optimizer)


@rule(
    "KD605",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses(*_GONE).beside(
        keyword(*_GONE["save"])
        | calls("save", on=Kind.MODEL).passing("", place=_INCLUDE_OPTIMIZER).trigger
    ),
)
def check(found: FileUse) -> Iterator[Finding]:
    """Report each such argument."""
    for name in _GONE[found.use.what]:
        given = argument(found.call, name)
        if given is not None:
            yield _gone(found, given, name)
    yield from _shifted(found)


def _gone(found: FileUse, given: cst.Arg, name: str) -> Finding:
    edits = remove_arguments(found.module, found.call, [given])
    plain = literal(given.value) in (None, True, False)
    return found.finding(
        f"`{name}=` was removed with the SavedModel format: {_ERRORS[found.use.what].format(name)}",
        at=given,
        symbol=f"{found.symbol}({name})",
        help="Leave it out; write signatures with `keras.export.ExportArchive`."
        if name == "signatures"
        else "Leave it out.",
        fix=NoFix("there is a comment next to it")
        if edits is None
        else found.fix(
            f"Leave out `{name}=`",
            *edits,
            unsafe_because="" if plain else f"`{found.source(given.value)}` then has no effect",
        ),
    )


def _shifted(found: FileUse) -> Iterator[Finding]:
    """Report the positional ``include_optimizer`` of ``model.save``."""
    call = found.call
    if found.use.what != "save" or not isinstance(call.func, cst.Attribute) or is_hidden(call):
        return
    by_position = [each for each in call.args if each.keyword is None]
    if call.func.attr.value != "save" or len(by_position) != _INCLUDE_OPTIMIZER + 1:
        return
    given = by_position[_INCLUDE_OPTIMIZER]
    start = found.module.outer_span(given.value).start
    yield found.finding(
        "the third parameter of `save` was `include_optimizer` and is `zipped` now",
        at=given,
        symbol=f"{found.symbol}(include_optimizer)",
        severity=Severity.CHANGE,
        help="Write `include_optimizer=`.",
        fix=found.fix(
            "Write `include_optimizer=`", Edit(Span(start, start), ("include_optimizer=",))
        ),
    )
