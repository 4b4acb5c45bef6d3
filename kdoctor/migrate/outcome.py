"""What a migration came to: plain data for reports."""

from __future__ import annotations

import enum

from msgspec import Struct


class Verdict(enum.StrEnum):
    """What speaks for a fix, or against it."""

    PROVEN = "proven"  # safe: the rule's proof ran
    TESTS = "your tests"
    NOT_RUN = "not run"  # by any test; left out
    LOSES = "loses a test"  # left out


class FixOutcome(Struct, frozen=True):
    """A fix with what speaks for it. ``tests`` are some of the tests that say so, ``of`` how many.

    These ran its lines and passed before and after, or, with ``makes_pass``, pass only with it. The
    line is that of the code before the step. ``seen`` is what was seen at run time that it rests
    on, of most nothing.
    """

    path: str
    line: int
    code: str
    name: str
    title: str
    verdict: Verdict
    tests: tuple[str, ...] = ()
    of: int = 0
    makes_pass: bool = False
    seen: tuple[str, ...] = ()

    @property
    def is_written(self) -> bool:
        """Whether it is on the branch."""
        return self.verdict in {Verdict.PROVEN, Verdict.TESTS}


class StepOutcome(Struct, frozen=True):
    """A step that was committed: how many more tests pass after it; none is lost."""

    title: str
    commit: str
    changes: int
    files: tuple[str, ...]
    gained: tuple[str, ...]
    passed: int
    log: str


class FailingTest(Struct, frozen=True):
    """A test that passes on Keras 2 and not at the end: its error, and what it means."""

    test: str
    error: str
    place: str = ""
    meaning: str = ""
    remedy: str = ""


class LeftFinding(Struct, frozen=True):
    """What is left for people at a place: the finding, and what to write."""

    path: str
    line: int
    code: str
    message: str
    help: str


class Counted(Struct, frozen=True):
    """How many tests there are, and pass: on Keras 2, and on Keras 3 before and after.

    ``of_keras_2`` are those of ``after`` that pass on Keras 2 as well.
    """

    tests: int
    keras_2: int
    before: int
    after: int
    of_keras_2: int


class Outcome(Struct, frozen=True):
    """All that a migration came to.

    ``lost`` are the tests that passed on Keras 3 before and do not at the end. ``pins`` are the
    requirements that were written anew, ``pins_left`` those to be written by people. ``stopped``
    says why it ended early, "" where it did not.
    """

    now: str
    then: str
    branch: str
    base: str
    tree: str
    commands: tuple[str, ...]
    counted: Counted
    lost: tuple[str, ...]
    steps: tuple[StepOutcome, ...]
    fixes: tuple[FixOutcome, ...]
    failing: tuple[FailingTest, ...]
    left: tuple[LeftFinding, ...]
    pins: tuple[str, ...]
    pins_left: tuple[str, ...]
    flaky: tuple[str, ...]
    notes: tuple[str, ...]
    runs: int
    seconds: float
    logs: tuple[tuple[str, str], ...]
    stopped: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.stopped or self.lost or self.failing or self.left or self.pins_left)
