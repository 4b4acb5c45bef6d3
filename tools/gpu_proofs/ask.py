"""``python -m tools.gpu_proofs.ask FILE``: draw inputs, and keep those that the old side takes.

``FILE`` gets the questions for PyTorch, and those for JAX, which works in 32 bits.
"""

from __future__ import annotations

import argparse
import logging
import os
import pickle
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kdoctor.verify import proof_jobs, record
from kdoctor.verify.jobs import BACKENDS, DEFAULT_BACKEND, RewriteJob
from kdoctor.verify.processes import ON_THE_CPU, ONE_THREAD, QUIET
from tools.gpu_proofs.travelling import Asked, Question, digest, write

CASES = 16
ELSEWHERE = tuple(name for name in BACKENDS if name != DEFAULT_BACKEND)


def jobs_of(backend: str, cases: int = CASES) -> list[RewriteJob]:
    """Return a job for each rewrite whose proof held on TensorFlow."""
    known = record.read()
    return [
        proof_jobs.rewrite_job(row, cases, proof_jobs.SEED, backend)
        for row in proof_jobs.rewrites_of_rules()
        if known.get(row.id, {}).get("holds")
    ]


def asked(job: RewriteJob, modes: Sequence[str] | None = None) -> Asked:
    """Return what there is to ask of one rewrite, in these modes or those of its backend."""
    import tensorflow as tf  # noqa: PLC0415 - in a process of its own

    from kdoctor.verify.backends import other_backend  # noqa: PLC0415
    from kdoctor.verify.callables import read_callables  # noqa: PLC0415
    from kdoctor.verify.generators import OMITTED  # noqa: PLC0415
    from kdoctor.verify.references import NEW_STATE, OBSERVE  # noqa: PLC0415
    from kdoctor.verify.run_rewrite import RANDOM, RewriteProver  # noqa: PLC0415

    def portable(value: Any) -> Any:
        if isinstance(value, tf.DType):
            return value.name
        if isinstance(value, list | tuple):
            return type(value)(portable(each) for each in value)
        return value

    class Asker(RewriteProver):
        """Notes what to ask where a prover would run the new side."""

        def try_mode(self, conditions: Any, mode: str, arguments: dict[str, Any]) -> None:
            try:
                self.old(conditions, mode, arguments)
            except Exception:  # noqa: BLE001 - whatever Keras 2 raises: it does not take these
                return
            self.cases[mode] += 1  # a prover goes on drawing until it has some
            filled = {
                name: portable(self.sides.defaults[name] if value is OMITTED else value)
                for name, value in arguments.items()
            }
            facts = frozenset(conditions.facts)
            questions.append(Question(mode, filled, facts, digest_of(mode, arguments)))

    questions: list[Question] = []
    sides = read_callables(job.left, job.right)
    if sides is None or sides.function in {*OBSERVE, *NEW_STATE}:
        return Asked(job.id, job.right, None, why_not="what it does is seen in Keras' state only")
    if "tensorflow" in job.right:
        return Asked(job.id, job.right, None, why_not="it needs TensorFlow")
    backend = other_backend(job.backend, lambda *_: None)
    if modes is not None:
        backend = replace(backend, modes=tuple(modes))
    Asker(job, sides, backend).prove()
    try:
        pickle.dumps(questions)
    except (pickle.PicklingError, AttributeError):
        return Asked(job.id, job.right, None, why_not="its arguments are functions")
    return Asked(job.id, job.right, job.seed if sides.function in RANDOM else None, questions)


def frameworks_pool() -> ProcessPoolExecutor:
    """Return processes that run TensorFlow on the CPU, without its logs."""
    os.environ.update(QUIET | ON_THE_CPU | ONE_THREAD)
    return ProcessPoolExecutor(2, get_context("spawn"), _be_quiet)


def _be_quiet() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def digest_of(mode: str, arguments: dict[str, Any]) -> str:
    """Return the digest of a run with arguments as they are drawn: some are left out."""
    from kdoctor.verify.generators import OMITTED  # noqa: PLC0415

    told = {name: "left out" if value is OMITTED else value for name, value in arguments.items()}
    return digest(mode, told)


def main() -> None:
    """Ask, and write the questions by backend."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu_proofs.ask", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--cases", type=int, default=CASES, help="draws for each rewrite")
    options = parser.parse_args()
    with frameworks_pool() as pool:
        found = {
            name: list(pool.map(asked, jobs_of(name, options.cases), chunksize=4))
            for name in ELSEWHERE
        }
    write(options.file, found)
    for name, each in found.items():
        print(
            f"{name}: {sum(len(one.questions) for one in each)} questions of "
            f"{sum(bool(one.questions) for one in each)} rewrites of {len(each)}"
        )


if __name__ == "__main__":
    main()
