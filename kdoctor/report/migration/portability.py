"""Section of the page: what couples the code to TensorFlow."""

from __future__ import annotations

from kdoctor.progress import CouplingKind, CouplingUse, Overview
from kdoctor.report.migration import charts
from kdoctor.report.migration.elements import (
    Content,
    Markup,
    code,
    element,
    folded,
    join,
    listed,
    table,
)
from kdoctor.report.summary import count

_MAX_OPEN_ROWS = 20
_KINDS = {
    CouplingKind.KERAS: join(
        "the same Keras 3, imported from TensorFlow: ", code("kdoctor fix --namespace keras"),
        " moves what both have",
    ),
    CouplingKind.KERAS_2: join("for code not migrated yet; it has no other backend"),
    CouplingKind.OWN: join(
        "functions and classes of TensorFlow: ", code("keras.ops"), " has many of them; ",
        code("tf.data"), " can feed Keras on every backend, but needs TensorFlow installed",
    ),
    CouplingKind.PACKAGE: join("packages named ", code("tensorflow_…")),
    CouplingKind.BACKEND: join(
        "functions that ", code("keras.backend"), " had while TensorFlow was the only backend, "
        "removed in Keras 3",
    ),
}  # fmt: skip


def portability(overview: Overview) -> Markup:
    """Return the section, nothing where no file imports Keras."""
    found = overview.portability
    if not found.files:
        return Markup()
    free, by_root, backend = len(found.free), len(found.by_root), len(found.backend_only)
    score = f"{free} of the {count(found.files, 'file')} that import Keras"
    parts: list[Content] = [
        element(
            "p",
            element("strong", f"{found.percent} %"),
            f": {score} import nothing from TensorFlow.",
        ),
    ]
    if by_root:
        parts.append(
            element(
                "p",
                f"{count(by_root, 'file')} more would not either, if imports of ",
                code("tf.keras"),
                " were moved to ",
                code("keras"),
                ".",
            )
        )
    if backend:
        calls = "calls" if backend == 1 else "call"
        parts.append(
            element(
                "p",
                f"Of those, {backend} still {calls} functions of the old ",
                code("keras.backend"),
                ".",
            )
        )
    if found.ties:
        parts.append(element("h3", "Couplings"))
        parts.append(_ties(found.ties, found.files))
    files = [
        ("Files that import nothing from TensorFlow", found.free),
        ("Files that only need tf.keras moved", found.by_root),
    ]
    parts += (
        folded(f"{title}: {len(paths)}", listed([*map(code, paths)]))
        for title, paths in files
        if paths
    )
    parts.append(_definition())
    return join(*parts)


def _ties(ties: tuple[CouplingUse, ...], files: int) -> Markup:
    parts: list[Content] = []
    for kind, meaning in _KINDS.items():
        rows = [_row(use, files) for use in ties if use.tie.kind is kind]
        if not rows:
            continue
        caption = join(element("strong", _sentence(kind)), ": ", meaning)
        parts.append(_table(rows[:_MAX_OPEN_ROWS], caption))
        rest = rows[_MAX_OPEN_ROWS:]
        if rest:
            parts.append(folded(f"{len(rest)} more", _table(rest, caption)))
    return join(*parts)


def _table(rows: list[tuple[Content, ...]], caption: Markup) -> Markup:
    return table(("What", "Files", "Uses"), rows, caption)


def _row(use: CouplingUse, files: int) -> tuple[Content, ...]:
    number = len(use.files)
    name = folded(code(use.tie.name), listed([*map(code, use.files)]))
    return (join(name, charts.share(number, files)), number, use.uses)


def _definition() -> Markup:
    return element(
        "p",
        "The score is the share of the files importing Keras, under any root, in which no import "
        "and no use refers to ",
        code("tensorflow"),
        ", to a package ",
        code("tensorflow_…"),
        " or to ",
        code("tf_keras"),
        ". Names are traced through the project's own modules. Not counted: imports with a working "
        "fallback, code unreachable on the target, and annotations that Python does not evaluate. "
        "Imports by a name in a string are not detected. A bar is the share of the files that "
        "import Keras.",
        class_="quiet",
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
