"""Compare a saved model on Keras 2 with what it was converted to on Keras 3.

Both run as user code does, in processes that the kernel confines: a file may be hostile.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from kdoctor.verify.user.interpreter import choose
from kdoctor.verify.user.running import Limits, run


class Compared(Struct, frozen=True):
    """What came of it. ``error``: why it could not be compared, "" where it could.

    ``cases`` is the number of inputs, ``weights`` that of the weights, ``unlike`` says in what the
    two differ.
    """

    cases: int = 0
    weights: int = 0
    unlike: tuple[str, ...] = ()
    error: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether both returned the same, and hold the same weights."""
        return not self.error and not self.unlike


def compare_saved_models(old: Path, new: Path, python: str | None, limits: Limits) -> Compared:
    """Run two files on the same drawn inputs.

    Raises:
        UsageProblem: this system, or no Python on it, can run them.
    """
    interpreter = choose(str(old.absolute().parent), python)
    paths = [each.absolute() for each in (old, new)]
    jobs = [_job(path) for path in paths]
    ran = run([jobs[0]], [jobs[1]], interpreter, limits)
    before = ran.keras_2[0]
    if before["state"] != "ran":
        return Compared(error=f"Keras 2 does not run {old}: {_line(before)}", versions=ran.versions)
    after = ran.keras_3[0]
    if after["state"] != "ran":
        return Compared(error=f"Keras 3 does not run {new}: {_line(after)}", versions=ran.versions)
    return Compared(
        cases=after["cases"],
        weights=after["weights"],
        unlike=tuple(after["unlike"]),
        versions=ran.versions,
    )


def _job(path: Path) -> dict[str, Any]:
    return {"id": 0, "saved_model": str(path), "reads": [str(path)]}


def _line(answer: dict[str, Any]) -> str:
    return " ".join(str(answer.get("error", "it ended")).split())
