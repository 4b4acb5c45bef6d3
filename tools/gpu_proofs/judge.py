"""``python -m tools.gpu_proofs.judge ANSWERS...``: compare GPU results with the old sides.

The inputs are drawn again as they were for ``ask``, and the old side runs again; the recorded
answers stand in for the new side. Writes ``record.json`` here, and ``docs/gpu.md`` from it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kdoctor.verify import record
from kdoctor.verify.jobs import Outcome, RewriteJob
from kdoctor.verify.results import Ran
from tools.gpu_proofs.ask import CASES, digest_of, frameworks_pool, jobs_of
from tools.gpu_proofs.travelling import Answers, Raised, read

RECORD = Path(__file__).with_name("record.json")
PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "gpu.md"

_INTRODUCTION = """\
# Proofs on a GPU

*Written by `python -m tools.gpu_proofs.judge`; do not edit.*

[The proofs](proofs.md) were run on a CPU. The right sides of the rewrites that hold there on
TensorFlow were also run on a GPU, on the other backends. That machine has no TensorFlow, so the
inputs of the left side were sent to it and the results came back, to be compared in the same way
(values, dtypes, shapes and gradients, with the same tolerances). Whether a fix is safe depends on
the proofs on TensorFlow alone; this page lists what differs on a GPU.

By default a backend may round the factors of a product on a GPU (NVIDIA's TF32 keeps 10 bits of
each fraction), which explains differences of a few parts in ten thousand. Runs with that default
are listed separately below.
"""


def judged(
    job: RewriteJob, given: Mapping[str, Ran | Raised], modes: Sequence[str] | None = None
) -> Outcome:
    """Prove one rewrite, with recorded answers for the new side."""
    from kdoctor.verify.backends import other_backend  # noqa: PLC0415 - with TensorFlow
    from kdoctor.verify.callables import read_callables  # noqa: PLC0415
    from kdoctor.verify.run_rewrite import RewriteProver  # noqa: PLC0415

    def replayed(mode: str, _: Callable[..., Any], arguments: dict[str, Any]) -> Ran:
        answer = given[digest_of(mode, arguments)]
        if isinstance(answer, Raised):
            raise type(answer.kind, (Exception,), {})(answer.text)
        return answer

    sides = read_callables(job.left, job.right)
    assert sides is not None, f"{job.id} is among the questions"
    backend = other_backend(job.backend, replayed)
    if modes is not None:
        backend = replace(backend, modes=tuple(modes))
    return RewriteProver(job, sides, backend).prove()


def main() -> None:
    """Compare the answers, and write the record and the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu_proofs.judge", description=__doc__)
    parser.add_argument("answers", type=Path, nargs="*")
    parser.add_argument(
        "--cases", type=int, default=CASES, help="the number of inputs that `ask` drew"
    )
    options = parser.parse_args()
    runs = [_run(read(path), options.cases) for path in options.answers]
    if runs:
        text = json.dumps({"runs": runs}, indent=1, sort_keys=True, ensure_ascii=False)
        RECORD.write_text(f"{text}\n", "utf-8")
    PAGE.write_text(page(json.loads(RECORD.read_text("utf-8"))), "utf-8")


def _run(answers: Answers, cases: int) -> dict[str, Any]:
    jobs = [job for job in jobs_of(answers.about["backend"], cases) if job.id in answers.given]
    with frameworks_pool() as pool:
        outcomes = pool.map(judged, jobs, [answers.given[job.id] for job in jobs], chunksize=4)
        found = {each.id: each.as_record() for each in outcomes}
    not_asked = dict(sorted(Counter(answers.not_asked.values()).items()))
    return {"about": answers.about, "cases": cases, "not_asked": not_asked, "rewrites": found}


def page(recorded: Mapping[str, Any]) -> str:
    """Return the text of docs/gpu.md."""
    lines = [_INTRODUCTION]
    for run in recorded["runs"]:
        lines += ["", *_of_run(run)]
    return "\n".join(lines) + "\n"


def _of_run(run: Mapping[str, Any]) -> Iterable[str]:
    about, rewrites = run["about"], run["rewrites"]
    name = record_name(about["backend"])
    yield f"## {name} {about[about['backend']]}, matrices in {_PRECISIONS[about['precision']]}"
    yield ""
    yield (
        f"Keras {about['keras']}, NumPy {about['numpy']}, {about['device']}; "
        f"{run['cases']} inputs drawn for each rewrite."
    )
    yield ""
    held = {key: each for key, each in rewrites.items() if each["holds"]}
    runs = sum(sum(each.get("cases", {}).values()) for each in rewrites.values())
    gradients = sum(each.get("gradients", 0) for each in rewrites.values())
    reasons = ", ".join(f"{times} ({why})" for why, times in run["not_asked"].items())
    yield (
        f"{len(held)} of {len(rewrites)} hold, in {runs:,} runs with {gradients:,} gradients."
        + (f" Not run: {reasons}." if reasons else "")
    )
    if about["precision"] != "full":
        yield ""
        called = (re.findall(r"keras\.ops\.\w+", key.split(" -> ")[1]) for key in rewrites)
        names = sorted({f"`{name}`" for each in called for name in each})
        yield f"Only rewrites to these functions were run: {', '.join(names)}."
    others = {key: each for key, each in rewrites.items() if not each["holds"]}
    on_cpu = record.read()
    apart = {
        key: _holds_on_cpu(on_cpu, key, about["backend"])
        for key, each in others.items()
        if each["failures"][0]["mode"]  # without one, too little was compared
    }
    for title, there in (
        ("These differ on the GPU, but hold on the CPU:", True),
        ("These differ on the CPU as well:", False),
        ("Too few runs to decide:", None),
    ):
        rows = [(key, each) for key, each in sorted(others.items()) if apart.get(key) is there]
        if not rows:
            continue
        yield ""
        yield title
        yield ""
        for key, each in rows:
            failure = each["failures"][0]
            mode = failure["mode"] and f"{failure['mode']}: "
            yield f"- `{key}`: {mode}{_plain(failure['what'])}"


_PRECISIONS = {"full": "32 bits", "default": "the precision that the backend chooses"}


def record_name(backend: str) -> str:
    """Return a backend's name as its own project spells it."""
    return {"jax": "JAX", "torch": "PyTorch"}[backend]


def _holds_on_cpu(known: Mapping[str, Any], key: str, backend: str) -> bool:
    return known.get(key, {}).get("backends", {}).get(backend, {}).get("holds") is True


def _plain(text: str) -> str:
    for character in "\\`*_[]<|":
        text = text.replace(character, f"\\{character}")
    return text


if __name__ == "__main__":
    main()
