"""Names and values that Keras makes an optimizer, a loss, a metric … of, and does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.keras_api import Lookup, Presence, lookup

_MODULES: Final = {
    "optimizer": "optimizers",
    "loss": "losses",
    "metric": "metrics",
    "activation": "activations",
    "initializer": "initializers",
    "regularizer": "regularizers",
    "constraint": "constraints",
}
_MESSAGE: Final = re.compile(
    rf"Could not interpret (?P<what>{'|'.join(_MODULES)})(?: function)? identifier:? "
    r"(?P<value>[^\n]*)"
)
_CLASS: Final = re.compile(r"^<class '(?:\w+\.)*(?P<cls>\w+)'>$")
_NAME: Final = re.compile(r"^['\"]?(?P<name>[A-Za-z_]\w*)['\"]?\.?$")


def explain_identifier(case: Case) -> Diagnosis | None:
    """Return what is wrong with the name or value; None for an object, which is another matter."""
    matched = _MESSAGE.search(case.error.message)
    if matched is None:
        return None
    what, value = matched["what"], matched["value"].strip()
    if made := _CLASS.match(value):
        meaning = f"The class `{made['cls']}` itself was given as the {what}, not an object of it."
        told = [Step(StepKind.CODE, f"{made['cls']}()", "with its arguments")]
    elif value.startswith("<"):
        return None
    elif named := _NAME.match(value):
        return _of_name(what, named["name"], case)
    else:
        meaning = (
            f"`{value}` was given as the {what}: an argument stands in the place of another, or "
            "it is the value of one."
        )
        told = [
            Step(
                StepKind.ADVICE,
                f"Name the arguments of that call: `{what}=…` takes a name that Keras knows, an "
                "object or a function.",
            )
        ]
    return _diagnosis(meaning, told, (f"Keras was given {value}",), case)


def _of_name(what: str, name: str, case: Case) -> Diagnosis:
    found = lookup(f"keras.{_MODULES[what]}.{name}", case.target)
    if found.presence is Presence.EXISTS:
        return Diagnosis(
            Fault.INSTALLATION,
            f"{case.target} knows the {what} `{name}`: what ran was an older or another Keras.",
            case.error,
            place=case.blamed,
            evidence=(f"{case.target} has {found.qualified}",),
            steps=(Step(StepKind.COMMAND, "pip install --upgrade keras"),),
            target=case.target,
        )
    last = found.periods[-1][1] if found.periods else ""
    gone = f"; the last release that did is {found.root} {last}" if last else ""
    return _diagnosis(
        f"{case.target} knows no {what} by the name `{name}`{gone}.",
        list(_cures(what, name, found)),
        (f"the names of keras.{_MODULES[what]} in {case.target}: no `{name}`",),
        case,
    )


def _cures(what: str, name: str, found: Lookup) -> Iterator[Step]:
    if found.moved_to:
        yield Step(StepKind.CODE, f"'{name}'  ->  '{found.moved_to[0].rpartition('.')[2]}'")
    elif found.suggestions:
        leaves = dict.fromkeys(each.rpartition(".")[2] for each in found.suggestions)
        yield Step(StepKind.ADVICE, f"Did you mean {' or '.join(f'`{each}`' for each in leaves)}?")
    yield Step(
        StepKind.CODE,
        f"metrics=[{name}]" if what == "metric" else f"{what}={name}",
        "where it is a function or class of your own or of a library: itself, without quotes",
    )


def _diagnosis(meaning: str, told: list[Step], evidence: tuple[str, ...], case: Case) -> Diagnosis:
    frame = case.blamed
    package = case.package
    return Diagnosis(
        Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning,
        case.error,
        place=frame,
        evidence=evidence,
        steps=tuple(told),
        package=package,
        target=case.target,
    )
