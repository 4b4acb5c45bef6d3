"""What the verifier says of each definition."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class VerdictState(enum.StrEnum):
    """What a definition was found to be."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_ON_KERAS_2 = "cannot be run on Keras 2"
    NOT_ON_KERAS_3 = "cannot be run on Keras 3"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one definition.

    ``path``, ``cell`` (of a notebook) and ``line`` say where it stands; ``kind`` what sort of thing
    it is, "" where that was not found out. ``why`` is the error or reason of a definition that was
    not compared. ``where`` is what differs first, with ``told`` both values and ``input`` what they
    were computed from. ``largest`` is the largest difference over all ``cases``; ``share`` is the
    largest part of what is allowed that a difference takes, and ``tolerance`` what is allowed there
    of the size of a value. ``changed`` says whether the fix changes what the definition
    is made of; ``unreached`` names the lines of it that the fix changes and that did not run.
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

    @property
    def is_whole(self) -> bool:
        """Whether all of it that the fix changes ran, and was found equal."""
        return self.state is VerdictState.EQUAL and not self.unreached

    @property
    def is_bad(self) -> bool:
        """Whether the fixed code does not do what the original did."""
        return self.state in {VerdictState.DIFFERENT, VerdictState.NOT_ON_KERAS_3}


@dataclass(frozen=True, slots=True)
class Report:
    """All verdicts, and what they were found with.

    ``left`` counts the errors that the fix leaves in files of which something cannot be run on
    Keras 3, ``unsafe`` those of them with a fix that was not asked for. Where it was not
    ``sandboxed``, user code ran with all rights.
    """

    verdicts: tuple[Verdict, ...]
    interpreter: str
    because: str
    versions: tuple[tuple[str, str], ...] = ()  # of a side, what it is
    unreadable: tuple[tuple[str, str], ...] = ()  # a path, why
    left: int = 0
    unsafe: int = 0
    sandboxed: bool = True
