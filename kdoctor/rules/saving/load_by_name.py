"""`load_weights(by_name=…)` only works for legacy HDF5 files."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._possible_endings import ending_in, may_be_path, uses
from kdoctor.rules.saving._save_and_load_calls import PathUse, method_uses
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts

_NEW_FILES = (".weights.h5", ".keras")
_ends_as_new = ending_in(*_NEW_FILES)
_ERROR = "ValueError: `by_name` only supports loading legacy '.h5' or '.hdf5' files. Received: "


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each ``by_name`` that is refused or taken for something else."""
    for use in method_uses(module, "load_weights"):
        if is_hidden(use.call) or module.is_guarded(use.call):
            continue
        given = argument(use.call, "by_name")
        is_new = use.ending is not None and use.ending.text.endswith(_NEW_FILES)
        if given is not None and is_new and literal(given.value) is not None:
            yield _refused(module, facts, use, given)
        by_position = [each for each in use.call.args if each.keyword is None]
        if len(by_position) > 1:
            yield _shifted(module, use, by_position)


def _refused(module: Module, facts: TargetFacts, use: PathUse, given: cst.Arg) -> Finding:
    assert use.ending is not None
    needless = literal(given.value) is False
    edits = remove_arguments(module, use.call, [given]) if needless else None
    shown = use.ending.shown
    rating = facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))
    return rule.finding(
        module.place(given),
        f"{_ERROR}{shown}",
        symbol=f"{use.symbol}(by_name)",
        confidence=use.confidence,
        help="Leave it out."
        if needless
        else "Load the weights into the model they were saved from, and copy them layer by "
        "layer: `new.get_layer(name).set_weights(old.get_layer(name).get_weights())`.",
        fix=Fix("Leave out `by_name=`", tuple(edits), rating)
        if edits
        else NoFix(
            "there is a comment beside it"
            if needless
            else "only the names in the file tell which layers are loaded"
        ),
    )


def _shifted(module: Module, use: PathUse, by_position: list[cst.Arg]) -> Finding:
    names = ("by_name", "skip_mismatch")
    edits = tuple(
        Edit(Span(start, start), (f"{name}=",))
        for name, given in zip(names, by_position[1:], strict=False)
        for start in (module.outer_span(given.value).start,)
    )
    return rule.finding(
        module.place(by_position[1]),
        "the second parameter of `load_weights` was `by_name` and is `skip_mismatch` now",
        symbol=f"{use.symbol}(by_name)",
        confidence=use.confidence,
        severity=Severity.CHANGE,
        help="Write `by_name=`.",
        fix=Fix(
            "Write `by_name=`",
            edits,
            Applicability.UNSAFE,
            unsafe_because="code written for Keras 2.13 or later means `skip_mismatch`",
        ),
    )


def _may_be_refused_or_shifted(quick: QuickFacts, facts: TargetFacts, called: QuickCall) -> bool:
    return not called.is_hidden and (
        called.places > 1
        or ("by_name" in called.keywords and may_be_path(quick, facts, called, 0, _ends_as_new))
    )


rule = Rule(
    code="KD606",
    name="load-by-name",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=uses(_may_be_refused_or_shifted, "load_weights"),
    since="3.0",
)
