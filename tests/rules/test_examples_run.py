"""Rules' own examples, run: what must break breaks as it says, and every repair runs.

The proof record says of each example that it does; its key changes with the example's code. Here a
sample is run, another one each time; ``make prove`` runs all.
"""

import secrets
from importlib import metadata

import pytest

from kdoctor.rules import all_rules
from kdoctor.verify import record
from kdoctor.verify.jobs import ExampleJob
from kdoctor.verify.pool import run_all
from kdoctor.verify.proof_jobs import example_jobs

TOGETHER = 24
ALONE = 1  # each in a process of its own, two times


def test_the_record_says_of_every_example_that_it_breaks_as_it_says_and_its_repair_runs() -> None:
    known = record.read()
    assert [job.id for job in example_jobs() if not known[job.id]["holds"]] == []


@pytest.mark.frameworks
def test_a_sample_that_is_drawn_now_breaks_as_it_says_and_every_repair_runs() -> None:
    jobs = drawn(TOGETHER, ALONE)
    outcomes = list(run_all(jobs, 1))
    assert len(outcomes) == len(jobs) == TOGETHER + ALONE
    assert [each.failures for each in outcomes if not each.holds] == []


def drawn(together: int, alone: int) -> list[ExampleJob]:
    installed = {
        example.id
        for rule in all_rules()
        for example in rule.invalid
        if all(map(is_installed, example.needs))
    }
    jobs = [job for job in example_jobs() if job.id in installed]
    draw = secrets.SystemRandom()
    return [
        *draw.sample([job for job in jobs if not job.alone], together),
        *draw.sample([job for job in jobs if job.alone], alone),
    ]


def is_installed(requirement: str) -> bool:
    name, _, version = requirement.partition("==")
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False
