"""An unused suppression comment: its rules report nothing there.

## What it does
Reports `# kdoctor: ignore[…]`, `ignore-file`, `off` and `# noqa: KD…` where none of the named rules
reports anything, list entries that silence nothing, and an `on` without an `off`. A comment for
rules that did not run (`--select`, `--ignore`), or that cannot fire on the target, is left alone,
and so is `# noqa` without a KD code: it belongs to other tools.

## Why it breaks
Nothing breaks. Such a comment was right for a line that has changed since, and one day it may hide
something new. A list of suppressions, and their reasons, is useful only while it is true.

## What to write instead
Nothing: the fix removes the comment, or the code from its list. The rest of the line stays, and so
does the reason if other codes stay. `kdoctor fix --select KD901 --apply` does this in all files. To
keep one anyway: `# kdoctor: ignore[KD101, KD901] reason`.

## How we know
A comment is unused if all rules ran on the file and it silenced none of their findings. The
examples are run before and after: a comment does not change what Python does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Unit
from kdoctor.model import Confidence, Finding, Severity, Span
from kdoctor.rules.rule import Example, Rule
from kdoctor.suppression import Directive, Entry, Form, removal_edit
from kdoctor.syntax import Module


def check(_module: Module, _facts: TargetFacts) -> Iterator[Finding]:
    """Report nothing: whether a comment is of use is known when all other rules have spoken."""
    return iter(())


def unused(unit: Unit, directive: Directive, unused_entries: Collection[Entry]) -> Finding:
    """Return the finding on the unused entries of a comment (none: the whole comment)."""
    whole = len(unused_entries) == len(directive.entries) and not directive.others
    first = next(iter(unused_entries), None)
    place = directive.span if whole or first is None else first.span
    names = ", ".join(f"`{entry.text}`" for entry in unused_entries)
    edit = removal_edit(unit, directive, unused_entries)
    title = "Remove the comment" if whole else f"Remove {names} from the list"
    return rule.finding(
        unit.place(Span(place.start, place.end)),
        _message(directive, names),
        symbol=f"kdoctor: {directive.form.value}",
        confidence=Confidence.CERTAIN,
        help="Remove it, or add `KD901` to its list to keep it.",
        fix=rule.fix(title, edit),
    )


def _message(directive: Directive, names: str) -> str:
    what = names or "the comment"
    match directive.form:
        case Form.ON:
            return f"{what} ends nothing: no matching `# kdoctor: off` is open here"
        case Form.OFF:
            return f"{what} silences nothing until the end of its block or its `on`"
        case Form.FILE:
            return f"{what} silences nothing in this file"
        case _:
            return f"{what} silences nothing here"


rule = Rule(
    code="KD901",
    name="unused-ignore",
    family="suppression",
    severity=Severity.LEGACY,
    check=check,
    triggers={"kdoctor"},
)

VALID = [
    "from keras import backend as K\n\nK.get_session()  # kdoctor: ignore[KD101, KD1] old code\n",
    "import os  # noqa\nimport sys  # noqa: F401\n",
    "text = '# kdoctor: ignore'\n",
    "x = 1  # kdoctor: ignore[KD101, KD901] for what comes next\n",
]

INVALID = [
    Example(
        before="import keras\n\nmodel = keras.Sequential()  # kdoctor: ignore[KD201] old\n",
        after="import keras\n\nmodel = keras.Sequential()\n",
    ),
    Example(
        before=(
            "from keras import backend\n\n\n"
            "def session():\n"
            "    return backend.get_session()  # kdoctor: ignore[KD101, KD301] never called\n"
        ),
        after=(
            "from keras import backend\n\n\n"
            "def session():\n"
            "    return backend.get_session()  # kdoctor: ignore[KD101] never called\n"
        ),
    ),
    Example(
        before="# kdoctor: ignore-file[KD4]\nimport os  # noqa: F401, KD101\n",
        after="import os  # noqa: F401\n",
        findings=2,
    ),
    Example(
        before="import keras\n\n# kdoctor: off\nx = keras.ops.ones(3)\n# kdoctor: on\n",
        after="import keras\n\nx = keras.ops.ones(3)\n",
    ),
]
