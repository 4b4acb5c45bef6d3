"""Explain unknown identifiers: names and values given as an optimizer, loss, metric …."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kdoctor.diagnose import remedies
from kdoctor.diagnose.by_rules import RuleAnswer, Wanted, ask
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.snippets import SnippetName
from kdoctor.keras_api import EntryKind, Lookup, Presence, lookup

_MODULES: Final = {
    "optimizer": "optimizers",
    "loss": "losses",
    "metric": "metrics",
    "activation": "activations",
    "initializer": "initializers",
    "regularizer": "regularizers",
    "constraint": "constraints",
    "quantizer": "quantizers",
}
# What is asked of the rules about a name: a program that gives it.
_COMPILED: Final = "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', {})\n"
_LAYER: Final = "import keras\nkeras.layers.Dense(1, {})\n"
_PROGRAMS: Final = {
    "loss": _COMPILED.format("loss='{name}'"),
    "metric": _COMPILED.format("'mse', metrics=['{name}']"),
    "activation": _LAYER.format("activation='{name}'"),
    "constraint": _LAYER.format("kernel_constraint='{name}'"),
    "regularizer": _LAYER.format("kernel_regularizer='{name}'"),
}
_RENAMED: Final = "KD305"
_RULES: Final = (_RENAMED, "KD313")
# Which Keras 3 has in another order than Keras 2 had them.
_BY_POSITION: Final = Wanted(
    rules=("KD212", "KD306"), binding=SnippetName("add_weight", "{name} = keras.layers.Layer()")
)
# Keras 3 looks for these among the custom objects, too, as Keras 2 did for all.
_MAY_BE_CUSTOM: Final = frozenset({"initializer", "optimizer", "quantizer"})
# What Keras 3 has, and does not find by its name. A test asks Keras.
NOT_BY_NAME: Final = {
    "loss": ("CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy"),
    "metric": (
        *("binary_focal_crossentropy", "categorical_focal_crossentropy", "huber", "log_cosh"),
    ),
    "optimizer": ("Lamb",),
    "regularizer": ("l1_l2",),
}
_MESSAGE: Final = re.compile(
    rf"Could not interpret (?P<what>{'|'.join(_MODULES)})(?: function)? identifier:? "
    r"(?P<value>[^\n]*)"
)
_CLASS: Final = re.compile(r"^<class '(?:\w+\.)*(?P<cls>\w+)'>$")
_NAME: Final = re.compile(r"^['\"]?(?P<name>[A-Za-z_]\w*)['\"]?\.?$")


def explain_identifier(case: Case) -> Diagnosis | None:
    """Return what is wrong with the name or value; None for an object."""
    matched = _MESSAGE.search(case.error.message)
    if matched is None:
        return None
    what, value = matched["what"], matched["value"].strip()
    rule = ""
    if made := _CLASS.match(value):
        meaning = f"The class `{made['cls']}` itself was given as the {what}, not an object of it."
        steps = [Step(StepKind.CODE, f"{made['cls']}()", "with its arguments")]
    elif value.startswith("<"):
        return None
    elif named := _NAME.match(value):
        return _of_name(what, named["name"], case)
    else:
        meaning = (
            f"`{value}` was given as the {what}: it is in the position of another argument, or is "
            "the value of one."
        )
        answer = ask(case.blamed, _BY_POSITION, case.target, case.read)
        rule = answer.rule
        steps = [*remedies.of_answer(answer)] or [
            Step(
                StepKind.ADVICE,
                f"Pass the arguments of that call by keyword: `{what}=…` takes a name that Keras "
                "knows, an object or a function.",
            )
        ]
    return _diagnosis(meaning, steps, (f"Keras was given {value}",), case, rule)


def _of_name(what: str, name: str, case: Case) -> Diagnosis:
    program = _PROGRAMS.get(what, "").format(name=name)
    answer = ask(case.blamed, Wanted(rules=_RULES, statement=program), case.target, case.read)
    found = lookup(f"keras.{_MODULES[what]}.{name}", case.target)
    if found.presence is Presence.EXISTS and name in NOT_BY_NAME.get(what, ()):
        made = f"{found.qualified}{'()' * (found.kind is EntryKind.CLASS)}"
        own = Step(StepKind.CODE, _given(what, made), "itself, without quotes")
        return _diagnosis(
            f"{case.target} has {found.qualified}, but does not find it by name.",
            _told(answer) or [own],
            (),
            case,
            answer.rule,
        )
    if found.presence is Presence.EXISTS:
        return Diagnosis(
            Fault.INSTALLATION,
            f"{case.target} knows the {what} `{name}`: an older or different Keras was running.",
            case.error,
            place=case.blamed,
            evidence=(f"{case.target} has {found.qualified}",),
            steps=(remedies.newer_pair("to the release that has it"),),
            target=case.target,
        )
    last = found.periods[-1][1] if found.periods else ""
    gone = f"; the last release that did is {found.root} {last}" if last else ""
    return _diagnosis(
        f"{case.target} knows no {what} by the name `{name}`{gone}.",
        [*_told(answer), *(() if answer.rule == _RENAMED else _cures(what, name, found))],
        tuple(_evidence(what, name, case)),
        case,
        answer.rule,
    )


def _told(answer: RuleAnswer) -> list[Step]:
    example = [Step(StepKind.CODE, answer.example)] if answer.example else []
    return [*remedies.of_answer(answer), *example]


def _given(what: str, value: str) -> str:
    return f"metrics=[{value}]" if what == "metric" else f"{what}={value}"


def _evidence(what: str, name: str, case: Case) -> Iterator[str]:
    yield f"the names of keras.{_MODULES[what]} in {case.target}: no `{name}`"
    if not case.target.is_before_keras_3 and what not in _MAY_BE_CUSTOM:
        yield f"Keras 3 does not look for a {what} among the custom objects, as Keras 2 did"


def _cures(what: str, name: str, found: Lookup) -> Iterator[Step]:
    if found.moved_to:
        yield Step(StepKind.CODE, f"'{name}'  ->  '{found.moved_to[0].rpartition('.')[2]}'")
    elif found.suggestions:
        leaves = dict.fromkeys(each.rpartition(".")[2] for each in found.suggestions)
        yield Step(StepKind.ADVICE, f"Did you mean {' or '.join(f'`{each}`' for each in leaves)}?")
    yield Step(
        StepKind.CODE,
        _given(what, name),
        "if it is a function or class of your own or of a library: itself, without quotes",
    )


def _diagnosis(
    meaning: str, steps: list[Step], evidence: tuple[str, ...], case: Case, rule: str = ""
) -> Diagnosis:
    frame = case.blamed
    package = case.package
    return Diagnosis(
        Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning,
        case.error,
        place=frame,
        evidence=evidence,
        steps=tuple(steps),
        rule=rule,
        package=package,
        target=case.target,
    )
