"""Messages between driver and workers: jobs and outcomes as plain JSON data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# The modes in which both sides run. When the graph is traced, ``batch`` means that the first axis
# is unknown, ``sizes`` that all sizes are, ``rank`` that even the number of axes is.
MODES = (
    *("eager", "function", "function_batch", "function_sizes", "function_rank"),
    *("symbolic", "symbolic_batch"),
)

# Backends of the new side. Keras' default decides what is safe where nobody asks for the others.
DEFAULT_BACKEND = "tensorflow"
BACKENDS = (DEFAULT_BACKEND, "jax", "torch")


@dataclass(frozen=True, slots=True)
class RewriteJob:
    """Run both sides of a rewrite, with the text of its ``guard``, on ``cases`` generated inputs.

    ``until_failure`` stops at the first failure. ``backend`` is that of the new side.
    """

    id: str
    left: str
    right: str
    guard: str
    cases: int
    seed: int
    until_failure: bool = False
    backend: str = DEFAULT_BACKEND


@dataclass(frozen=True, slots=True)
class ExampleJob:
    """Run a rule's example: ``before`` must raise the stated error, ``after`` must run.

    ``alone``: each runs in its own process. ``on_keras_2``: ``before`` must also run on Keras 2,
    where ``check`` must hold; with ``changes`` it must then fail for ``before`` on Keras 3.
    ``same`` is an expression that must have the same value on both. On another ``backend`` only
    ``after`` is run, with ``check``.
    """

    id: str
    rule: str
    prelude: str
    before: str
    after: str | None
    raises: str | None
    check: str
    alone: bool = False
    on_keras_2: bool = False
    changes: bool = False
    same: str = ""
    backend: str = DEFAULT_BACKEND


@dataclass(slots=True)
class Outcome:
    """The result of one job. ``largest_difference`` is between values of both sides.

    ``cases`` counts, by mode, the runs in which the old side worked, and ``outside`` those in which
    it raised or contradicted itself, so that the new side cannot be compared. ``gradients`` counts
    compared gradients, ``refused`` runs in which the new side raised within its known ``limits``.
    ``exception`` says where results may still differ; ``explained`` counts, by reason, runs in
    which they differ as the ``backend`` always does.
    """

    id: str
    backend: str = DEFAULT_BACKEND
    holds: bool = False
    oracle: str = ""
    cases: dict[str, int] = field(default_factory=dict)
    outside: int = 0
    gradients: int = 0
    largest_difference: float = 0.0
    allowed: tuple[str, ...] = ()
    exception: str = ""
    limits: tuple[str, ...] = ()
    refused: int = 0
    failing: int = 0
    explained: dict[str, int] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)

    def as_record(self) -> dict[str, Any]:
        """Return the part of the proof record for this backend, without empty fields.

        Fields that are the same on all backends are recorded only once.
        """
        entry: dict[str, Any] = {"holds": self.holds}
        first = self.backend == DEFAULT_BACKEND
        if first and self.oracle:
            entry["oracle"] = self.oracle
        if self.cases:
            entry["cases"] = dict(sorted(self.cases.items()))
            entry["outside"] = self.outside
            entry["gradients"] = self.gradients
            entry["largest_difference"] = float(f"{self.largest_difference:.0e}")
        if first and self.allowed:
            entry["allowed"] = sorted(self.allowed)
        if first and self.exception:
            entry["except_where"] = self.exception
        if first and self.limits:
            entry["limits"] = sorted(self.limits)
        if self.limits:
            entry["refused"] = self.refused
        if self.explained:
            entry["explained"] = dict(sorted(self.explained.items()))
        if self.failures:
            entry["failing"] = self.failing
            entry["failures"] = self.failures
        return entry
