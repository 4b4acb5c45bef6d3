"""Arguments of saving and loading that Keras 3 refuses, or reads as something else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._possible_endings import uses
from kdoctor.rules.saving._save_and_load_calls import PathUse, loads, method_uses, saves
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts

_ERRORS = {
    "save": "ValueError: The following argument(s) are not supported: ['{0}']",
    "load": "TypeError: load_model() got an unexpected keyword argument '{0}'",
    "save_weights": "TypeError: Model.save_weights() got an unexpected keyword argument '{0}'",
    "load_weights": "ValueError: Invalid keyword arguments: {{'{0}': ",
}
_GONE = {
    "save": ("signatures", "options", "save_traces"),
    "load": ("options",),
    "save_weights": ("options",),
    "load_weights": ("options",),
}
_INCLUDE_OPTIMIZER = 2  # self.save(filepath, overwrite, include_optimizer)


def _may_pass_one(_: QuickFacts, __: TargetFacts, called: QuickCall) -> bool:
    if called.leaf == "save" and called.places == _INCLUDE_OPTIMIZER + 1:
        return True
    return any(not called.keywords.isdisjoint(each) for each in _GONE.values())


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such argument."""
    for use in chain(
        saves(module), loads(module), method_uses(module, "save_weights", "load_weights")
    ):
        if module.is_guarded(use.call):
            continue
        for name in _GONE[use.what]:
            given = argument(use.call, name)
            if given is not None:
                yield _gone(module, facts, use, given, name)
        yield from _shifted(module, facts, use)


def _gone(module: Module, facts: TargetFacts, use: PathUse, given: cst.Arg, name: str) -> Finding:
    edits = remove_arguments(module, use.call, [given])
    plain = literal(given.value) in (None, True, False)
    fix = None
    if edits is not None:
        fix = Fix(
            f"Leave out `{name}=`",
            tuple(edits),
            _proven(facts) if plain else Applicability.UNSAFE,
            unsafe_because="" if plain else f"`{module.source(given.value)}` then has no effect",
        )
    return rule.finding(
        module.place(given),
        f"`{name}=` was removed with the SavedModel format: {_ERRORS[use.what].format(name)}",
        symbol=f"{use.symbol}({name})",
        confidence=use.confidence,
        help="Leave it out; write signatures with `keras.export.ExportArchive`."
        if name == "signatures"
        else "Leave it out.",
        fix=fix or NoFix("there is a comment beside it"),
    )


def _shifted(module: Module, facts: TargetFacts, use: PathUse) -> Iterator[Finding]:
    """Report the positional ``include_optimizer`` of ``model.save``."""
    if use.what != "save" or not isinstance(use.call.func, cst.Attribute) or is_hidden(use.call):
        return
    by_position = [each for each in use.call.args if each.keyword is None]
    if use.call.func.attr.value != "save" or len(by_position) != _INCLUDE_OPTIMIZER + 1:
        return
    given = by_position[_INCLUDE_OPTIMIZER]
    start = module.outer_span(given.value).start
    yield rule.finding(
        module.place(given),
        "the third parameter of `save` was `include_optimizer` and is `zipped` now",
        symbol=f"{use.symbol}(include_optimizer)",
        confidence=use.confidence,
        severity=Severity.CHANGE,
        help="Write `include_optimizer=`.",
        fix=Fix(
            "Write `include_optimizer=`",
            (Edit(Span(start, start), ("include_optimizer=",)),),
            _proven(facts),
        ),
    )


def _proven(facts: TargetFacts) -> Applicability:
    return facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))


rule = Rule(
    code="KD605",
    name="save-arguments",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=uses(_may_pass_one, *_GONE, "save_model", "load_model"),
    since="3.0",
)
