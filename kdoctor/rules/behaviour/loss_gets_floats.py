"""A custom loss expects integer or boolean targets, but Keras 3 passes floats."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, speller_at
from kdoctor.analysis.queries import File, files, references
from kdoctor.analysis.training.user_losses import OWN_LOSSES
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import FIRST, SECOND
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, Hole, ImportNeed, NoFix, Severity
from kdoctor.rewrite import Speller
from kdoctor.rules.behaviour._float_refusals import Wanted, wanted_by
from kdoctor.rules.behaviour._forwarded_targets import Targets, calls_in
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

_OTHER_BACKENDS = frozenset({"jax", "torch"})


@rule(
    "KD458",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(OWN_LOSSES, references(where=lambda facts, name: bool(wanted_by(name, facts)))),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such call."""
    module = file.module
    targets = Targets(module, file.facts)
    calls = dict.fromkeys(call for function in targets.functions for call in calls_in(function))
    for call in calls:
        name = module.qualified(call.func)
        if name is None or (_is_of_any_backend(name) and not _is_for_tensorflow(module)):
            continue
        for wanted in wanted_by(name, file.facts):
            given = _given(call, wanted)
            if given is None or not targets.has(given.value):
                continue
            if not module.is_guarded(call) and not _is_tried(module, call):
                yield _finding(file, call, name, given, wanted)


def _is_of_any_backend(name: str) -> bool:
    split = split_root(name)
    return split is not None and split[1].startswith("ops.")


@once
def _is_for_tensorflow(module: Module) -> bool:
    """Say whether a file is for TensorFlow: PyTorch takes floats for whole numbers."""
    return not (_OTHER_BACKENDS & module.words) and any(
        each.name.split(".")[0] == "tensorflow" for each in module.references
    )


def _is_tried(module: Module, call: cst.Call) -> bool:
    """Say whether something is done where the call fails."""
    child: cst.CSTNode = call
    for each in module.ancestors(call):
        if isinstance(each, cst.Try) and each.handlers and child is each.body:
            return True
        child = each
    return False


def _given(call: cst.Call, wanted: Wanted) -> cst.Arg | None:
    if wanted.beside is not None and argument(call, *wanted.beside) is None:
        return None
    return argument(call, wanted.parameter, wanted.place)


def _finding(file: File, call: cst.Call, name: str, given: cst.Arg, wanted: Wanted) -> Finding:
    kind = "booleans" if wanted.dtype == "bool" else "integers"
    return file.finding(
        f"Keras 3 casts the targets of a loss to float32, but `{file.source(call.func)}` needs "
        f"{kind}: {wanted.error}",
        at=given.value,
        symbol=name,
        help=f"Cast them back to {wanted.dtype}.",
        fix=_casting(file, call, name, given, wanted.dtype),
    )


def _casting(file: File, call: cst.Call, name: str, given: cst.Arg, dtype: str) -> Fix | NoFix:
    spelled, need = _cast(file.module, call, name)
    package, _, _ = spelled.rpartition(".")
    is_of_tensorflow = package and split_root(name) is None
    span = file.module.outer_span(given.value)
    type_ = f"{package}.{dtype}" if is_of_tensorflow else f'"{dtype}"'
    return file.fix(
        f"Cast them to {dtype}",
        Edit(span, (f"{spelled}(", Hole(span), f", {type_})")),
        imports=() if need is None else (need,),
    )


def _cast(module: Module, call: cst.Call, name: str) -> tuple[str, ImportNeed | None]:
    """Return how to write the function that casts, of the package that is called there."""
    if split_root(name) is not None:
        asked = next(each for each in module.references if each.call is call)
        return Speller.at(module, asked).spell("keras.ops.cast")
    speller = speller_at(module, call)
    ways = (each for each in (*SECOND, *FIRST) if name.startswith(each))
    found = [speller.spell(f"{way}cast") for way in ("tensorflow.", *ways)]
    return next((each for each in found if each[1] is None), found[0])


_COLUMN = "tf.one_hot(y_true[:, 0], 3)"
