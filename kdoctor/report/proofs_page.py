"""The proof record as a Markdown page: every rewrite on every backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kdoctor.report.proofs import (
    ABOUT,
    BACKENDS,
    MODES,
    NOT_RUN,
    Record,
    Verdict,
    named,
    remarks,
    verdicts,
)
from kdoctor.rewrite import Rewrite
from kdoctor.rules import Rule

_INTRODUCTION = """\
# Proofs

*Written by `make proofs-page` from [`proofs.json`](../kdoctor/rules/proofs.json); do not edit.*

Each rewrite below was run: its left side on the Keras (or TensorFlow) that it comes from, its right
side on Keras 3, with the same drawn inputs (floats, bools, integers of 32 and 64 bits, ranks 0 to
4, NaN, infinities, nothing at all), in each way that the code may run. Values, types, shapes and
gradients were compared, and what sort of object a result is: a tensor, an array, a number of NumPy
or of Python.

- A fix is *safe* where its rewrite **holds on TensorFlow**: that is the backend of code that comes
  from Keras 2. What differs on another backend is told here and by `kdoctor rules`.
- A number in the table is that of runs in which both sides were compared: eagerly, in a function
  (`tf.function`, `jax.jit`), and symbolically, as a functional model is built; on TensorFlow and
  symbolically also with a batch of unknown size; on TensorFlow also with all sizes, and with the
  rank, unknown.
- On JAX and PyTorch fewer of the same inputs are drawn, and what the framework itself does in
  another way is *explained* and counted: Keras 3 works there in 32 bits whatever comes in, and at
  NaN, at infinities, at zero and between equal numbers their gradients are others. On JAX arrays of
  64 bits are narrowed for both sides, and gradients are compared where the code is compiled.

What is not looked at, and so is promised by no row:

- Whether a result shares its numbers with an argument is asked eagerly, on TensorFlow. In a graph
  it is not asked. On PyTorch it often does where it was a copy on Keras 2: what `cast`, `reshape`,
  `transpose`, `expand_dims`, `squeeze` and `slice` make of a variable changes with it. On JAX what
  `stop_gradient` makes of an array does, and nothing else of a dozen functions tried by hand.
- Both sides run on a CPU, TensorFlow without XLA. What Keras 2 refused there is compared with
  nothing: an index out of bounds, which a GPU answers with zeros, and XLA with the nearest row. So
  `K.gather` of indices that a program calculates is called safe: where one of them is negative,
  Keras 2 raised on a CPU, and Keras 3 counts from the end. Where a negative index is written in the
  code, the fix is not safe.
- Random functions are run eagerly, and their distributions are compared; sparse tensors are given
  to TensorFlow alone.
"""


def proofs_page(rules: Sequence[Rule], record: Record) -> str:
    """Return the page."""
    lines = [_INTRODUCTION, *_summary(rules, record)]
    told: set[str] = set()
    for rule in rules:
        rows = [row for row in rule.rewrites if row.id not in told]
        told.update(row.id for row in rows)
        if rows:
            lines += ["", f"## {rule.code} {rule.name}", "", *matrix(rows, record)]
    lines += ["", "## Examples", "", *_examples(rules, record)]
    return "\n".join(lines) + "\n"


def _summary(rules: Sequence[Rule], record: Record) -> Iterator[str]:
    about = record.get(ABOUT, {})
    versions = ", ".join(
        f"{name} {version}" for name, version in about.get("frameworks", {}).items()
    )
    yield f"Run with {versions}."
    yield ""
    yield "| backend | rewrites that hold | runs | gradients |"
    yield "|---|---|---|---|"
    rows = {row.id for rule in rules for row in rule.rewrites}
    for backend in BACKENDS:
        found = [
            each
            for key in rows & set(record)
            for each in verdicts(record[key])
            if each.backend == backend and each.holds is not None
        ]
        held = sum(bool(each.holds) for each in found)
        runs, gradients = (sum(each.runs for each in found), sum(each.gradients for each in found))
        numbers = (
            f"{held} of {len(found)} | {runs:,} | {gradients:,}" if found else NOT_RUN + " | |"
        )
        yield f"| {named(backend, record)} | {numbers} |"


def matrix(rows: Sequence[Rewrite], record: Record) -> Iterator[str]:
    """Yield a table of rewrites and how each fared on each backend, with notes below."""
    notes: list[str] = []
    yield f"| rewrite | {' | '.join(BACKENDS.values())} | |"
    yield f"|---|{'---|' * len(BACKENDS)}---|"
    for row in rows:
        entry = record.get(row.id)
        found = [Verdict(backend) for backend in BACKENDS] if entry is None else verdicts(entry)
        told = [*remarks(entry or {}), *(note for each in found for note in each.notes())]
        # Who stands for the old side is told where it is not Keras 2 itself.
        told = [each for each in told if not each.startswith("old side: tf_keras 2.21.0")]
        number = ""
        if told:
            notes.append("; ".join(told))
            number = f"[{len(notes)}]"
        guard = "" if row.when is None else f"<br>where {_code(str(row.when))}"
        cells = " | ".join(map(_cell, found))
        yield f"| {_code(row.left)}<br>→ {_code(row.right)}{guard} | {cells} | {number} |"
    if notes:
        yield ""
        yield from (f"{number}. {_plain(note)}" for number, note in enumerate(notes, 1))


def _cell(verdict: Verdict) -> str:
    if verdict.holds is None:
        return NOT_RUN
    if not verdict.cases:
        return f"**{verdict.word}**"
    counts = "+".join(str(verdict.cases[mode]) for mode in MODES if mode in verdict.cases)
    return f"{verdict.word if verdict.holds else f'**{verdict.word}**'} {counts}"


def _examples(rules: Sequence[Rule], record: Record) -> Iterator[str]:
    yield "What a rule shows is run too: the old code must raise what the rule says, the new must"
    yield "run and pass the check that stands with it."
    yield ""
    yield "| rule | examples that hold | of them shown on Keras 2 |"
    yield "|---|---|---|"
    for rule in rules:
        entries = [record.get(each.id, {}) for each in rule.invalid]
        held = sum(entry.get("holds") is True for entry in entries)
        on_2 = sum("tf_keras" in entry.get("oracle", "") for entry in entries)
        yield f"| {rule.code} {rule.name} | {held} of {len(entries)} | {on_2} |"


def _code(text: str) -> str:
    return "`" + " ".join(text.split()).replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is."""
    for character in "\\`*_[]<|":
        text = text.replace(character, f"\\{character}")
    return text
