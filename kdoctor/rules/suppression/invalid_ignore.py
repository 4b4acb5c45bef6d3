"""A malformed kdoctor suppression comment.

## What it does
Reports `# kdoctor: …` with an unknown rule, with an unknown word, with a list that is empty or not
closed, with a code outside brackets, and `ignore-file`, `off` or `on` that are not alone on their
line. Such a comment silences nothing.

## Why it breaks
The findings that it should silence are reported. A misspelled comment that silenced everything
would be worse: `# kdoctor: ignore KD101` is not taken for `# kdoctor: ignore`.

## What to write instead
`# kdoctor: ignore[KD101] reason`, with codes, code prefixes (`KD1`) or names (`missing-name`) in
the brackets, separated by commas; `kdoctor rules` lists them. `# kdoctor: ignore` silences all
rules on its line.

## How we know
Codes and names are checked against the rules of this kdoctor version. The examples are run: a
comment does not change what Python does.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Unit
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.suppression import Directive, Entry
from kdoctor.syntax import Module

_ONLY_YOU_KNOW = "only you know which rule is meant"


def check(_module: Module, _facts: TargetFacts) -> Iterator[Finding]:
    """Report nothing: comments are found without a parse, and asked about once a file."""
    return iter(())


def not_understood(unit: Unit, directive: Directive) -> Finding:
    """Return the finding on a comment that has ``Directive.problem``."""
    return _finding(unit, directive, directive.problem, directive.help)


def unknown_rule(unit: Unit, directive: Directive, entry: Entry, problem: str) -> Finding:
    """Return the finding on an entry that names no rule; ``problem`` may know what was meant."""
    what, _, advice = problem.partition("; ")
    place = Directive(directive.form, entry.span, directive.comment)
    return _finding(unit, place, what, f"{advice[:1].upper()}{advice[1:]}")


def _finding(unit: Unit, directive: Directive, what: str, advice: str) -> Finding:
    return rule.finding(
        unit.place(directive.span),
        f"this comment silences nothing: {what}",
        symbol="kdoctor: ignore",
        confidence=Confidence.CERTAIN,
        help=advice,
        fix=NoFix(_ONLY_YOU_KNOW),
    )


rule = Rule(
    code="KD902",
    name="invalid-ignore",
    family="suppression",
    severity=Severity.LEGACY,
    check=check,
    triggers={"kdoctor"},
)

VALID = [
    "import keras  # kdoctor: ignore[KD101, missing-name, kd2] reason\n",
    "import keras  # kdoctor: a doctor for Keras code\n",
    "import os  # noqa: KDE1\n",
    "x = '# kdoctor: ignore[KD999]'\n",
]

INVALID = [
    Example(before="import keras  # kdoctor: ignore[KD1O1]\n"),
    Example(before="import keras  # kdoctor: ignore[mising-name, KD99]\n", findings=2),
    Example(before="import keras  # kdoctor: ignore KD101\n"),
    Example(before="import keras  # kdoctor: ingore[KD101]\n"),
    Example(before="import keras  # kdoctor: ignore[KD101\n"),
    Example(before="import keras  # kdoctor: ignore[]\n"),
    Example(before="import keras  # kdoctor: ignore-file[KD101]\n"),
]
