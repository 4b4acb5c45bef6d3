"""``python -m kdoctor.verify.prove``: run every rewrite and example, and write the proof record.

``--only WORD`` proves what contains ``WORD`` (a rule's code, a name in a rewrite) and leaves the
rest of the record unchanged. ``--sample N`` proves N random rewrites with few inputs and writes
nothing: it only checks that the record still holds.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import Progress

from kdoctor.verify import pool, proof_jobs, record
from kdoctor.verify.jobs import BACKENDS, DEFAULT_BACKEND, ExampleJob, Outcome
from kdoctor.verify.pool import Job

_SAMPLED_CASES = 24
_SAVED_EVERY = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove, report, and return the exit status: 1 if the record does not hold."""
    options = _options().parse_args(arguments)
    options.backend = options.backend or list(BACKENDS)
    console = Console(stderr=True)
    try:
        about = pool.about()
    except RuntimeError as problem:
        console.print(str(problem))
        return 2
    if options.sample is None:
        return _prove_all(about, options, console)
    return _prove_some(about, options, console)


def _prove_all(about: dict[str, Any], options: argparse.Namespace, console: Console) -> int:
    seed = proof_jobs.SEED if options.seed is None else options.seed
    about = {
        **_restricted(about, options.backend),
        "cases_per_rewrite": options.cases,
        "cases_elsewhere": min(options.cases, proof_jobs.CASES_ELSEWHERE),
        "seed": seed,
    }
    known = record.read()
    jobs = _all_jobs(about)
    standing = record.standing(known, about, {job.id for job in jobs})
    part_of = {(job.id, job.backend): job for job in jobs}
    wanted = {
        key
        for key, job in part_of.items()
        if all(word in _words(job) for word in options.only) and key[1] in options.backend
    }
    if options.missing:
        wanted = {key for key in wanted if not standing.get(key, {}).get("holds")}
    if not (options.missing or options.only):
        # Everything is proven again on these backends; none of their old results are kept.
        standing = {key: part for key, part in standing.items() if key[1] not in options.backend}
    kept = {key: part for key, part in standing.items() if key not in wanted}
    # Nothing is run on another backend that has not run on the first.
    first = {key for key, backend in wanted | set(kept) if backend == DEFAULT_BACKEND}
    jobs = [part_of[key] for key in part_of if key in wanted and key[0] in first]
    outcomes: list[Outcome] = []
    for outcome in _with_progress(jobs, options.workers, console):
        outcomes.append(outcome)
        # If it is interrupted, finished results are kept: `--missing` continues from there.
        if len(outcomes) % _SAVED_EVERY == 0 or len(outcomes) == len(jobs):
            found = kept | {(each.id, each.backend): each.as_record() for each in outcomes}
            record.write(record.with_backends(about, known, found), found)
    if not jobs:
        record.write(record.with_backends(about, known, kept), kept)
    _summarise(outcomes, console)
    if kept:
        print(f"kept from the record: {len(kept)}")
    return 0


def _restricted(about: dict[str, Any], backends: Sequence[str]) -> dict[str, Any]:
    """Return ``about`` with only the requested backends."""
    versions = about["backends"].items()
    restricted = {name: v if name in backends else record.NOT_RUN for name, v in versions}
    return {**about, "backends": restricted}


def _all_jobs(about: Mapping[str, Any]) -> list[Job]:
    """Return all jobs for the given backends."""
    rows = proof_jobs.rewrites_of_rules()
    present = [name for name in BACKENDS if about["backends"][name] != record.NOT_RUN]
    if DEFAULT_BACKEND not in present:
        present = [DEFAULT_BACKEND, *present]
    return [
        *(
            proof_jobs.rewrite_job(row, _cases_on(name, about), about["seed"], name)
            for name in present
            for row in rows
        ),
        *(job for name in present for job in proof_jobs.example_jobs(backend=name)),
    ]


def _cases_on(backend: str, about: Mapping[str, Any]) -> int:
    key = "cases_per_rewrite" if backend == DEFAULT_BACKEND else "cases_elsewhere"
    return int(about[key])


def _words(job: Job) -> str:
    """Return the text that ``--only`` searches: the job's code, and its rule if known."""
    return f"{job.rule} {job.before}" if isinstance(job, ExampleJob) else job.id


def _prove_some(about: dict[str, Any], options: argparse.Namespace, console: Console) -> int:
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    known = record.read()
    rows = [row for row in proof_jobs.rewrites_of_rules() if known.get(row.id, {}).get("holds")]
    picked = random.Random(seed).sample(rows, min(options.sample, len(rows)))  # noqa: S311
    cases = min(options.cases, _SAMPLED_CASES)
    versions = _restricted(about, options.backend)["backends"]
    present = [name for name in BACKENDS if versions[name] != record.NOT_RUN]
    jobs = [proof_jobs.rewrite_job(row, cases, seed, name) for name in present for row in picked]
    outcomes = list(_with_progress(jobs, options.workers, console))
    broken = record.broken_promises(outcomes, known)
    print(
        f"{len(picked)} rewrites on {', '.join(present)}, {_cases(outcomes)} cases, --seed {seed}"
    )
    for outcome in broken:
        print(f"\nrecorded as proven on {outcome.backend}, but fails: {outcome.id}")
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
    every = sorted(outcomes, key=lambda outcome: (outcome.backend, outcome.id))
    for outcome in every:
        if not outcome.holds:
            where = "" if outcome.backend == DEFAULT_BACKEND else f" on {outcome.backend}"
            console.print(f"not proven{where}: {outcome.id}", markup=False, highlight=False)
            for failure in outcome.failures:
                line = f"    {failure['mode']}: {failure['what']} | {failure['input']}"
                console.print(line, markup=False, highlight=False)
    examples = [outcome for outcome in every if outcome.id.startswith("example ")]
    for backend in BACKENDS:
        shown = [each for each in examples if each.backend == backend]
        if shown or backend == DEFAULT_BACKEND:
            where = "" if backend == DEFAULT_BACKEND else f" on {backend}"
            print(f"examples{where}: {sum(each.holds for each in shown)} of {len(shown)} hold")
        rows = [each for each in every if each not in examples and each.backend == backend]
        if not rows:
            continue
        held = sum(outcome.holds for outcome in rows)
        gradients = sum(outcome.gradients for outcome in rows)
        print(
            f"rewrites on {backend}: {held} of {len(rows)} hold, "
            f"in {_cases(rows)} cases with {gradients} gradients"
        )


def _cases(outcomes: Iterable[Outcome]) -> int:
    return sum(sum(outcome.cases.values()) for outcome in outcomes)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kdoctor.verify.prove", description=__doc__)
    parser.add_argument(
        "--sample", type=int, metavar="N", help="prove N random rewrites and write nothing"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help="prove only what contains this word, e.g. KD301; repeat it to require several",
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="prove only what is not in the record yet (a first look; prove everything later)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="S",
        help="seed for the inputs (default: 0; with --sample: random)",
    )
    parser.add_argument(
        "--cases", type=int, default=proof_jobs.CASES, help="inputs drawn for each rewrite"
    )
    parser.add_argument(
        "--backend",
        action="append",
        choices=BACKENDS,
        help="prove on this backend; repeatable (default: all that are installed)",
    )
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    return parser


if __name__ == "__main__":
    sys.exit(main())
