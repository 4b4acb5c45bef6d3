"""Private names of Keras: `keras.src`, `keras.api`, `keras._tf_keras`, `tensorflow.python.keras`."""  # noqa: E501 - as on its page

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.dataflow.uses import references_through
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api import ClassFamily, Presence
from kdoctor.keras_api.private_modules import missing_prefix
from kdoctor.keras_api.surface import surface_on
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import Rewrite, RewriteTable, rewrite
from kdoctor.rules.names._classes_asked_for import never_one_or
from kdoctor.rules.names._deferred_imports import deferred_import
from kdoctor.rules.names._definitions.fixes import DefinitionFixes
from kdoctor.rules.names._missing_names import form_of, imports_through, is_tried
from kdoctor.rules.names._public_names import home_of, public_names
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference, ReferenceKind

_SRC, _API, _TF = "keras.src", "keras.api", "keras._tf_keras.keras"
_PYTHON = "tensorflow.python.keras"
# What Keras imports of its own private modules gives its public names.
_KERAS_ITSELF = pattern(r"(^|/)keras/(src/|(.+/)?__init__\.py$)")
# Public names that mean a module in `keras.src`.
OTHERWISE = ("version", "visualization")
# Releases of Keras 2 that had a `keras.src`, newest first.
_OLD = ("2.15.0", "2.14.0", "2.13.1")
_NO_LONGER_MIX = (ClassFamily.LAYER, ClassFamily.MODEL, ClassFamily.OPTIMIZER)

_MOVED = "in Keras 2 it was the same object; its calls on the target were not compared"
_COPY = "the class of tf.keras is not that of this copy of Keras 2"


_Rows = dict[Reference, tuple[Rewrite, bool] | None]
"""The row for each private name that is read or imported, and whether both are the same object."""


def _root(name: str) -> str | None:
    roots = (_SRC, _API, _TF, _PYTHON)
    return next((each for each in roots if f"{name}.".startswith(f"{each}.")), None)


