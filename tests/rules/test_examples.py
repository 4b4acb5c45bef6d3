"""Every rule's own examples, through the whole engine: what it must find, mend, and leave alone."""

import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability
from kdoctor.rules import Example, Rule, all_rules

VALID = [
    pytest.param(rule, source, id=f"{rule.code}-valid-{number}")
    for rule in all_rules()
    for number, source in enumerate(rule.valid)
]
INVALID = [
    pytest.param(rule, example, id=f"{rule.code}-invalid-{number}")
    for rule in all_rules()
    for number, example in enumerate(rule.invalid)
]
FIXABLE = [case for case in INVALID if case.values[1].after is not None]


def found(rule: Rule, source: str, target: str | None = None, namespace: str = ""):
    result = scan(
        ["-"],
        stdin=source.encode(),
        select=[rule.code],
        target=target,
        namespace=namespace,
        backend=rule.backend,
    )
    assert not result.unreadable
    return result.findings


def mended(rule: Rule, source: str, target: str | None = None, namespace: str = "") -> str:
    result = fix(
        ["-"],
        stdin=source.encode(),
        select=[rule.code],
        target=target,
        namespace=namespace,
        backend=rule.backend,
        unsafe=True,
    )
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(("rule", "source"), VALID)
def test_valid_code_is_left_alone(rule: Rule, source: str) -> None:
    assert [each.message for each in found(rule, source, rule.target_of_valid)] == []


@pytest.mark.parametrize(("rule", "example"), INVALID)
def test_invalid_code_is_reported(rule: Rule, example: Example) -> None:
    findings = found(rule, example.before, example.on, example.namespace)
    assert len(findings) == example.findings
    for finding in findings:
        assert (finding.code, finding.name) == (rule.code, rule.name)
        assert (finding.fix is None) == (finding.no_fix_because is not None)
    if example.raises is not None:
        assert "error" in {each.severity for each in findings}
        assert any(example.raises in each.message for each in findings), findings[0].message


@pytest.mark.parametrize(
    ("rule", "example"), [each for each in INVALID if each.values[1].after is None]
)
def test_an_example_without_a_repair_is_not_changed(rule: Rule, example: Example) -> None:
    assert mended(rule, example.before, example.on, example.namespace) == example.before


@pytest.mark.parametrize(("rule", "example"), FIXABLE)
def test_the_fix_gives_the_repair_exactly(rule: Rule, example: Example) -> None:
    assert mended(rule, example.before, example.on, example.namespace) == example.after


@pytest.mark.sampled(4)
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize(("rule", "example"), FIXABLE)
def test_the_fix_ends_its_lines_as_the_file_does(
    rule: Rule, example: Example, newline: str
) -> None:
    before, after = (text.replace("\n", newline) for text in (example.before, example.after))
    assert mended(rule, before, example.on, example.namespace) == after


@pytest.mark.parametrize(("rule", "example"), FIXABLE)
def test_the_repair_is_not_repaired_again(rule: Rule, example: Example) -> None:
    assert mended(rule, example.after, example.on, example.namespace) == example.after


@pytest.mark.parametrize(("rule", "example"), FIXABLE)
def test_a_fix_is_as_safe_as_its_example_says(rule: Rule, example: Example) -> None:
    fixes = [
        each.fix for each in found(rule, example.before, example.on, example.namespace) if each.fix
    ]
    wanted = Applicability.UNSAFE if example.unsafe else Applicability.SAFE
    assert {each.applicability for each in fixes} == {wanted}


def test_no_rule_fires_twice_for_one_cause() -> None:
    for rule in all_rules():
        for example in rule.invalid:
            result = scan(["-"], stdin=example.before.encode(), target=example.on)
            errors = [each for each in result.findings if each.severity == "error"]
            places = [each.place.span for each in errors]
            assert len(places) == len(set(places)), example.before
