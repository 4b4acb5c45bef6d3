"""A `tf.Variable` in a layer, model or metric is no longer tracked as a weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, speller_at
from kdoctor.analysis.dataflow.uses import attributes_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Store, references, stores
from kdoctor.keras_api import Presence, split_root
from kdoctor.keras_api.tensorflow_aliases import VARIABLES
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_OWNERS = {Kind.LAYER: "layer", Kind.MODEL: "model", Kind.METRIC: "metric"}
_KEYWORDS = {
    "initial_value": "initializer",
    "trainable": "trainable",
    "name": "name",
    "dtype": "dtype",
    "shape": "shape",
}
_LACKS: Final = "`keras.Variable` lacks a few methods of TensorFlow variables"
_FIRST: Final = ", and comes first in the `get_weights()` of a model, where it came last"


def _is_variable(facts: TargetFacts, name: str) -> bool:
    if name in VARIABLES:
        return True
    split = split_root(name)
    is_it = split is not None and split[1] == "backend.variable"
    # Where it is gone, KD101 says so.
    return is_it and facts.lookup(name).presence is Presence.EXISTS


@rule(
    "KD402",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=stores(on=tuple(_OWNERS), overridden=True).beside(
        references("Variable", "variable", where=_is_variable, guarded=True)
    ),
)
def check(kept: Store) -> Iterator[Finding]:
    """Report each variable that is set on something that does not track it."""
    store = kept.store
    if store.value is None or store.owner_overrides or not isinstance(kept.node.value, cst.Name):
        return
    if is_keras_3(kept.facts, kept.owner.qualified):
        owner = _OWNERS[kept.owner.kind]
        for call in _variables(kept.module, kept.facts, store.value):
            yield kept.finding(
                f"`{kept.member}` is not a weight of the {owner}: Keras 3 does not track a "
                "`tf.Variable`, so it is not "
                f"{'reset' if owner == 'metric' else 'trained, frozen or saved'}",
                at=call,
                symbol=f"{kept.owner.cls or 'Layer'}.{kept.member}",
                help="Use `self.add_weight(…)` or `keras.Variable(…)`.",
                fix=_fix(kept, call),
            )


def _variables(module: Module, facts: TargetFacts, value: cst.BaseExpression) -> Iterator[cst.Call]:
    """Yield the calls that make variables, in what is assigned itself or in lists in it."""
    if isinstance(value, cst.Call):
        if _makes_a_variable(module, facts, value):
            yield value
    elif isinstance(value, cst.List | cst.Tuple):
        for element in value.elements:
            yield from _variables(module, facts, element.value)
    elif isinstance(value, cst.ListComp):
        yield from _variables(module, facts, value.elt)


def _makes_a_variable(module: Module, facts: TargetFacts, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    return name is not None and _is_variable(facts, name)


def _fix(kept: Store, call: cst.Call) -> Fix | NoFix:
    module = kept.module
    name = module.qualified(call.func)
    if name not in VARIABLES:
        return NoFix("the replacement of `keras.backend.variable` depends on its arguments")
    problem = _problem(call.args)
    if problem is not None:
        return problem
    if any(_asks_its_truth(module, each) for each in attributes_named(module, kept.member)):
        return NoFix(
            f"a condition asks for the truth of `{kept.member}`, which a `keras.Variable` refuses: "
            "write `.value` there"
        )
    spelled, need = speller_at(module, call).spell("keras.Variable")
    edits = [Edit(module.span(call.func), (spelled,))]
    edits += [
        Edit(module.span(each.keyword), (_KEYWORDS[each.keyword.value],))
        for each in call.args
        if each.keyword is not None and _KEYWORDS[each.keyword.value] != each.keyword.value
    ]
    return kept.fix(
        f"Write `{spelled}` instead of `{module.source(call.func)}`",
        *edits,
        imports=[need],
        unsafe_because=_LACKS + (_FIRST if kept.owner.kind is Kind.MODEL else ""),
    )


def _asks_its_truth(module: Module, read: cst.Attribute) -> bool:
    """Say whether Python asks whether an attribute is true."""
    match module.parent(read):
        case cst.UnaryOperation(operator=cst.Not()) | cst.BooleanOperation():
            return True
        case (
            cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test) | cst.Assert(test=test)
        ):
            return test is read
    return False


def _problem(arguments: Sequence[cst.Arg]) -> NoFix | None:
    """Say what keeps the same arguments from meaning the same to ``keras.Variable``."""
    if any(each.star for each in arguments):
        return NoFix("`*` hides the arguments")
    by_position = [each for each in arguments if each.keyword is None]
    if len(by_position) > 1:
        return NoFix("only the first positional parameter is the same")
    unknown = [e.keyword.value for e in arguments if e.keyword and e.keyword.value not in _KEYWORDS]
    if unknown:
        return NoFix(f"`keras.Variable` has no `{unknown[0]}=`")
    initial = by_position[0] if by_position else next(
        (e for e in arguments if e.keyword and e.keyword.value == "initial_value"), None
    )  # fmt: skip
    if initial is None:
        return NoFix("it has no initial value")
    if isinstance(initial.value, cst.Lambda) or _names_a_function(initial.value):
        return NoFix(
            "the initial value may be a function, which `keras.Variable` calls with a shape"
        )
    return None


def _names_a_function(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name) and value.value.endswith(("initializer", "init", "fn"))
