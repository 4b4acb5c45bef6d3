"""`ModelCheckpoint` only writes `.keras` files, or `.weights.h5` for weights alone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import (
    argument,
    instances,
    is_hidden,
    keras_version,
    literal,
    literal_of,
)
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import NOT_WRITTEN_OUT, Ending, ending, renamed
from kdoctor.rules.saving._possible_endings import but_for, in_one_piece, may_end
from kdoctor.rules.saving.weights_filename import help_for, rename_to_weights
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_TAKES_H5 = Version("3.8")
_ALSO_MODELS = (".h5", ".hdf5", ".hdf", ".ckpt", ".model", ".tf", ".weights")
_UNSAFE = "existing files, other programs and people may use the old name"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each callback whose path surely has a wrong ending."""
    for reference, call, made in instances(module, Kind.CALLBACK, facts):
        if made.cls != "ModelCheckpoint" or is_hidden(call) or module.is_guarded(call):
            continue
        path = argument(call, "filepath", 0)
        found = ending(module, path.value if path else None)
        extension = None if found is None else found.extension
        if path is None or found is None or extension is None:
            continue
        weights = _weights_only(call)
        if weights is None:
            if not any(_is_right(facts, found, extension, weights=each) for each in (True, False)):
                yield _wrong_either_way(module, reference, call, found)
            continue
        if _is_right(facts, found, extension, weights=weights):
            continue
        shown = _shown(found)
        fix = (
            rename_to_weights(module, found, path.value)
            if weights
            else _rename_to_keras(module, found)
        )
        wanted = ".weights.h5" if weights else ".keras"
        yield rule.finding(
            module.place(call),
            (
                "ValueError: When using `save_weights_only=True` in `ModelCheckpoint`, the "
                "filepath provided must end in `.weights.h5` (Keras weights format). Received: "
                f"filepath={shown}"
            )
            if weights
            else "ValueError: The filepath provided must end in `.keras` (Keras model format). "
            f"Received: filepath={shown}",
            symbol=reference.name,
            confidence=reference.confidence,
            help=f"{help_for(fix, found)}."
            if weights
            else f"Use a path that ends in `{wanted}`, here and where the file is loaded.",
            fix=fix,
        )


def _wrong_either_way(
    module: Module, reference: Reference, call: cst.Call, found: Ending
) -> Finding:
    return rule.finding(
        module.place(call),
        "ValueError: The filepath provided must end in `.keras` (Keras model format). Received: "
        f"filepath={_shown(found)}; with `save_weights_only=True` it must end in `.weights.h5`",
        symbol=reference.name,
        confidence=reference.confidence,
        help="Use a path that ends in `.keras`, or in `.weights.h5` if only the weights are saved.",
        fix=NoFix("the ending depends on whether only the weights are saved"),
    )


def _shown(found: Ending) -> str:
    return found.shown


def _weights_only(call: object) -> bool | None:
    given = argument(call, "save_weights_only", 4)  # type: ignore[arg-type]
    value = False if given is None else literal(given.value)
    return value if isinstance(value, bool) else None


def _is_right(facts: TargetFacts, found: Ending, extension: str, *, weights: bool) -> bool:
    if weights:
        return found.text.endswith(".weights.h5")
    takes_h5 = keras_version(facts) >= _TAKES_H5
    return found.text.endswith(".keras") or (extension == ".h5" and takes_h5)


def _rename_to_keras(module: Module, found: Ending) -> Fix | NoFix:
    """Return the fix, or why there is none."""
    old = found.extension if found.extension in _ALSO_MODELS else ""
    edits = renamed(module, found, old, ".keras")
    if not edits:
        return NOT_WRITTEN_OUT
    if why := taken(module, found, old, ".keras"):
        return why
    return Fix(
        "Change the path's ending to `.keras` throughout this file",
        edits,
        Applicability.UNSAFE,
        unsafe_because=_UNSAFE,
    )


def _may_be_wrong(quick: QuickFacts, facts: TargetFacts) -> bool:
    for called in quick.calls_of("ModelCheckpoint"):
        path = called.argument("filepath", 0)
        if path is None or not any(each.endswith(".ModelCheckpoint") for each in called.names):
            continue
        given = called.argument("save_weights_only", 4)
        weights = False if given is None else literal_of(given)
        right = (".keras", ".h5") if keras_version(facts) >= _TAKES_H5 else (".keras",)
        ends = in_one_piece(".weights.h5") if weights else but_for(*right)
        if may_end(quick, facts, called, path, ends):
            return True
    return False


rule = Rule(
    code="KD602",
    name="checkpoint-filename",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=word("ModelCheckpoint") & Trigger(_may_be_wrong),
    since="3.0",
)