@rule(
    "KD104",
    severity=Severity.LEGACY,
    since="3.0",
    look_for=files(
        word("src", "api", "_tf_keras", "python"),
        references(where=lambda _, dotted: _root(dotted) is not None),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report private names once: at their import, else where they are read."""
    module, facts = file.module, file.facts
    own = _KERAS_ITSELF.search(module.unit.path.replace("\\", "/")) is not None
    private = [
        reference
        for reference in module.references
        if reference.kind in (ReferenceKind.IMPORT, ReferenceKind.LOAD)
        and _root(reference.name) not in ((None, _SRC, _API, _TF) if own else (None,))
        and reference.binding.imported.partition(".")[0] == reference.name.partition(".")[0]
        and not module.is_guarded(reference.node)
        and not is_tried(module, reference)
    ]
    rows: _Rows = {reference: _row(reference.name, facts) for reference in private}
    rows |= {each: _row_of_module(module, each, rows) for each in private if rows[each] is None}
    helpers = DefinitionFixes(module, facts, private)
    attempts = {
        each: _attempt(module, each, facts, rows, helpers)
        for each in private
        if each.kind is ReferenceKind.IMPORT and _is_private(each, facts)
    }
    stuck = [
        each
        for each, attempt in attempts.items()
        if isinstance(attempt, NoFix) and _error(each, facts)
    ]
    for reference in private:
        is_read_of_one = (
            reference.kind is ReferenceKind.LOAD and _root(reference.binding.name) is not None
        )
        if is_read_of_one and not _is_missing_here(reference, facts):
            continue  # reported at the import, or tried there
        if not _is_private(reference, facts):
            continue
        attempt = attempts.get(reference) or _attempt(module, reference, facts, rows, helpers)
        if isinstance(attempt, NoFix):
            attempt = deferred_import(module, facts, reference, stuck) or attempt
        yield _finding(file, reference, attempt)


def _attempt(
    module: Module,
    reference: Reference,
    facts: TargetFacts,
    rows: _Rows,
    helpers: DefinitionFixes,
) -> Fix | NoFix:
    if isinstance(reference.node, cst.ImportStar):
        return NoFix("kdoctor cannot tell which names a star import was meant to bring in")
    own = helpers.attempt(reference)
    if own is not None:
        return own
    if _loses_a_use(module, reference, facts, rows[reference]):
        return NoFix("not everything that is read from it exists under its public name")
    attempt = _by_own_row(module, reference, facts, rows, helpers)
    attempt = never_one_or(module, facts, reference, attempt)
    if isinstance(attempt, NoFix):
        return NoFix("no public name of the target is known to be the same object")
    if attempt.applicability is Applicability.SAFE or attempt.unsafe_because:
        return attempt
    return replace(attempt, unsafe_because=_COPY if _root(reference.name) == _PYTHON else _MOVED)


def _by_own_row(
    module: Module,
    reference: Reference,
    facts: TargetFacts,
    rows: _Rows,
    helpers: DefinitionFixes,
) -> Fix | NoFix:
    """Apply the row of a name, or of each of its uses: not that of a package which it is in.

    `keras.src.backend` may well be `keras.backend` here; `keras.backend.common` there is not.
    """
    found = rows.get(reference)
    rated = check.applicability() if found is not None and found[1] else Applicability.UNSAFE
    return RewriteTable([found[0]] if found else [], facts.signature).attempt(
        module,
        reference,
        lambda _: rated,
        lambda use: (
            helpers.attempt(use)
            or never_one_or(module, facts, use, _by_own_row(module, use, facts, rows, helpers))
        ),
    )


def _finding(file: File, reference: Reference, attempt: Fix | NoFix) -> Finding:
    facts = file.facts
    error = _error(reference, facts)
    why = f"does not exist: {error}" if error else _why(reference, facts)
    return file.finding(
        f"`{reference.name}` {why}",
        at=reference.node,
        symbol=reference.name,
        confidence=reference.confidence,
        severity=_severity(reference, facts, error),
        help=f"{attempt.title}." if isinstance(attempt, Fix) else "",
        fix=attempt,
    )


def _severity(reference: Reference, facts: TargetFacts, error: str) -> Severity:
    if error:
        return Severity.ERROR
    return Severity.CHANGE if _no_longer_mixes(reference, facts) else Severity.LEGACY


def _why(reference: Reference, facts: TargetFacts) -> str:
    if _no_longer_mixes(reference, facts):
        return (
            "is a copy of Keras 2 that TensorFlow abandoned: its models can no longer be trained, "
            "and Keras 3 rejects its layers and optimizers"
        )
    if _root(reference.name) == _PYTHON:
        return "is private: a copy of Keras 2 that TensorFlow abandoned"
    return "is private, and any release may move it"


def _no_longer_mixes(reference: Reference, facts: TargetFacts) -> bool:
    if _root(reference.name) != _PYTHON or not facts.runs_keras_3("tf.keras"):
        return False
    leaf = reference.name.rpartition(".")[2]
    public = _of_the_copy(reference.name, facts)
    family = facts.lookup(f"tensorflow.{public}").family if public else None
    return family in _NO_LONGER_MIX or leaf in ("Layer", "Model", "Sequential")


def _is_private(reference: Reference, facts: TargetFacts) -> bool:
    """Say whether no other rule speaks of it: KD103 of `tf.python`, KD102 of what is missing."""
    if _root(reference.name) != _PYTHON:
        return True
    by_import = imports_through(reference, "tensorflow.python")
    return by_import and facts.lookup(reference.name).presence is not Presence.MISSING


def _error(reference: Reference, facts: TargetFacts) -> str:
    """Return what Python says of a private name that surely is not there, else ""."""
    root = _root(reference.name)
    if root == _API and not _has_api(facts):
        missing = _API
    elif root == _SRC:
        missing = missing_prefix(reference.name, facts.target.keras_version) or ""
    else:
        return ""
    if not missing:
        return ""
    owner, _, leaf = missing.rpartition(".")
    match form_of(reference):
        case "attribute":
            return f"AttributeError: module '{owner}' has no attribute '{leaf}'"
        case "from-import" if reference.name == missing:
            return f"ImportError: cannot import name '{leaf}' from '{owner}'"
        case _:
            return f"ModuleNotFoundError: No module named '{missing}'"


def _is_missing_here(reference: Reference, facts: TargetFacts) -> bool:
    """Say whether something that is read off a private import is what is not there."""
    release, bound = facts.target.keras_version, reference.binding.name
    missing = missing_prefix(reference.name, release) or ""
    return missing.startswith(f"{bound}.") and missing_prefix(bound, release) is None


def _has_api(facts: TargetFacts) -> bool:
    surface = surface_on("keras", facts.target)
    entry = surface.entry("layers") if surface else None
    return surface is None or entry is None or surface.home(entry).startswith(_API)


# The public name


def _row(name: str, facts: TargetFacts) -> tuple[Rewrite, bool] | None:
    """Return the row for a private name, and whether both are the same object."""
    root = _root(name)
    assert root is not None
    rest = name.removeprefix(root).removeprefix(".")
    if root == _PYTHON:
        public = _of_the_copy(name, facts)
        if public is None or facts.lookup(f"tensorflow.{public}").presence is Presence.MISSING:
            return None  # the class may be there, and what is read of it gone
        return rewrite(f"keras.{rest}".rstrip("."), public), False
    if root == _TF:
        new = f"tensorflow.keras.{rest}".rstrip(".")
        there = facts.lookup(new).presence is Presence.EXISTS
        return (rewrite(name, new), True) if there else None
    if root == _API:
        there = bool(rest) and facts.lookup(f"keras.{rest}").presence is Presence.EXISTS
        return (rewrite(name, f"keras.{rest}"), True) if there else None
    return _of_src(name, rest, facts)


def _row_of_module(module: Module, imported: Reference, rows: _Rows) -> tuple[Rewrite, bool] | None:
    """Return the row for a module of `keras.src`, all uses of which are public below `keras`."""
    if imported.kind is not ReferenceKind.IMPORT or _root(imported.name) != _SRC:
        return None
    uses = [
        (each, rows.get(each))  # none for what is tried only: it asks for the private module
        for each in _uses_of(module, imported)
    ]
    public = f"keras{imported.name.removeprefix(_SRC)}"
    for use, row in uses:
        if row is None or row[0].right != f"keras{use.name.removeprefix(_SRC)}":
            return None
    return (rewrite(imported.name, public), True) if uses else None


def _loses_a_use(
    module: Module, imported: Reference, facts: TargetFacts, row: tuple[Rewrite, bool] | None
) -> bool:
    """Say whether something that is read off an import is not there under its public name."""
    if imported.kind is not ReferenceKind.IMPORT or row is None:
        return False
    root = "tensorflow." if _root(imported.name) == _PYTHON else ""
    public = f"{root}{row[0].right.removeprefix(root)}"
    return any(
        facts.lookup(f"{public}{each.name.removeprefix(imported.name)}").presence
        is Presence.MISSING
        for each in _uses_of(module, imported)
    )


def _uses_of(module: Module, imported: Reference) -> list[Reference]:
    """Return what is read by way of an import."""
    found = references_through(module, imported.binding)
    return [each for each in found if each is not imported]


def _of_src(name: str, rest: str, facts: TargetFacts) -> tuple[Rewrite, bool] | None:
    at_home = public_names("keras", name, facts.target)
    if at_home:
        return rewrite(name, f"keras.{at_home[0]}"), True
    if _is_public(rest, facts) and rest.partition(".")[0] not in OTHERWISE:
        return rewrite(name, f"keras.{rest}"), True
    for release in _OLD:
        for old in public_names("keras", name, facts.at_release(release).target):
            found = facts.lookup(f"keras.{old}")
            if found.presence is Presence.EXISTS:
                return rewrite(name, f"keras.{old}"), False
    return None


def _is_public(name: str, facts: TargetFacts) -> bool:
    """Say whether the target has a class or function under a name relative to the root."""
    return name in public_names("keras", home_of("keras", name, facts.target), facts.target)


def _of_the_copy(name: str, facts: TargetFacts) -> str | None:
    """Return the name of `tf.keras` that a name of the copy had: by itself, or by its class."""
    rest = name.removeprefix(_PYTHON).removeprefix(".")
    if not rest:
        return "keras"
    found = facts.lookup(f"tensorflow.keras.{rest}")
    if found.presence is Presence.EXISTS:
        return f"keras.{rest}"
    if found.moved_to:
        return found.moved_to[0].removeprefix("tensorflow.")
    under_keras = facts.lookup(f"keras.{rest}")
    if under_keras.moved_to:
        return under_keras.moved_to[0]
    leaf = rest.rpartition(".")[2]
    same = (each for each in found.suggestions if each.endswith(f".{leaf}"))
    first = next((each for each in same if leaf[:1].isupper() and ".legacy." not in each), None)
    return first.removeprefix("tensorflow.") if first else None
