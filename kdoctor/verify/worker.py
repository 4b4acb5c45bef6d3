"""A process that runs frameworks: reads jobs and writes outcomes as lines of JSON.

``python -m kdoctor.verify.worker``. The driver itself never imports TensorFlow.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from kdoctor.verify.processes import gc_frozen, reserve_stdout

if TYPE_CHECKING:
    from kdoctor.verify.jobs import Outcome


def main() -> None:
    """Run jobs until the input ends."""
    answers = reserve_stdout()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = serve(dict(job))
        except Exception:  # noqa: BLE001 - the other jobs still run
            failure = {"mode": "", "what": traceback.format_exc()[-800:], "input": "the proof"}
            answer = {"id": job.get("id", ""), "failing": 1, "failures": [failure]}
        print(json.dumps(answer), file=answers, flush=True)


def serve(job: dict[str, Any]) -> dict[str, Any]:
    """Run one job."""
    kind = job.pop("kind")
    return about() if kind == "about" else dataclasses.asdict(_prover(kind)(job))


@cache
def _prover(kind: str) -> Callable[[dict[str, Any]], Outcome]:
    """Return the function that runs jobs of a kind.

    Imported with the first job, so that a worker without jobs ends quickly.
    """
    from kdoctor.verify.jobs import ExampleJob, RewriteJob  # noqa: PLC0415

    with gc_frozen():
        match kind:
            case "rewrite":
                from kdoctor.verify.run_rewrite import prove_rewrite  # noqa: PLC0415

                return lambda job: prove_rewrite(RewriteJob(**job))
            case "example":
                from kdoctor.verify.examples import prove_example  # noqa: PLC0415

                return lambda job: prove_example(ExampleJob(**job))
    raise ValueError(f"no job of the kind {kind!r} is known")


def about() -> dict[str, Any]:
    """Return the versions of the frameworks and of the installed backends."""
    from importlib import metadata  # noqa: PLC0415
    from importlib.util import find_spec  # noqa: PLC0415

    from kdoctor.verify.jobs import BACKENDS  # noqa: PLC0415
    from kdoctor.verify.record import NOT_RUN  # noqa: PLC0415

    names = ("keras", "tf_keras", "tensorflow", "numpy")
    return {
        "frameworks": {name: metadata.version(name) for name in names},
        "backends": {
            name: metadata.version(name) if find_spec(name) else NOT_RUN for name in BACKENDS
        },
    }


if __name__ == "__main__":
    main()
