"""Old imports of Keras through TensorFlow that no longer work: `tf.contrib`, `compat.v1`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import Rewrite, RewriteTable, rewrite
from kdoctor.rules.names._backend.rewrite_call import help_for
from kdoctor.rules.names._deduplicate import told_once
from kdoctor.rules.names._definitions.fixes import DefinitionFixes
from kdoctor.rules.names._definitions.keras_2_helpers import helper_of
from kdoctor.rules.names._missing_names import FACADES, imports_through
from kdoctor.rules.names._successors import told_by_hand
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference, ReferenceKind

_PYTHON = "tensorflow.python.keras"
_CONTRIB = (
    "tensorflow.contrib.keras.python.keras",
    "tensorflow.contrib.keras.api.keras",
    "tensorflow.contrib.keras",
)
_COMPAT_PYTHON = tuple(f"tensorflow.compat.{each}.python.keras" for each in ("v1", "v2"))
_ANOTHER_COPY = "it is not the same copy of Keras, and the two were not compared"


class _Closed(Struct, frozen=True):
    """A way that is closed: the name, what stands behind the root, and what Python says."""

    reference: Reference
    rest: str
    error: str


def _is_of_an_old_facade(_: TargetFacts, dotted: str) -> bool:
    roots = (*FACADES, *_COMPAT_PYTHON, *_CONTRIB, _PYTHON)
    return any(f"{dotted}.".startswith(f"{root}.") for root in roots)


_OLD = references(where=_is_of_an_old_facade)


@rule(
    "KD103",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(word("compat", "contrib", "python"), _OLD),
)
def check(file: File) -> Iterator[Finding]:
    """Report each import of an old facade, and each name that is read off a hidden one."""
    module, facts = file.module, file.facts
    found = {
        each.reference: closed
        for each in _OLD.find(module, facts)
        if each.reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and each.reference.binding.imported.partition(".")[0] == "tensorflow"
        and (closed := _closed(each.reference)) is not None
    }
    rows = {row: None for each in found.values() if (row := _row(each, facts)) is not None}
    table = RewriteTable(rows, facts.signature)
    helpers = DefinitionFixes(module, facts, found)
    for reference in told_once(found):
        yield _finding(file, found[reference], _attempt(module, table, reference, helpers))


def _attempt(
    module: Module, table: RewriteTable, reference: Reference, helpers: DefinitionFixes
) -> Fix | NoFix:
    if isinstance(reference.node, cst.ImportStar):
        return NoFix("kdoctor cannot tell which names a star import was meant to bring in")

    def of_a_use(use: Reference) -> Fix | NoFix:
        own = helpers.attempt(use)
        return own or table.attempt(module, use, lambda _: Applicability.UNSAFE)

    attempt = helpers.attempt(reference) or table.attempt(
        module, reference, lambda _: Applicability.UNSAFE, of_a_use
    )
    if isinstance(attempt, Fix):
        return replace(
            attempt,
            applicability=Applicability.UNSAFE,
            unsafe_because=attempt.unsafe_because or _ANOTHER_COPY,
        )
    if not table.rows_for(reference.name) and helper_of(reference.name) is None:
        return NoFix("the target's `tf.keras` has no such name")
    return attempt


def _finding(file: File, closed: _Closed, attempt: Fix | NoFix) -> Finding:
    reference = closed.reference
    return file.finding(
        f"`{reference.name}` is not available: {closed.error}",
        at=reference.node,
        symbol=reference.name,
        confidence=reference.confidence,
        help=_help(file.facts, closed, attempt),
        fix=attempt,
    )


def _help(facts: TargetFacts, closed: _Closed, attempt: Fix | NoFix) -> str:
    """Return where the name is now, or what to write where the target has none."""
    if isinstance(attempt, Fix):
        return f"{attempt.title}."
    new = f"tensorflow.keras.{closed.rest}".rstrip(".")
    if facts.lookup(new).presence is not Presence.MISSING:
        return f"Look for it in `{new}`."
    owner, _, leaf = closed.rest.rpartition(".")
    if owner == "backend":
        return help_for(leaf, attempt)
    text = told_by_hand([closed.rest])
    return f"{text}." if text else ""


def _closed(reference: Reference) -> _Closed | None:
    name = reference.name
    for root in (*FACADES, *_COMPAT_PYTHON, *_CONTRIB):
        if f"{name}.".startswith(f"{root}."):
            rest = name.removeprefix(root).removeprefix(".")
            missing = _first_missing(root)
            if imports_through(reference, missing):
                error = f"ModuleNotFoundError: No module named '{missing}'"
                return _Closed(reference, rest, error)
            if root in FACADES:
                return None
            return _Closed(reference, rest, _says(reference, missing))
    if f"{name}.".startswith(f"{_PYTHON}.") and reference.binding.name == "tensorflow":
        if reference.kind is ReferenceKind.IMPORT:
            return None
        rest = name.removeprefix(_PYTHON).removeprefix(".")
        return _Closed(reference, rest, _says(reference, "tensorflow.python"))
    return None


def _first_missing(root: str) -> str:
    """Return the first part of a root that is not there."""
    if root in _CONTRIB:
        return "tensorflow.contrib"
    return root if root in FACADES else root.removesuffix(".keras")


def _says(reference: Reference, missing: str) -> str:
    owner, _, leaf = missing.rpartition(".")
    if reference.kind is ReferenceKind.IMPORT and isinstance(
        reference.binding.statement, cst.ImportFrom
    ):
        return f"ImportError: cannot import name '{leaf}' from '{owner}'"
    module = owner.replace("tensorflow.compat", "tensorflow._api.v2.compat")
    return f"AttributeError: module '{module}' has no attribute '{leaf}'"


def _row(closed: _Closed, facts: TargetFacts) -> Rewrite | None:
    """Return the row for the same name of `tf.keras`, where it has one or another for it."""
    name = f"tensorflow.keras.{closed.rest}".rstrip(".")
    found = facts.lookup(name)
    if found.presence is Presence.MISSING:
        others = [*found.moved_to]
        others += [f"tensorflow.{each}" for each in facts.lookup(name.partition(".")[2]).moved_to]
        others += [each for each in found.suggestions if _is_the_same_class(found.name, each)]
        name = next((each for each in others if facts.lookup(each).presence is Presence.EXISTS), "")
    if not name or facts.lookup(name).presence is not Presence.EXISTS:
        return None
    old = closed.reference.name
    split = split_root(old)
    return rewrite(f"keras.{split[1]}".rstrip(".") if split else old, name)


def _is_the_same_class(name: str, other: str) -> bool:
    leaf = name.rpartition(".")[2]
    return leaf[:1].isupper() and other.endswith(f".{leaf}") and ".legacy." not in other
