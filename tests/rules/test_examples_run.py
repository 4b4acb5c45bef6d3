"""Every rule's own examples, run: what must break breaks as it says, and every repair runs."""

from dataclasses import replace
from importlib import metadata

import pytest

from kdoctor.rules import all_rules
from kdoctor.rules.rule import FAMILIES
from kdoctor.verify.pool import run_all
from kdoctor.verify.subjects import example_jobs


@pytest.mark.frameworks
@pytest.mark.parametrize("family", FAMILIES)
def test_every_example_breaks_as_it_says_and_every_repair_runs(family: str) -> None:
    jobs = []
    for rule in (each for each in all_rules() if each.family == family):
        installed = [each for each in rule.invalid if all(map(is_installed, each.needs))]
        jobs += example_jobs([replace(rule, invalid=tuple(installed))])
    outcomes = list(run_all(jobs, 1))
    assert len(outcomes) == len(jobs) > 0
    assert [each.failures for each in outcomes if not each.holds] == []


def is_installed(requirement: str) -> bool:
    name, _, version = requirement.partition("==")
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False
