"""Prove rules of one's own as kdoctor's are: run their examples, and record what held beside them.

The examples are run in this environment's frameworks, not in the sandbox: they are code of who
wrote the rules. The record holds for the versions that it was made with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from kdoctor.errors import UsageProblem
from kdoctor.rules import Rule
from kdoctor.verify import pool, record
from kdoctor.verify.jobs import Outcome
from kdoctor.verify.proof_jobs import example_jobs

# They say with what a rewrite was run, of which these rules state none.
_NO_REWRITES = {"seed": 0, "cases_per_rewrite": 0, "cases_elsewhere": 0}


def prove(rules: Sequence[Rule], path: Path, kept: Collection[str] | None) -> Iterator[Outcome]:
    """Run the examples of rules, write the record at ``path``, and yield how each ended.

    Of the ids in ``kept``, the examples of other rules beside these, the record says what it said;
    of all, where that is None.

    Raises:
        UsageProblem: the frameworks are not installed.
        FileProblem: the record cannot be written.
    """
    try:
        about: dict[str, Any] = {**pool.about(), **_NO_REWRITES}
    except RuntimeError as problem:
        raise UsageProblem(str(problem)) from None
    try:
        known = record.read(path)
    except ValueError:  # no JSON: written anew
        known = {}
    found = record.standing(known, about, known if kept is None else kept)
    jobs = example_jobs(rules)
    for outcome in pool.run_all(jobs, workers=1):
        found[outcome.id, outcome.backend] = outcome.as_record()
        yield outcome
    record.write(record.with_backends(about, known, found), found, path)
