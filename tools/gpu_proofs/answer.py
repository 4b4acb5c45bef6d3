"""``python -m tools.gpu_proofs.answer QUESTIONS ANSWERS --backend torch``: run the new sides.

On the machine with the GPU: it needs Keras 3, the backend, and nothing of TensorFlow. What is not
done after ``--seconds`` is left out.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import importlib
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from importlib import metadata
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import numpy as np

from kdoctor.verify.results import Ran, Result
from tools.gpu_proofs.travelling import Answers, Asked, Question, Raised, read, write

# What PyTorch says from then on in a process whose GPU failed: an index out of range is enough.
_GPU_IS_LOST = "CUDA error"
_is_lost = False
_TOGETHER = 8  # rewrites that a process answers at first: as many may have to be asked again


def answered(asked: Asked) -> tuple[str, dict[str, Ran | Raised]]:
    """Return what the new side of one rewrite gives, by digest.

    The answer by which a process loses its GPU is its last: the rest is for another one.
    """
    global _is_lost  # noqa: PLW0603 - it is so of the process
    warnings.simplefilter("ignore")
    call = _right_side(asked.right, list(asked.questions[0].arguments))
    found: dict[str, Ran | Raised] = {}
    for each in asked.questions:
        if _is_lost:
            break
        answer = found[each.digest] = _run(each, call, asked.seed)
        _is_lost = isinstance(answer, Raised) and _GPU_IS_LOST in answer.text
    return asked.id, found


def _run(question: Question, call: Callable[..., Any], seed: int | None) -> Ran | Raised:
    import keras  # noqa: PLC0415 - in a process that has its backend

    from kdoctor.verify.bind_inputs import used_part  # noqa: PLC0415
    from kdoctor.verify.other_backends import run_on_backend  # noqa: PLC0415

    def used(arguments: dict[str, Any]) -> Any:
        if seed is not None:
            keras.utils.set_random_seed(seed % 2**32)
        return used_part(call(**arguments), question.facts)

    try:
        ran = run_on_backend(question.mode, used, question.arguments)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
        return Raised(type(error).__name__, str(error))
    return Ran(
        _plain(ran.result),
        tuple(None if each is None else _plain(each) for each in ran.gradients),
        tuple(map(_plain, ran.variables)),
    )


def _plain(result: Result) -> Result:
    """Return a result whose numbers are NumPy's own: what is of a backend is read nowhere else."""
    data = result.data
    if hasattr(data, "__array__"):
        data = np.asarray(data)
    elif not isinstance(data, str | bool | int | float | None):
        data = repr(data)
    return replace(result, data=data, parts=tuple(map(_plain, result.parts)))


def _right_side(right: str, parameters: list[str]) -> Callable[..., Any]:
    """Make the right side of a rewrite callable: the project's own code, not the user's."""
    names = {n.id for n in ast.walk(ast.parse(right, mode="eval")) if isinstance(n, ast.Name)}
    namespace = {}
    for root in names - set(parameters):
        if not hasattr(builtins, root):
            try:
                namespace[root] = importlib.import_module(root)
            except ImportError:
                continue  # a name that a lambda or comprehension binds
    return eval(f"lambda {', '.join(parameters)}: {right}", namespace)  # noqa: S307


def started(precision: str) -> str:
    """Choose how exactly matrices are multiplied; return the device that takes part.

    On this hardware both backends may multiply numbers of 32 bits in 19 (TF32).
    """
    import keras  # noqa: PLC0415

    if keras.backend.backend() == "torch":
        import torch  # noqa: PLC0415

        if precision == "full":
            torch.backends.cuda.matmul.allow_tf32 = False
            torch.backends.cudnn.allow_tf32 = False
        device = keras.ops.ones(()).device
        return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    import jax  # noqa: PLC0415

    if precision == "full":
        jax.config.update("jax_default_matmul_precision", "highest")
    (device,) = keras.ops.ones(()).devices()
    return device.device_kind


def _without(asked: Asked, given: Collection[str]) -> Asked:
    return replace(asked, questions=[each for each in asked.questions if each.digest not in given])


def _collected(
    pool: Pool, asked: list[Asked], end: float
) -> Iterator[tuple[str, dict[str, Ran | Raised]]]:
    """Yield what is answered until ``end``, on the clock of ``time.monotonic``."""
    # The longest first, so that no process is left with them alone.
    answers = pool.imap_unordered(answered, sorted(asked, key=lambda each: -len(each.questions)))
    with contextlib.suppress(StopIteration, multiprocessing.TimeoutError):
        while True:
            yield answers.next(max(1.0, end - time.monotonic()))


def main() -> None:
    """Answer all that there is time for."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu_proofs.answer", description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--backend", choices=("jax", "torch"), required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument(
        "--precision", choices=("full", "default"), default="full",
        help="multiply matrices in 32 bits, or as the backend does",
    )  # fmt: skip
    parser.add_argument("--only", default="", help="rewrites with one of these words: conv,dot")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    os.environ |= {
        "KERAS_BACKEND": options.backend,
        "OMP_NUM_THREADS": "1",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }
    words = options.only.split(",")
    asked = [
        each
        for each in read(options.questions)[options.backend]
        if any(word in each.right for word in words)
    ]
    not_asked = {each.id: each.why_not for each in asked if each.why_not}
    asked = [each for each in asked if each.questions]
    processes = multiprocessing.get_context("spawn")
    with processes.Pool(1) as pool:
        device = pool.apply(started, (options.precision,))
    given: dict[str, dict[str, Ran | Raised]] = {}
    left, together = asked, _TOGETHER
    while left and time.monotonic() < end:
        with processes.Pool(options.workers, started, (options.precision,), together) as pool:
            for rewrite, answers in _collected(pool, left, end):
                given.setdefault(rewrite, {}).update(answers)
        left = [each for one in asked if (each := _without(one, given.get(one.id, {}))).questions]
        together = 1  # what is left comes after one that lost its process
    for each in left:
        given.pop(each.id, None)
        not_asked[each.id] = "there was no time"
    about = {
        "backend": options.backend, "device": device, "precision": options.precision,
        **{name: metadata.version(name) for name in ("keras", options.backend, "numpy")},
    }  # fmt: skip
    write(options.answers, Answers(about, given, not_asked))
    raised = sum(isinstance(one, Raised) for each in given.values() for one in each.values())
    total = sum(map(len, given.values()))
    print(f"{about}: {total} answers for {len(given)} rewrites, {raised} raised")
    print(f"{len(left)} rewrites were not answered wholly")


if __name__ == "__main__":
    main()
