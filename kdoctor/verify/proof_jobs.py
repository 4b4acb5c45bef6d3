"""Proof jobs for the rewrites and examples of all rules."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import replace

from kdoctor.model import Severity
from kdoctor.rewrite import Rewrite
from kdoctor.rules import Example, Rule, all_rules
from kdoctor.rules.environment import _addons
from kdoctor.rules.names._definitions import proofs
from kdoctor.verify.jobs import DEFAULT_BACKEND, ExampleJob, RewriteJob

CASES = 150
CASES_ELSEWHERE = 40  # on other backends: the first of the same inputs
SEED = 0
_WRITES_KERAS_2 = "KD102"


def rewrites_of_rules() -> list[Rewrite]:
    """Return the rewrites in the ``REWRITES`` of all rules, in order and without duplicates."""
    found: dict[str, Rewrite] = {}
    for rule in all_rules():
        stem = rule.name.replace("-", "_")
        module = importlib.import_module(f"kdoctor.rules.{rule.family}.{stem}")
        for row in getattr(module, "REWRITES", ()):
            found.setdefault(row.id, row)
    return list(found.values())


def rewrite_job(
    row: Rewrite, cases: int = CASES, seed: int = SEED, backend: str = DEFAULT_BACKEND
) -> RewriteJob:
    """Return the job that proves one rewrite."""
    guard = "" if row.when is None else str(row.when)
    return RewriteJob(row.id, row.left, row.right, guard, cases, seed, backend=backend)


def example_jobs(
    rules: Iterable[Rule] | None = None, backend: str = DEFAULT_BACKEND
) -> list[ExampleJob]:
    """Return the jobs that prove the rules' examples, and what rules write of Keras 2.

    On another backend those are run that rate fixes for every backend: what is fixed, of KD8.
    """
    found: dict[str, ExampleJob] = {}
    every = list(all_rules()) if rules is None else list(rules)
    if backend != DEFAULT_BACKEND:
        for rule in every:
            for example in rule.invalid if rule.backend is not None else ():
                if example.after is not None:
                    job = replace(_example_job(rule, example), backend=backend)
                    found.setdefault(example.id, job)
        return list(found.values())
    for rule in every:
        examples = [*rule.invalid, *(_written() if rule.code == _WRITES_KERAS_2 else ())]
        for example in examples:
            found.setdefault(example.id, _example_job(rule, example))
    return list(found.values())


def _written() -> tuple[Example, ...]:
    """Return what proves the code that fixes write, and what takes the place of add-ons."""
    return (*proofs.proofs(), *_addons.proofs())


def _example_job(rule: Rule, example: Example) -> ExampleJob:
    return ExampleJob(
        id=example.id,
        rule=rule.code,
        prelude=example.prelude,
        before=example.before,
        after=example.after,
        raises=example.raises,
        check=example.check,
        # Settings that take effect at import can be tried only once in a process.
        alone=rule.family == "environment",
        on_keras_2=example.on_keras_2 or bool(example.same),
        changes=rule.severity is Severity.CHANGE,
        same=example.same,
    )
