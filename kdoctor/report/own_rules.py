"""Reports on rules of one's own: what is not loaded, and how their examples did."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kdoctor.engine.example_tests import ExampleTest
from kdoctor.report.output import Page, printable
from kdoctor.report.summary import count
from kdoctor.rules import Rule
from kdoctor.rules.own import in_use
from kdoctor.verify.jobs import Outcome


def write_not_loaded(page: Page) -> bool:
    """Write which rules are not loaded, and why; say whether one of them could not be used."""
    own = in_use()
    if own.sources.withheld:
        page.line(f"kdoctor: {printable(own.sources.withheld)}")
    for problem in own.problems:
        page.line(f"kdoctor: {printable(problem.path)}: {printable(problem.why)}")
    return bool(own.problems)


def write_rule_head(rule: Rule, place: str, page: Page) -> None:
    """Write which rule is tested."""
    page.line(f"{rule.code} {page.paint('path', rule.name)}  {printable(place)}")


def write_test(test: ExampleTest, page: Page) -> None:
    """Write how an example did."""
    if not test.problem:
        page.line(f"  {test.example}  {page.paint('safe', ', '.join(test.held))}")
        return
    page.line(f"  {test.example}  {page.paint('error', 'failed')}")
    for line in test.problem.splitlines():
        page.line(f"    {printable(line)}")


def write_proof(outcome: Outcome, example: str, page: Page) -> None:
    """Write how the run of an example ended."""
    if outcome.holds:
        page.line(f"  {example}  {page.paint('safe', 'ran as it says')} ({outcome.oracle})")
        return
    page.line(f"  {example}  {page.paint('error', 'did not run as it says')}")
    for failure in outcome.failures:
        page.line(f"    {failure['mode']}: {printable(failure['what'])}")


def write_test_summary(
    tests: Sequence[ExampleTest], unproven: Collection[str], prove: str, page: Page
) -> None:
    """Sum up a test of rules.

    ``unproven`` are the codes whose fixes no record calls safe, ``prove`` is the command that runs
    their examples, "" where that was done.
    """
    failed = sum(bool(each.problem) for each in tests)
    rules = count(len({each.code for each in tests}), "rule")
    if failed:
        page.line(f"{failed} of {count(len(tests), 'example')} failed, of {rules}.")
        return
    ran = "" if prove or unproven else ", and ran as they say"
    page.line(f"{count(len(tests), 'example')} of {rules} held{ran}.")
    if unproven:
        named = ", ".join(sorted(unproven))
        page.line(
            f"The fixes of {named} are unsafe until the examples are run: {prove}"
            if prove
            else f"The fixes of {named} stay unsafe: an example did not run as it says."
        )
