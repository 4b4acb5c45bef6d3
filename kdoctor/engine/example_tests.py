"""Test a rule by its own examples, through the whole engine: scan and fix them, as files would be.

What is valid is silent; what is invalid is found, as often as it says, and fixed to what it says;
a second fix changes nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from msgspec import Struct

from kdoctor.engine.fixing import fix
from kdoctor.engine.options import Options
from kdoctor.engine.scanning import scan
from kdoctor.errors import KdoctorError
from kdoctor.model import Finding
from kdoctor.rules import Example, Rule, words

_NAMED = 3  # findings in a sentence


class ExampleTest(Struct, frozen=True):
    """How one example of a rule did.

    ``example`` says which: ``VALID[0]``. ``held`` is what held, in words, ``problem`` what did not,
    "" where all held.
    """

    code: str
    example: str
    held: tuple[str, ...]
    problem: str = ""


def tested_examples(rule: Rule, sources: Collection[str]) -> Iterator[ExampleTest]:
    """Yield how each example of a rule did; ``sources`` are the files that the rules lie in."""
    if not rule.invalid:
        yield ExampleTest(
            rule.code,
            "INVALID",
            (),
            "there is no example: nothing shows that the rule finds anything. Add an Example(…)",
        )
    for number, source in enumerate(rule.valid):
        yield _of_valid(rule, f"VALID[{number}]", source, sources)
    for number, example in enumerate(rule.invalid):
        yield _of_invalid(rule, f"INVALID[{number}]", example, sources)
    for number, source in enumerate(rule.spellings):
        yield _of_spelling(rule, f"Also reported[{number}]", source, sources)


def _of_valid(rule: Rule, name: str, source: str, sources: Collection[str]) -> ExampleTest:
    found, problem = _found(rule, source, Example(source, on=rule.target_of_valid), sources)
    if problem or not found:
        return ExampleTest(rule.code, name, () if problem else ("silent",), problem)
    return ExampleTest(rule.code, name, (), f"it is not silent: {_told(found)}")


def _of_spelling(rule: Rule, name: str, source: str, sources: Collection[str]) -> ExampleTest:
    found, problem = _found(rule, source, Example(source), sources)
    if not (problem or found):
        problem = f"it is not found{_why_silent(rule, Example(source), sources)}"
    return ExampleTest(rule.code, name, () if problem else ("found",), problem)


def _of_invalid(rule: Rule, name: str, example: Example, sources: Collection[str]) -> ExampleTest:
    found, problem = _found(rule, example.before, example, sources)
    held: tuple[str, ...] = ()
    if not problem and len(found) != example.findings:
        problem = f"it is found {len(found)} times, not {example.findings}"
        problem += f": {_told(found)}" if found else _why_silent(rule, example, sources)
    elif not problem:
        held = ("found",)
        problem = _wrong_fix(rule, example, sources)
    if not problem:
        held += ("not changed",) if example.after is None else ("fixed", "and only once")
    return ExampleTest(rule.code, name, held, problem)


def _wrong_fix(rule: Rule, example: Example, sources: Collection[str]) -> str:
    """Say what is wrong with what a fix makes of an example, nothing where all is right."""
    wanted = example.before if example.after is None else example.after
    fixed, problem = _fixed(rule, example.before, example, sources)
    if problem:
        return problem
    if fixed != wanted:
        what = "its fix gives other code" if example.after is not None else "it is changed"
        return f"{what}:\n{_diff(wanted, fixed)}"
    again, problem = _fixed(rule, fixed, example, sources)
    if problem:
        return problem
    return "" if again == fixed else f"a second fix changes it again:\n{_diff(fixed, again)}"


def _why_silent(rule: Rule, example: Example, sources: Collection[str]) -> str:
    """Say why nothing is found, where what the file must hold for the rule to be asked is why."""
    spoken = (all(word in example.before for word in each.split()) for each in words())
    if not any(spoken):
        return "; it speaks neither of Keras nor of a package that the rule names in LIBRARIES"
    ungated, problem = _found(rule, example.before, example, sources, gate=False)
    if problem or not ungated:
        return ""
    return "; without its triggers it is, and they must hold wherever the rule finds something"


def _options(
    rule: Rule, source: str, example: Example, sources: Collection[str], *, gate: bool
) -> Options:
    return {
        "stdin": source.encode(),
        "select": [rule.code],
        "target": example.on,
        "namespace": example.namespace,
        "isolated": True,
        "rules": sources,
        "gate": gate,
        "diffs": False,
        "jobs": 1,
    }


def _found(
    rule: Rule, source: str, example: Example, sources: Collection[str], *, gate: bool = True
) -> tuple[tuple[Finding, ...], str]:
    """Return what the rule reports in some code, and what went wrong."""
    try:
        result = scan(["-"], **_options(rule, source, example, sources, gate=gate))
    except KdoctorError as problem:  # its target may be one that nobody knows
        return (), str(problem)
    return result.findings, "; ".join(each.why for each in result.unreadable)


def _fixed(rule: Rule, source: str, example: Example, sources: Collection[str]) -> tuple[str, str]:
    """Return what the rule's fixes make of some code, and what went wrong."""
    result = fix(["-"], unsafe=True, **_options(rule, source, example, sources, gate=True))
    problems = [each.why for each in result.left.unreadable]
    problems += [each.why for each in result.left_alone]
    fixed = result.files[0].after.decode() if result.files else source
    return fixed, "; ".join(problems)


def _told(found: Collection[Finding]) -> str:
    told = [f"line {each.place.line}: {each.message}" for each in found]
    return "; ".join(told[:_NAMED]) + ("; …" if told[_NAMED:] else "")


def _diff(wanted: str, given: str) -> str:
    lines = difflib.unified_diff(
        wanted.splitlines(), given.splitlines(), "wanted", "given", lineterm="", n=1
    )
    return "\n".join(f"    {line}" for line in lines)
