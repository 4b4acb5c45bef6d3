"""The proof record of one rewrite, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kdoctor.report.summary import count
from kdoctor.rules import Example

Record = Mapping[str, Mapping[str, Any]]

ABOUT = "about"
BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
NOT_RUN = "not run"

# How both sides are run, and what stands above the numbers of runs.
MODES = {
    "eager": "eager",
    "function": "function",
    "function_batch": "any batch",
    "function_sizes": "any sizes",
    "function_rank": "any rank",
    "symbolic": "symbolic",
    "symbolic_batch": "any batch",
}
HEADINGS = ("", "", *MODES.values(), "gradients", "apart")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one rewrite on one backend.

    ``holds`` is None where it was not run. ``first`` is the first failure, in words.
    """

    backend: str
    holds: bool | None = None
    cases: Mapping[str, int] | None = None
    gradients: int = 0
    apart: float = 0.0
    explained: Mapping[str, int] | None = None
    first: str = ""

    @property
    def runs(self) -> int:
        """The number of runs in which both sides were compared."""
        return sum((self.cases or {}).values())

    @property
    def word(self) -> str:
        """The verdict in one word or two."""
        return NOT_RUN if self.holds is None else "holds" if self.holds else "differs"

    def cells(self, name: str) -> tuple[str, ...]:
        """Return the line of a table under ``HEADINGS``: the numbers of runs by mode, and so on."""
        if not self.cases:
            return (name, self.word, *[""] * (len(HEADINGS) - 2))
        counts = (str(self.cases.get(mode, "-")) for mode in MODES)
        apart = f"{self.apart:.0e}" if self.apart else "0"
        return (name, self.word, *counts, str(self.gradients), apart if self.holds else "")

    def notes(self) -> list[str]:
        """Return what differs, and how often the backend itself is why."""
        name = BACKENDS[self.backend]
        found = [f"on {name}: {self.first}"] if self.holds is False and self.first else []
        reasons = ", ".join(f"{what} ({times})" for what, times in (self.explained or {}).items())
        return [*found, *([f"explained on {name}: {reasons}"] if reasons else [])]


def verdicts(entry: Mapping[str, Any]) -> list[Verdict]:
    """Return the result of a rewrite on each backend, the decisive one first."""
    elsewhere = entry.get("backends", {})
    parts = {backend: elsewhere.get(backend) for backend in BACKENDS}
    parts[next(iter(BACKENDS))] = entry
    return [
        Verdict(backend) if part is None else _verdict(backend, part)
        for backend, part in parts.items()
    ]


def named(backend: str, record: Record) -> str:
    """Return a backend's name with its version."""
    version = record.get(ABOUT, {}).get("backends", {}).get(backend, NOT_RUN)
    return BACKENDS[backend] + ("" if version == NOT_RUN else f" {version}")


def remarks(entry: Mapping[str, Any]) -> list[str]:
    """Return the notes of a proof: what the old side was run with, and what may differ."""
    found = []
    if entry.get("oracle"):
        found.append(f"old side: {entry['oracle']}")
    found += [f"may differ: {each}" for each in entry.get("allowed", ())]
    found += [f"may be refused: {each}" for each in entry.get("limits", ())]
    if entry.get("refused"):
        found[-1] += f" ({count(entry['refused'], 'run')})"
    if entry.get("except_where"):
        found.append(f"except where {entry['except_where']}")
    return found


def proven(example: Example, record: Record) -> str:
    """Describe the recorded run of an example's fix."""
    kind = "unsafe fix" if example.unsafe else "fix"
    proof = record.get(example.id)
    if proof is None:
        return f"{kind}; no run is recorded"
    return f"{kind}; it runs" if proof.get("holds") else f"{kind}; its run did not hold"


def _verdict(backend: str, part: Mapping[str, Any]) -> Verdict:
    failure: Mapping[str, str] = next(iter(part.get("failures", ())), {})
    mode = f"{failure['mode']}: " if failure.get("mode") else ""
    shown = f" for {failure['input']}" if failure.get("input") else ""
    return Verdict(
        backend,
        bool(part.get("holds")),
        part.get("cases"),
        part.get("gradients", 0),
        part.get("largest_difference", 0.0),
        part.get("explained"),
        f"{mode}{failure.get('what', '')}{shown}",
    )
