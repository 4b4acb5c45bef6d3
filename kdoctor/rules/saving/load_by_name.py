"""`load_weights(by_name=…)` only works for legacy HDF5 files.

## What it does
Reports `by_name=` with a path that ends in `.weights.h5` or `.keras`, and `by_name` passed by
position.

## Why it breaks
Files of Keras 3 are read by the model's structure: `ValueError: `by_name` only supports loading
legacy '.h5' or '.hdf5' files. Received: a.weights.h5`, whatever its value. For `.h5` and `.hdf5`
files, `by_name=True` works as before. The second positional argument was `by_name` and is now
`skip_mismatch`: `load_weights("a.h5", True)` reads by structure and skips weights that do not
match.

## What to write instead
Leave out `by_name=False`. Instead of `by_name=True`, build the same model, or load the whole file
into the old model, and copy the layers that you want:
`new.get_layer(n).set_weights(old.get_layer(n).get_weights())`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21; the old order of the parameters on Keras 2.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden
from kdoctor.analysis.queries import calls
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.model import Edit, Finding, NoFix, Severity, Span
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._save_and_load_calls import FileUse, file_uses
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_NEW_FILES = (".weights.h5", ".keras")
_ERROR = "ValueError: `by_name` only supports loading legacy '.h5' or '.hdf5' files. Received: "


@rule(
    "KD606",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("load_weights").beside(
        keyword("by_name") | calls("load_weights", on=Kind.MODEL).passing("", place=1).trigger
    ),
)
def check(found: FileUse) -> Iterator[Finding]:
    """Report each ``by_name`` that is refused or taken for something else."""
    if is_hidden(found.call):
        return
    given, ending = argument(found.call, "by_name"), found.ending
    is_new = ending is not None and ending.text.endswith(_NEW_FILES)
    if given is not None and ending is not None and is_new and literal(given.value) is not None:
        yield _refused(found, given, ending.shown)
    by_position = [each for each in found.call.args if each.keyword is None]
    if len(by_position) > 1:
        yield _shifted(found, by_position)


def _refused(found: FileUse, given: cst.Arg, shown: str) -> Finding:
    needless = literal(given.value) is False
    edits = remove_arguments(found.module, found.call, [given]) if needless else None
    return found.finding(
        f"{_ERROR}{shown}",
        at=given,
        symbol=f"{found.symbol}(by_name)",
        help="Leave it out."
        if needless
        else "Load the weights into the model they were saved from, and copy them layer by "
        "layer: `new.get_layer(name).set_weights(old.get_layer(name).get_weights())`.",
        fix=found.fix("Leave out `by_name=`", *edits)
        if edits
        else NoFix(
            "there is a comment next to it"
            if needless
            else "only the names in the file tell which layers are loaded"
        ),
    )


def _shifted(found: FileUse, by_position: list[cst.Arg]) -> Finding:
    names = ("by_name", "skip_mismatch")
    starts = [found.module.outer_span(each.value).start for each in by_position[1:]]
    return found.finding(
        "the second parameter of `load_weights` was `by_name` and is `skip_mismatch` now",
        at=by_position[1],
        symbol=f"{found.symbol}(by_name)",
        severity=Severity.CHANGE,
        help="Write `by_name=`.",
        fix=found.fix(
            "Write `by_name=`",
            *(
                Edit(Span(start, start), (f"{name}=",))
                for name, start in zip(names, starts, strict=False)
            ),
            unsafe_because="code written for Keras 2.13 or later means `skip_mismatch`",
        ),
    )


_MODEL = (
    "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), "
    "keras.layers.Dense(1, name='d')])\n"
)

VALID = [
    _MODEL + "model.load_weights('a.h5', by_name=True)\nmodel.load_weights('a.weights.h5')",
    _MODEL + "model.load_weights(path, by_name=True)",
    _MODEL + "model.load_weights('a.weights.h5', skip_mismatch=True)",
    _MODEL + "model.load_weights('a.weights.h5', by_name=None)",
    "import tf_keras\ntf_keras.Sequential().load_weights('a.weights.h5', by_name=True)",
]
INVALID = [
    Example(
        before=_MODEL + "model.save_weights('a.weights.h5')\n"
        "model.load_weights('a.weights.h5', by_name=False)",
        after=_MODEL + "model.save_weights('a.weights.h5')\nmodel.load_weights('a.weights.h5')",
        raises=f"{_ERROR}a.weights.h5",
    ),
    Example(
        before=_MODEL + "model.save_weights('a.weights.h5')\n"
        "model.load_weights('a.weights.h5', by_name=True)",
        raises=f"{_ERROR}a.weights.h5",
    ),
    Example(
        before=_MODEL + "model.save('a.h5')\nmodel.load_weights('a.h5', True)",
        after=_MODEL + "model.save('a.h5')\nmodel.load_weights('a.h5', by_name=True)",
        unsafe=True,
    ),
]
