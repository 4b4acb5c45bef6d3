"""`save_format=` was removed: the ending of the path decides the format."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import argument, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import keyword
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import NOT_WRITTEN_OUT, renamed
from kdoctor.rules.saving._possible_endings import uses
from kdoctor.rules.saving._save_and_load_calls import PathUse, is_same_path, method_uses, saves
from kdoctor.rules.saving._savedmodel_paths import reads_of_saved_models
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts

_MODEL_FILES = (".h5", ".hdf5", ".keras")
_VALUE_ERROR = (
    "ValueError: The `save_format` argument is deprecated in Keras 3. Please remove this argument "
    "and pass a file path with either `.keras` or `.h5` extension."
)
_TYPE_ERROR = "TypeError: Model.save_weights() got an unexpected keyword argument 'save_format'"
_EXPORT = "Write `.save('name.keras')`, or `.export('folder')` for a SavedModel to serve."
_COMMENT = NoFix("there is a comment beside it")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each ``save_format=``."""
    for use in chain(saves(module), method_uses(module, "save_weights")):
        given = argument(use.call, "save_format")
        if given is None or module.is_guarded(use.call):
            continue
        yield _finding(module, facts, use, given)


def _finding(module: Module, facts: TargetFacts, use: PathUse, given: cst.Arg) -> Finding:
    if use.what == "save_weights":
        message, severity = _TYPE_ERROR, Severity.ERROR
    elif use.ending is None or use.ending.extension is None:
        message = (
            "`save_format=` only works with a path that ends in `.h5` or `.keras`; "
            f"otherwise {_VALUE_ERROR}"
        )
        severity = Severity.LEGACY
    elif use.ending.extension in _MODEL_FILES:
        message = (
            "`save_format=` is deprecated, and Keras warns: the ending of the path decides "
            "the format"
        )
        severity = Severity.LEGACY
    else:
        message, severity = _VALUE_ERROR, Severity.ERROR
    fix = _fix(module, facts, use, given)
    return rule.finding(
        module.place(given),
        message,
        symbol=f"{use.symbol}(save_format)",
        confidence=use.confidence,
        severity=severity,
        help=_EXPORT
        if use.what == "save"
        else "Leave it out, and use a path that ends in `.weights.h5`.",
        fix=fix,
    )


def _fix(module: Module, facts: TargetFacts, use: PathUse, given: cst.Arg) -> Fix | NoFix:
    edits = remove_arguments(module, use.call, [given])
    if edits is None:
        return _COMMENT
    extension = None if use.ending is None else use.ending.extension
    if use.ending is None or extension is None:
        return NoFix("the ending of the path is not known here")
    if use.what == "save_weights":
        if not use.ending.text.endswith(".weights.h5"):
            # Where the path is renamed too, this is half of the work: KD601 does the other.
            return _dropped(edits, Applicability.UNSAFE, "the path must end in `.weights.h5`")
        return _dropped(edits, _proven(facts))
    wanted = {"h5": ".h5", "keras": ".keras", "tf": ".keras"}.get(str(literal(given.value)))
    if extension in _MODEL_FILES:
        same = wanted == extension or (wanted == ".h5" and extension == ".hdf5")
        # Only literals say that nothing but the warning changes.
        return _dropped(
            edits,
            _proven(facts) if same else Applicability.UNSAFE,
            "" if same else "the ending of the path names another format than the argument",
        )
    if wanted is None:
        return NoFix("kdoctor cannot tell which format is meant")
    if any(is_same_path(module, use, each) for each in reads_of_saved_models(module)):
        return NoFix("this file reads a SavedModel there: write `.export(…)`")
    renaming = renamed(module, use.ending, "", wanted)
    if not renaming:
        return NOT_WRITTEN_OUT
    if why := taken(module, use.ending, "", wanted):
        return why
    return Fix(
        f"Change the path's ending to `{wanted}` throughout this file, and leave out "
        "`save_format=`",
        (*edits, *renaming),
        Applicability.UNSAFE,
        unsafe_because="whatever reads the folder under its old name must be changed too; for a "
        "SavedModel to serve or convert, write `.export(…)` instead",
    )


def _proven(facts: TargetFacts) -> Applicability:
    return facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))


def _dropped(edits: list[Edit], rating: Applicability, because: str = "") -> Fix:
    return Fix("Leave out `save_format=`", tuple(edits), rating, unsafe_because=because)


def _passes_it(_: QuickFacts, __: TargetFacts, called: QuickCall) -> bool:
    return "save_format" in called.keywords


rule = Rule(
    code="KD603",
    name="save-format",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword("save_format") & uses(_passes_it, "save", "save_model", "save_weights"),
    since="3.0",
)
