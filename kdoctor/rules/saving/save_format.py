"""`save_format=` was removed: the ending of the path decides the format."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries.conditions import keyword
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._path_renaming import renaming_edits
from kdoctor.rules.saving._save_and_load_calls import FileUse, file_uses, is_same_path, named_format
from kdoctor.rules.saving._savedmodel_paths import reads_of_saved_models
from kdoctor.syntax.literals import literal

_MODEL_FILES = (".h5", ".hdf5", ".keras")
_VALUE_ERROR = (
    "ValueError: The `save_format` argument is deprecated in Keras 3. Please remove this argument "
    "and pass a file path with either `.keras` or `.h5` extension."
)
_TYPE_ERROR = "TypeError: Model.save_weights() got an unexpected keyword argument 'save_format'"
_EXPORT = "Write `.save('name.keras')`, or `.export('folder')` for a SavedModel to serve."


@rule(
    "KD603",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("save", "save_weights").beside(keyword("save_format")),
)
def check(found: FileUse) -> Finding | None:
    """Report each ``save_format=``."""
    given = named_format(found.module, found.use)
    return None if given is None else _finding(found, given)


def _finding(found: FileUse, given: cst.Arg) -> Finding:
    use = found.use
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
    return found.finding(
        message,
        at=given,
        symbol=f"{found.symbol}(save_format)",
        severity=severity,
        help=_EXPORT
        if use.what == "save"
        else "Leave it out, and use a path that ends in `.weights.h5`.",
        fix=_fix(found, given),
    )


def _fix(found: FileUse, given: cst.Arg) -> Fix | NoFix:
    module, use = found.module, found.use
    edits = remove_arguments(module, use.call, [given])
    if edits is None:
        return NoFix("there is a comment next to it")
    title = "Leave out `save_format=`"
    extension = None if use.ending is None else use.ending.extension
    if use.ending is None or extension is None:
        return NoFix("the ending of the path is not known here")
    if use.what == "save_weights":
        if not use.ending.text.endswith(".weights.h5"):
            # Where the path is renamed too, this is half of the work: KD601 does the other.
            return found.fix(title, *edits, unsafe_because="the path must end in `.weights.h5`")
        return found.fix(title, *edits)
    wanted = {"h5": ".h5", "keras": ".keras", "tf": ".keras"}.get(str(literal(given.value)))
    if extension in _MODEL_FILES:
        same = wanted == extension or (wanted == ".h5" and extension == ".hdf5")
        # Only literals say that nothing but the warning changes.
        return found.fix(
            title,
            *edits,
            unsafe_because=""
            if same
            else "the ending of the path names another format than the argument",
        )
    if wanted is None:
        return NoFix("kdoctor cannot tell which format is meant")
    if any(is_same_path(module, use, each) for each in reads_of_saved_models(module)):
        return NoFix("this file reads a SavedModel there: write `.export(…)`")
    renaming = renaming_edits(module, use.ending, "", wanted)
    if isinstance(renaming, NoFix):
        return renaming
    return found.fix(
        f"Change the path's ending to `{wanted}` throughout this file, and leave out "
        "`save_format=`",
        *edits,
        *renaming,
        unsafe_because="whatever reads the folder under its old name must be changed too; for a "
        "SavedModel to serve or convert, write `.export(…)` instead",
    )
