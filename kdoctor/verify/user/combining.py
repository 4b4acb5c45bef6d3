"""One verdict from several runs of a definition, with other arguments each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kdoctor.verify.user.results import Verdict, VerdictState

# Errors that do not come from the arguments: another value cannot be what is wrong.
_OF_CODE = re.compile(
    r"^(ImportError|ModuleNotFoundError|NameError): |AttributeError: .*\bmodule '[\w.]+' has no"
)
_MAX_QUOTED_LINES = 4


def combined(main: Verdict, others: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Return the verdict on a definition from its runs, the ``others`` with more arguments each."""
    unseen = main.state is VerdictState.NOT_TRIED and bool(main.unreached)
    if main.state is not VerdictState.EQUAL and not unseen:
        return main
    for told, each in others:
        if each.state is VerdictState.DIFFERENT:
            return replace(each, input=", ".join(filter(None, (each.input, told))))
        if each.state is VerdictState.NOT_ON_KERAS_3 and _OF_CODE.search(each.why):
            return replace(each, why=f"{each.why} ({told})")
    equal = [each for _, each in others if each.state is VerdictState.EQUAL]
    if unseen and not equal:
        return main
    left = tuple(line for line in main.unreached if all(line in each.unreached for each in equal))
    base = equal[0] if unseen else main
    notes = [each for each in base.notes if each not in unreached_note(base.unreached)]
    notes += [
        f"not compared {told}: on Keras 3 it raises {each.why}"
        for told, each in others
        if each.state is VerdictState.NOT_ON_KERAS_3
    ]
    return replace(base, unreached=left, notes=(*notes, *unreached_note(left)))


def unreached_note(lines: Sequence[str]) -> list[str]:
    """Return the note on changed lines that did not run, if there are any."""
    if not lines:
        return []
    quoted = ", ".join(lines[:_MAX_QUOTED_LINES])
    more = ", …" if len(lines) > _MAX_QUOTED_LINES else ""
    return [f"not compared, because it did not run: {quoted}{more} of the fixed code"]
