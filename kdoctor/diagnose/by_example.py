"""Explain errors by the recorded messages of the rules' own examples.

A message that one of them raises, on a line that the same rule reports, is that rule's.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from kdoctor.diagnose import remedies
from kdoctor.diagnose.by_rules import Wanted, ask
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import FrameOrigin
from kdoctor.diagnose.snippets import SnippetName
from kdoctor.model import Finding
from kdoctor.rules import Example, Rule, all_rules

_COMPARED: Final = 160  # characters of the first line
_WITH_A_FINDING: Final = 0.6
_ALONE: Final = 0.9
_NEARLY: Final = 0.8
_SPECIFIC: Final = 40  # a message shorter than this may be anyone's
_SHORTEST: Final = 20  # below it, the very same message is not enough, either
# What Python says of its own objects and NumPy's, with no other name in it, anyone's code raises.
_PLAIN: Final = re.compile(
    r"'(?:(?:numpy\.)?(?:float|int|u?int|bool)\d*|NoneType|complex|dict|function|list|method|set|str"
    r"|tuple|type)'"
)
_QUOTED: Final = re.compile(r"'[^']*'")
_VARYING: Final = re.compile(r"<[^<>]*>|\{[^{}]*\}|\d+(?:\.\d+)?|0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class _Known:
    rule: Rule
    example: Example
    type: str
    text: str


@cache
def _known() -> tuple[_Known, ...]:
    return tuple(
        _Known(rule, example, type_, _normal(text))
        for rule in all_rules()
        for example in rule.invalid
        if example.raises
        for type_, _, text in [example.raises.partition(": ")]
    )


def explain_by_example(case: Case) -> Diagnosis | None:
    """Explain an error that an example of a rule raises as well."""
    if case.is_inside_keras and case.blamed is None:
        return None
    answer = ask(case.blamed, Wanted(), case.target, case.read)
    for finding in answer.findings:
        if likeness_to_examples(case, finding) < _WITH_A_FINDING:
            continue
        return Diagnosis(
            fault=Fault.YOUR_CODE,
            meaning=finding.message,
            error=case.error,
            place=case.blamed,
            evidence=(
                f"{finding.code} reports this line, and its examples raise this error",
                f"assuming {case.target}: {case.target.source}",
            ),
            steps=tuple(remedies.of_answer(answer)),
            rule=finding.code,
            target=case.target,
        )
    return None


# Where the name is all that tells one such error from any other.
_MISSES: Final = re.compile(r"(?:has no attribute|unexpected keyword argument) '(?P<name>\w+)'")


def likeness_to_examples(case: Case, finding: Finding) -> float:
    """Return the similarity (0 to 1) of an error to the errors of a rule's examples.

    0 as well where the error is about a name, and the finding about another.
    """
    missed = _MISSES.search(case.error.message)
    if missed and missed["name"] not in f"{finding.symbol} {finding.message}":
        return 0.0
    found = (_likeness(case, known) for known in _known() if known.rule.code == finding.code)
    return max(found, default=0.0)


# What an object of a line may be, where the text does not show it.
_GUESSES: Final = {
    "a model of Keras": "{name} = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])",
    "an optimizer of Keras": "{name} = keras.optimizers.Adam()",
}
_GUESSES_OF_SELF: Final = {
    "a layer of Keras": "{name} = keras.Layer()",
    "a model of Keras": "{name} = keras.Model()",
    "a callback of Keras": "{name} = keras.callbacks.Callback()",
    "a metric of Keras": "{name} = keras.metrics.Metric()",
    "an optimizer of Keras": "{name} = keras.optimizers.Optimizer()",
}
_MEMBER: Final = re.compile(r"(?<![\w.)\]])([A-Za-z_]\w*)\.([A-Za-z_]\w*)")
_MAX_MEMBERS: Final = 4


def explain_by_keras_object(case: Case) -> Diagnosis | None:
    """Return what the rules say about a line if an object in it is a Keras object.

    Only where the rule foretells this very error does it count.
    """
    frame = case.blamed
    raised = case.raised_in
    if frame is None or frame.origin is not FrameOrigin.USER or raised is None:
        return None
    if raised.origin in {FrameOrigin.PACKAGE, FrameOrigin.PYTHON}:
        return None  # an object of another library's, or Python's own, was at work
    for owner, member in dict.fromkeys(_MEMBER.findall(frame.source)[:_MAX_MEMBERS]):
        guesses = _GUESSES_OF_SELF if owner == "self" else _GUESSES
        for what, made in guesses.items():
            wanted = Wanted(binding=SnippetName(member, made))
            answer = ask(frame, wanted, case.target, case.read)
            for finding in answer.findings:
                if not _predicts(finding, case):
                    continue
                return Diagnosis(
                    fault=Fault.YOUR_CODE,
                    meaning=finding.message,
                    error=case.error,
                    place=frame,
                    evidence=(
                        f"{finding.code} says that such a line raises this error",
                        f"assuming {case.target}: {case.target.source}",
                    ),
                    steps=tuple(remedies.of_answer(answer)),
                    rule=finding.code,
                    only_if=f"`{owner}` is {what}",
                    target=case.target,
                )
    return None


def _predicts(finding: Finding, case: Case) -> bool:
    """Say whether a finding, or an example of its rule, names this error."""
    _, _, announced = finding.message.partition(f"{case.error.name}: ")
    first = _normal(case.error.message)
    if announced and first:
        announced = _normal(announced)
        length = min(len(announced), len(first), _COMPARED)  # the rules cut long messages
        if difflib.SequenceMatcher(None, first[:length], announced[:length]).ratio() >= _ALONE:
            return True
    examples = (known for known in _known() if known.rule.code == finding.code)
    return any(_likeness(case, each) >= _NEARLY and _names_it(case, each) for each in examples)


def _names_it(case: Case, known: _Known) -> bool:
    """Say whether an example is about the same attribute, if only that tells errors apart."""
    _, says, attribute = case.error.message.partition("has no attribute ")
    return not says or attribute in (known.example.raises or "")


def explain_by_message(case: Case) -> Diagnosis | None:
    """Return the rule whose example raises the same message, if no line is known."""
    if len(_first_line(case)) < _SHORTEST or not _may_be_keras(case):
        return None
    best = _best(case)
    if best is None or not _is_alike(case, best):
        return None
    package = case.package
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=best.rule.summary,
        error=case.error,
        place=case.blamed,
        evidence=(f"an example of {best.rule.code} raises this message when run",),
        steps=tuple(_shown(best.example)),
        rule=best.rule.code,
        only_if="the line does what this rule is about",
        package=package,
        target=case.target,
    )


_NAMED: Final = ("has no attribute", "unexpected keyword argument", "keyword arguments passed to")
_WORD: Final = re.compile(r"[A-Za-z_]\w{3,}")
_ANYWHERE: Final = frozenset({"self", "keras", "model", "models", "layers", "import", "from"})


def _is_alike(case: Case, best: _Known) -> bool:
    """Say whether the user's line shares a word with the example, if the message is Python's.

    "not enough values to unpack" does not say which object was unpacked.
    """
    speaks = re.search(r"keras|`|'\w+'|\w+=|\w+\.\w+", case.error.message, re.IGNORECASE)
    line = case.blamed.source if case.blamed is not None else ""
    if speaks or not line:
        return True
    words = {*_WORD.findall(line)} - _ANYWHERE
    return bool(words & {*_WORD.findall(best.example.before)})


def _best(case: Case) -> _Known | None:
    """Return the example that raises the message, None if no rule or several rules have one."""
    is_short = len(_first_line(case)) < _SPECIFIC
    alike = [(_likeness(case, known), known) for known in _known()]
    most = max(likeness for likeness, _ in alike)
    # The names are all that tells them apart.
    names_it = any(each in case.error.message for each in _NAMED)
    if most < (1.0 if is_short or names_it else _ALONE):
        return None
    best = [known for likeness, known in alike if likeness == most]
    rules = Counter(known.rule.code for known in best).most_common(2)
    if len(rules) > 1 and rules[0][1] == rules[1][1]:
        return None
    return next(known for known in best if known.rule.code == rules[0][0])


def _may_be_keras(case: Case) -> bool:
    """Say whether the error may be unrelated to Keras: no frame of it, or a message of Python."""
    frames = case.error.frames
    if "keras" in case.error.message.lower():
        return True
    if not frames:
        quoted = _QUOTED.findall(case.error.message)
        return not quoted or not all(map(_PLAIN.fullmatch, quoted))
    return any(frame.origin is FrameOrigin.KERAS for frame in frames)


def _shown(example: Example) -> Iterator[Step]:
    if example.after is not None:
        before, after = example.before.strip(), example.after.strip()
        yield Step(
            StepKind.CODE, f"{before}\n  ->\n{after}", "an example; the rule's page has more"
        )


def _likeness(case: Case, known: _Known) -> float:
    """Return the similarity of two messages, 0 to 1, ignoring what varies between runs."""
    if case.error.type and case.error.name != known.type:
        return 0.0
    text = _normal(case.error.message)
    if known.text and text.startswith(known.text) and len(known.text) >= _SPECIFIC:
        return 1.0
    length = min(len(text), len(known.text))
    if not length:
        return 0.0
    matcher = difflib.SequenceMatcher(None, text[:_COMPARED], known.text[:_COMPARED])
    return 0.0 if matcher.quick_ratio() < _WITH_A_FINDING else matcher.ratio()


def _first_line(case: Case) -> str:
    return case.error.message.strip().partition("\n")[0]


def _normal(message: str) -> str:
    return _VARYING.sub("…", message.strip().partition("\n")[0])
