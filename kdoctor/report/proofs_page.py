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

Each rewrite below was run on generated inputs: its left side on the Keras 2 (or TensorFlow) that it
comes from, its right side on Keras 3, with the same inputs (floats, bools, 32- and 64-bit integers,
ranks 0 to 4, NaN, infinities, empty arrays), in every mode in which such code runs. Values, dtypes,
shapes and gradients were compared, and so was the kind of object that each side returns: a tensor,
an array, a NumPy number or a Python number.

- A fix is *safe* if its rewrite **holds on TensorFlow**, the backend of code that comes from
  Keras 2. Differences on another backend are listed here and by `kdoctor rules`.
- The numbers in a table count the runs in which both sides were compared: eagerly, inside a
  function (`tf.function`, `jax.jit`), and symbolically, as in a functional model; on TensorFlow and
  symbolically also with an unknown batch size; on TensorFlow also with all sizes unknown, and with
  an unknown rank.
- On JAX and PyTorch fewer of the same inputs are used. Differences that the framework itself causes
  are *explained* and counted: there Keras 3 computes in 32 bits whatever the input dtype, and the
  gradients at NaN, at infinities, at zero and between equal numbers differ. On JAX, 64-bit arrays
  are narrowed for both sides, and gradients are compared where the code is compiled.

The proofs do not cover:

- **Aliasing.** Whether a result shares memory with an argument is checked eagerly on TensorFlow,
  and not in graphs. On PyTorch a result often shares memory where Keras 2 made a copy: after
  `cast`, `reshape`, `transpose`, `expand_dims`, `squeeze` and `slice` of a variable, the result
  changes when the variable does. On JAX the result of `stop_gradient` on an array does; none of
  the other functions (a dozen, tried by hand) does.
- **GPUs and XLA.** Both sides run on a CPU, TensorFlow without XLA. Inputs that Keras 2 rejects
  there are not compared, for example an index out of bounds, which gives zeros on a GPU and the
  nearest row with XLA. So `K.gather` with computed indices counts as safe: for a negative index,
  Keras 2 raises on a CPU, and Keras 3 counts from the end. If a negative index is written in the
  code, the fix is not safe.
- **Random and sparse values.** Random functions are run eagerly, and their distributions are
  compared. Sparse tensors are tried on TensorFlow only.
"""


def proofs_page(rules: Sequence[Rule], record: Record) -> str:
    """Return the text of docs/proofs.md."""
    lines = [_INTRODUCTION, *_summary(rules, record)]
    shown: set[str] = set()
    for rule in rules:
        rows = [row for row in rule.rewrites if row.id not in shown]
        shown.update(row.id for row in rows)
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
    """Yield a table of rewrites with their result on each backend, and the notes below it."""
    notes: list[str] = []
    yield f"| rewrite | {' | '.join(BACKENDS.values())} | |"
    yield f"|---|{'---|' * len(BACKENDS)}---|"
    for row in rows:
        entry = record.get(row.id)
        found = [Verdict(backend) for backend in BACKENDS] if entry is None else verdicts(entry)
        said = [*remarks(entry or {}), *(note for each in found for note in each.notes())]
        # The old side is named only if it was not Keras 2 itself.
        said = [each for each in said if not each.startswith("old side: tf_keras 2.21.0")]
        number = ""
        if said:
            notes.append("; ".join(said))
            number = f"[{len(notes)}]"
        asked = "" if row.when is None else row.when.condition
        guard = f"<br>where {_code(asked)}" if asked else ""
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
    yield "The examples of the rules are run too: the old code must raise the error that the rule"
    yield "names, and the new code must run and pass the example's check."
    yield ""
    yield "| rule | examples that hold | also run on Keras 2 |"
    yield "|---|---|---|"
    for rule in rules:
        entries = [record.get(each.id, {}) for each in rule.invalid]
        held = sum(entry.get("holds") is True for entry in entries)
        on_2 = sum("tf_keras" in entry.get("oracle", "") for entry in entries)
        yield f"| {rule.code} {rule.name} | {held} of {len(entries)} | {on_2} |"


def _code(text: str) -> str:
    return "`" + " ".join(text.split()).replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    """Escape text for Markdown."""
    for character in "\\`*_[]<|":
        text = text.replace(character, f"\\{character}")
    return text
