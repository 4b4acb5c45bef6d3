"""Compare a saved model on Keras 2 with what it was converted to on Keras 3.

Both run as user code does, in processes that the kernel confines: a file may be hostile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.verify.user.interpreter import choose, choose_old
from kdoctor.verify.user.running import Limits, run

_WRITTEN: Final = "kdoctor>"  # what kdoctor writes as code is registered so


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


class Pythons(Struct, frozen=True):
    """The Pythons that were named: that of Keras 3 (and of tf_keras), and that of an old Keras 2.

    None: it is chosen; the old file is loaded by tf_keras.
    """

    new: str | None = None
    old: str | None = None


class Trusted(Struct, frozen=True):
    """Code that may run: source files, and names in them by their key in ``custom_objects``.

    ``code`` is what kdoctor wrote for the new file alone. ``modules`` are those in which Keras 2
    looks for what the Lambdas of the old file need, and the names.
    """

    sources: tuple[Path, ...] = ()
    names: Mapping[str, str] = {}
    code: Path | None = None
    modules: Mapping[str, Sequence[str]] = {}


def compare_saved_models(
    old: Path,
    new: Path,
    pythons: Pythons,
    limits: Limits,
    trusted: Trusted | None = None,
) -> Compared:
    """Run two files on the same drawn inputs; code in them runs only if it is ``trusted``.

    Raises:
        UsageProblem: this system, or no Python on it, can run them.
    """
    interpreter = choose(str(old.absolute().parent), pythons.new)
    old_interpreter = None if pythons.old is None else choose_old(pythons.old)
    jobs = (
        [_job(old.absolute(), _of_the_old(trusted))],
        [_job(new.absolute(), _of_the_new(trusted))],
    )
    ran = run(*jobs, interpreter, limits, old_interpreter=old_interpreter)
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


def _of_the_old(trusted: Trusted | None) -> Trusted | None:
    """Return what the old file needs of the code: not what was written for the new one."""
    if trusted is None:
        return None
    names = {key: name for key, name in trusted.names.items() if not key.startswith(_WRITTEN)}
    return replace(trusted, names=names, code=None)


def _of_the_new(trusted: Trusted | None) -> Trusted | None:
    return None if trusted is None else replace(trusted, modules={})


def _job(path: Path, trusted: Trusted | None) -> dict[str, Any]:
    job: dict[str, Any] = {"id": 0, "saved_model": str(path), "reads": [str(path)]}
    if trusted is not None:
        written = [] if trusted.code is None else [trusted.code]
        sources = [str(each.absolute()) for each in (*trusted.sources, *written)]
        job |= {"is_trusted": True, "sources": sources, "custom_objects": dict(trusted.names)}
        job["reads"] += sources
        job["modules"] = {name: sorted(names) for name, names in trusted.modules.items()}
    return job


def _line(answer: dict[str, Any]) -> str:
    return " ".join(str(answer.get("error", "it ended")).split())
