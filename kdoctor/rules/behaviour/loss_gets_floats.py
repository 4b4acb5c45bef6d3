"""A custom loss expects integer or boolean targets, but Keras 3 passes floats."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.user_losses import OWN_LOSSES
from kdoctor.analysis.triggers import calls
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import FIRST, SECOND
from kdoctor.memoize import once
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, ImportNeed, Severity
from kdoctor.rewrite import Speller
from kdoctor.rules.behaviour._float_refusals import Wanted, wanted_by
from kdoctor.rules.behaviour._forwarded_targets import Targets, calls_in
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module

_OTHER_BACKENDS = frozenset({"jax", "torch"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    told: set[cst.CSTNode] = set()
    targets = Targets(module, facts)
    for function in targets.functions:
        for call in calls_in(function):
            if call in told:
                continue
            told.add(call)
            name = module.qualified(call.func)
            if name is None or (_is_of_any_backend(name) and not _is_for_tensorflow(module)):
                continue
            for wanted in wanted_by(name, facts):
                given = _given(call, wanted)
                if given is None or not targets.has(given.value):
                    continue
                if module.is_guarded(call) or _is_tried(module, call):
                    continue
                yield _finding(module, facts, call, name, given, wanted)


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


def _finding(  # noqa: PLR0913, PLR0917 - the parts of a call
    module: Module, facts: TargetFacts, call: cst.Call, name: str, given: cst.Arg, wanted: Wanted
) -> Finding:
    written = module.source(call.func)
    kind = "booleans" if wanted.dtype == "bool" else "integers"
    fix = _fix(module, facts, call, name, given, wanted.dtype)
    return rule.finding(
        module.place(given.value),
        f"Keras 3 casts the targets of a loss to float32, but `{written}` needs {kind}: "
        f"{wanted.error}",
        symbol=name,
        confidence=Confidence.LIKELY,
        help=f"Cast them back to {wanted.dtype}.",
        fix=fix,
    )


def _fix(  # noqa: PLR0913, PLR0917 - the parts of a call
    module: Module, facts: TargetFacts, call: cst.Call, name: str, given: cst.Arg, dtype: str
) -> Fix:
    spelled, need = _cast(module, call, name)
    package, _, _ = spelled.rpartition(".")
    is_of_tensorflow = package and split_root(name) is None
    span = module.outer_span(given.value)
    type_ = f"{package}.{dtype}" if is_of_tensorflow else f'"{dtype}"'
    return Fix(
        f"Cast them to {dtype}",
        (Edit(span, (f"{spelled}(", Hole(span), f", {type_})")),),
        facts.applicability(*(each for each in rule.invalid if each.after)),
        () if need is None else (need,),
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


rule = Rule(
    code="KD458",
    name="loss-gets-floats",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=OWN_LOSSES
    & calls(lambda facts, called: any(wanted_by(name, facts) for name in called.names)),
    since="3.0",
)


_COLUMN = "tf.one_hot(y_true[:, 0], 3)"
