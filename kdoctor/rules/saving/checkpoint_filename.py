"""`ModelCheckpoint` only writes `.keras` files, or `.weights.h5` for weights alone."""

from __future__ import annotations

from typing import Final

from packaging.version import Version

from kdoctor.analysis.calls import keras_version
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, Instance, constructs
from kdoctor.analysis.queries.forms import is_false
from kdoctor.analysis.queries.path_endings import but_for, in_one_piece, path_ends
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._path_endings import Ending, ending
from kdoctor.rules.saving._path_renaming import rename_to_keras
from kdoctor.rules.saving.weights_filename import BY_NAME, SAVED_WHOLE, help_for, rename_to_weights
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_TAKES_H5 = Version("3.8")
_ALSO_MODELS = (".h5", ".hdf5", ".hdf", ".ckpt", ".model", ".tf", ".weights")
_UNSAFE = "existing files, other programs and people may use the old name"


_CALLBACKS: Final = constructs(Instance(Kind.CALLBACK, "ModelCheckpoint")).passing(
    "filepath", place=0
)


def _of_models(facts: TargetFacts) -> tuple[str, ...]:
    """Return how the path of a whole model may end."""
    return (".keras", ".h5") if keras_version(facts) >= _TAKES_H5 else (".keras",)


@rule(
    "KD602",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_CALLBACKS.beside(
        path_ends(_CALLBACKS, "filepath", 0, lambda facts: but_for(*_of_models(facts)))
        | path_ends(
            _CALLBACKS.passing("save_weights_only", place=4, where=lambda form: not is_false(form)),
            "filepath",
            0,
            lambda _: in_one_piece(".weights.h5"),
        )
    ),
)
def check(callback: Call) -> Finding | None:
    """Report each callback whose path surely has a wrong ending."""
    path = callback.argument("filepath", 0)
    found = ending(callback.module, path.value if path else None)
    extension = None if found is None else found.extension
    if path is None or found is None or extension is None:
        return None
    weights = _weights_only(callback)
    if weights is None:
        is_right = (_is_right(callback.facts, found, extension, weights=e) for e in (True, False))
        return None if any(is_right) else _wrong_either_way(callback, found)
    if _is_right(callback.facts, found, extension, weights=weights):
        return None
    fix = (
        rename_to_weights(callback.module, found, path.value)
        if weights
        else _rename_to_keras(callback.module, found)
    )
    if fix == BY_NAME and extension in _of_models(callback.facts):
        fix = _save_whole(callback)
    return callback.finding(
        (
            "ValueError: When using `save_weights_only=True` in `ModelCheckpoint`, the filepath "
            "provided must end in `.weights.h5` (Keras weights format). Received: "
            f"filepath={found.shown}"
        )
        if weights
        else "ValueError: The filepath provided must end in `.keras` (Keras model format). "
        f"Received: filepath={found.shown}",
        help=f"{help_for(fix, found)}."
        if weights
        else "Use a path that ends in `.keras`, here and where the file is loaded.",
        fix=fix,
    )


def _save_whole(callback: Call) -> Fix | NoFix:
    """Return the fix that writes whole models, of which weights can be loaded by name."""
    given = callback.argument("save_weights_only", 4)
    edits = (
        None
        if given is None or given.keyword is None
        else remove_arguments(callback.module, callback.node, [given])
    )
    if not edits:
        return BY_NAME
    return callback.fix(
        "Save whole models: weights can be loaded by name from their files",
        *edits,
        unsafe_because=SAVED_WHOLE,
    )


def _wrong_either_way(callback: Call, found: Ending) -> Finding:
    return callback.finding(
        "ValueError: The filepath provided must end in `.keras` (Keras model format). Received: "
        f"filepath={found.shown}; with `save_weights_only=True` it must end in `.weights.h5`",
        help="Use a path that ends in `.keras`, or in `.weights.h5` if only the weights are saved.",
        fix=NoFix("the ending depends on whether only the weights are saved"),
    )


def _weights_only(callback: Call) -> bool | None:
    given = callback.argument("save_weights_only", 4)
    value = False if given is None else literal(given.value)
    return value if isinstance(value, bool) else None


def _is_right(facts: TargetFacts, found: Ending, extension: str, *, weights: bool) -> bool:
    if weights:
        return found.text.endswith(".weights.h5")
    return found.text.endswith(".keras") or extension in _of_models(facts)


def _rename_to_keras(module: Module, found: Ending) -> Fix | NoFix:
    """Return the fix, or why there is none."""
    old = found.extension if found.extension in _ALSO_MODELS else ""
    return rename_to_keras(module, found, old, unsafe_because=_UNSAFE)
