"""Verdicts of the verifier on definitions."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

TENSORFLOW: Final = "tensorflow"
TITLES: Final = {TENSORFLOW: "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
KERAS_2: Final = "Keras 2"
KERAS_3: Final = "Keras 3"


class VerdictState(enum.StrEnum):
    """The possible results for a definition."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_ON_KERAS_2 = "cannot be run on Keras 2"
    NOT_ON_KERAS_3 = "cannot be run on Keras 3"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one definition.

    ``path``, ``cell`` (in a notebook) and ``line`` give its location; ``kind`` is what it is, ""
    if unknown. ``why`` is the reason why a definition was not compared, or its error. ``where`` is
    the first value that differs, ``told`` shows both sides' values and ``input`` what they were
    computed from. ``largest`` is the largest difference over all ``cases``. ``share`` is the
    largest fraction of its tolerance that a difference uses, and ``tolerance`` is that tolerance,
    relative to the value. ``changed`` says whether the fix changes the definition or what it
    depends on; ``unreached`` lists changed lines that did not run. ``backend`` is what the fixed
    code ran with, ``before`` the Keras that the original ran on, and ``uncompared`` names results
    that this backend does not have.
    """

    path: str
    line: int
    name: str
    state: VerdictState
    kind: str = ""
    why: str = ""
    where: str = ""
    told: str = ""
    input: str = ""
    largest: float | None = None
    tolerance: float | None = None
    share: float | None = None
    cases: int = 0
    changed: bool = False
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cell: int | None = None
    unreached: tuple[str, ...] = ()
    backend: str = TENSORFLOW
    before: str = KERAS_2
    uncompared: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is equal and every changed line of it ran."""
        return self.state is VerdictState.EQUAL and not self.unreached

    @property
    def is_bad(self) -> bool:
        """Whether the fixed code fails or computes something else."""
        return self.state in {VerdictState.DIFFERENT, VerdictState.NOT_ON_KERAS_3}


@dataclass(frozen=True, slots=True)
class Report:
    """All verdicts, with the interpreter and versions that ran.

    ``left`` counts the errors that remain in files with a definition that cannot be run on Keras 3;
    ``unsafe`` counts those with an unsafe fix that was not applied. If not ``sandboxed``, user code
    ran with all permissions. ``backends`` are those that were asked for and are there, () if none
    was asked for; ``missing`` holds the others, each with a sentence.
    """

    verdicts: tuple[Verdict, ...]
    interpreter: str
    because: str
    versions: tuple[tuple[str, str], ...] = ()  # side and versions
    unreadable: tuple[tuple[str, str], ...] = ()  # path and reason
    left: int = 0
    unsafe: int = 0
    sandboxed: bool = True
    backends: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
