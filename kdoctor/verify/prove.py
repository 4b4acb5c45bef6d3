"""``python -m kdoctor.verify.prove``: run every rewrite and example, and write the proof record.

``--only WORD`` proves what speaks of ``WORD`` (a rule's code, a name in a rewrite) and leaves the
rest of the record as it is. ``--sample N`` proves N rewrites picked at random, with few inputs, and
writes nothing: it only says whether the record still tells the truth.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.progress import Progress

from kdoctor.verify import pool, record, subjects
from kdoctor.verify.jobs import ExampleJob, Outcome
from kdoctor.verify.pool import Job

_SAMPLED_CASES = 24


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove, say how it went, and return the exit status: 1 where the record does not hold."""
    options = _options().parse_args(arguments)
    console = Console(stderr=True)
    try:
        about = pool.about()
    except RuntimeError as problem:
        console.print(str(problem))
        return 2
    if options.sample is None:
        return _prove_all(about, options, console)
    return _prove_some(options, console)


def _prove_all(about: dict[str, object], options: argparse.Namespace, console: Console) -> int:
    seed = subjects.SEED if options.seed is None else options.seed
    rows = subjects.rewrites_of_rules()
    jobs: list[Job] = [
        *(subjects.rewrite_job(row, options.cases, seed) for row in rows),
        *subjects.example_jobs(),
    ]
    about = {**about, "cases_per_rewrite": options.cases, "seed": seed}
    known = record.read()
    current = {job.id for job in jobs}
    # What was run on other versions, or with other inputs, says nothing of these.
    stands = (options.missing or options.only) and known.get(record.ABOUT) == about
    wanted = {job.id for job in jobs if all(word in _words(job) for word in options.only)}
    kept = {
        key: entry
        for key, entry in known.items()
        if stands and key in current and (key not in wanted or (options.missing and entry["holds"]))
    }
    jobs = [job for job in jobs if job.id in wanted - set(kept)]
    outcomes = list(_with_progress(jobs, options.workers, console))
    record.write(about, outcomes, kept)
    _summarise(outcomes, console)
    if kept:
        print(f"kept from the record: {len(kept)}")
    return 0


def _words(job: Job) -> str:
    """Return what a job is about, for ``--only``: its code, and its rule's where it is known."""
    return f"{job.rule} {job.before}" if isinstance(job, ExampleJob) else job.id


def _prove_some(options: argparse.Namespace, console: Console) -> int:
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    known = record.read()
    rows = [row for row in subjects.rewrites_of_rules() if known.get(row.id, {}).get("holds")]
    picked = random.Random(seed).sample(rows, min(options.sample, len(rows)))  # noqa: S311
    cases = min(options.cases, _SAMPLED_CASES)
    jobs = [subjects.rewrite_job(row, cases, seed) for row in picked]
    outcomes = list(_with_progress(jobs, options.workers, console))
    broken = record.broken_promises(outcomes, known)
    print(f"{len(picked)} rewrites, {_cases(outcomes)} cases, --seed {seed}")
    for outcome in broken:
        print(f"\nrecorded as proven, and fails: {outcome.id}")
        for failure in outcome.failures:
            print(f"  {failure['mode']}: {failure['what']}\n    {failure['input']}")
    return 1 if broken else 0


def _with_progress(jobs: Sequence[Job], workers: int, console: Console) -> Iterator[Outcome]:
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("proving", total=len(jobs))
        for outcome in pool.run_all(jobs, workers):
            yield outcome
            progress.advance(task)


def _summarise(outcomes: Iterable[Outcome], console: Console) -> None:
    every = sorted(outcomes, key=lambda outcome: outcome.id)
    for outcome in every:
        if not outcome.holds:
            console.print(f"not proven: {outcome.id}", markup=False, highlight=False)
            for failure in outcome.failures:
                line = f"    {failure['mode']}: {failure['what']} | {failure['input']}"
                console.print(line, markup=False, highlight=False)
    examples = [outcome for outcome in every if outcome.id.startswith("example ")]
    rewrites = [outcome for outcome in every if not outcome.id.startswith("example ")]
    for name, part in (("rewrites", rewrites), ("examples", examples)):
        print(f"{name}: {sum(outcome.holds for outcome in part)} of {len(part)} hold")
    print(f"cases: {_cases(rewrites)}, with {sum(o.gradients for o in rewrites)} gradients")


def _cases(outcomes: Iterable[Outcome]) -> int:
    return sum(sum(outcome.cases.values()) for outcome in outcomes)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kdoctor.verify.prove", description=__doc__)
    parser.add_argument("--sample", type=int, metavar="N", help="prove N rewrites, write nothing")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help="prove only what has this word in it, e.g. KD301; several: all of them",
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="prove only what the record does not hold yet (for a first look; then prove all)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="S", help="what inputs to draw (0; for samples: any)"
    )
    parser.add_argument("--cases", type=int, default=subjects.CASES, help="draws for each rewrite")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    return parser


if __name__ == "__main__":
    sys.exit(main())
