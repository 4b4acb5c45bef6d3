"""Arguments that a callable of Keras does not take, by the signatures of each release."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kdoctor.diagnose import steps
from kdoctor.diagnose.by_rules import Wanted, ask
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import Origin
from kdoctor.diagnose.snippets import Binding, home_of
from kdoctor.keras_api import lookup, signature
from kdoctor.keras_api.history import member_history, name_history

_CALL: Final = r"(?P<call>[A-Za-z_][\w.]*)"
# What Python and the releases of Keras say of an argument that nobody takes.
_MESSAGES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_CALL}\(\) got an unexpected keyword argument '(?P<name>\w+)'",
        rf"^{_CALL}\(\) got multiple values for (?:keyword )?argument '(?P<name>\w+)'",
        r"Unrecognized keyword arguments? passed to (?P<call>\w+): \{'(?P<name>\w+)'",
        r"^\(?['\"]Keyword argument not understood:['\"], ['\"](?P<name>\w+)['\"]",
        r"^Argument\(s\) not recognized: \{'(?P<name>\w+)'",
        r"^Unexpected keyword argument passed to optimizer: (?P<name>\w+)",
        r"^Unrecognized keyword arguments?: \[?'(?P<name>\w+)'",
        r"^`?(?P<name>\w+)`? is not a valid argument",
    )
)
_TRAINERS: Final = re.compile(r"^(?:\w+Trainer|Trainer|Model|Functional|Sequential)$")


@dataclass(frozen=True, slots=True)
class _Argument:
    """A refused argument, and the callable: a public name, or a member of a class."""

    name: str
    call: str = ""
    owner: str = ""  # the class of a method: ``Model``
    public: str = ""  # ``keras.layers.Dense``


def explain_keyword(case: Case) -> Diagnosis | None:
    """Return why an argument is refused; None where the error is about something else."""
    argument = _argument(case)
    if argument is None:
        return None
    binding = None
    if argument.owner == "Model":
        binding = Binding(argument.call, "{name} = keras.Sequential()")
    wanted = Wanted(argument.name, binding=binding, statement=_statement(argument))
    frame = case.blamed
    answer = ask(frame, wanted, case.target, case.read)
    if not answer.findings and binding is not None:
        wanted = Wanted(argument.name, statement=wanted.statement)
        answer = ask(frame, wanted, case.target, case.read)
    last = _last_release(argument)
    refused = _is_refused(argument, case)
    if not answer.findings and not refused:
        return None
    package = frame.package if frame is not None and frame.origin is Origin.PACKAGE else ""
    told = list(steps.for_a_package(package, None) if package else steps.of_answer(answer))
    if not told:
        told = [Step(StepKind.ADVICE, f"Leave `{argument.name}=` out, or see what took its place.")]
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=_meaning(argument, last, case),
        error=case.error,
        place=frame,
        evidence=tuple(_evidence(argument, last, refused=refused, case=case)),
        steps=tuple(told),
        rule=answer.rule or "KD303",
        package=package,
        target=case.target,
    )


def _argument(case: Case) -> _Argument | None:
    for pattern in _MESSAGES:
        matched = pattern.search(case.error.message)
        if matched is None:
            continue
        found = matched.groupdict()
        call, name = found.get("call") or "", found["name"]
        owner, _, leaf = call.rpartition(".")
        if leaf == "__init__" or not call:
            return _of_class(owner.rpartition(".")[2], name, case)
        if _TRAINERS.match(owner) or (not owner and leaf in {"fit", "evaluate", "predict"}):
            return _Argument(name, leaf, "Model", "")
        if owner:
            return _Argument(name, leaf, owner.rpartition(".")[2], "")
        return _of_class(leaf, name, case)
    return None


def _of_class(cls: str, name: str, case: Case) -> _Argument | None:
    """Read the callable off the message, or off the line, where the message has none."""
    frame = case.blamed
    line = frame.source if frame is not None else ""
    named = (
        [cls] if cls else re.findall(rf"([A-Za-z_]\w*)\((?:[^()]|\([^()]*\))*?\b{name}\s*=", line)
    )
    for each in named:
        module = home_of(each, case.target)
        if module is not None:
            return _Argument(name, each, "", f"keras{module}.{each}")
    return _Argument(name, cls) if _is_of_keras(case) else None


def _is_of_keras(case: Case) -> bool:
    return case.is_inside_keras


def _statement(argument: _Argument) -> str:
    value = f"{argument.name}=None"
    if argument.owner == "Model":
        return f"import keras\nx = keras.Sequential()\nx.{argument.call}({value})\n"
    return f"import keras\n{argument.public}({value})\n" if argument.public else ""


def _is_refused(argument: _Argument, case: Case) -> bool:
    """Say whether the signature on the target has no such argument."""
    name = argument.public or f"keras.{argument.owner}.{argument.call}"
    found = signature(name, case.target)
    return found is not None and found.parameter(argument.name) is None


def _last_release(argument: _Argument) -> str:
    """Return the last release whose signature had the argument."""
    if argument.public:
        history = name_history("keras", argument.public.removeprefix("keras."))
    elif argument.owner:
        history = member_history("keras", argument.owner, argument.call)
    else:
        return ""
    spans = history.signatures if history is not None else ()
    pattern = re.compile(rf"\b{argument.name}\b(?=\s*[=,]|$)")
    return next((span.last for span in reversed(spans) if pattern.search(span.text)), "")


def _meaning(argument: _Argument, last: str, case: Case) -> str:
    shown = argument.public or (f"{argument.owner}.{argument.call}" if argument.owner else "")
    shown = f"`{shown or argument.call or 'the callable'}`"
    text = f"{shown} of {case.target} does not take `{argument.name}=`."
    if last:
        text += f" The last release that had it is keras {last}."
    return text


def _evidence(argument: _Argument, last: str, *, refused: bool, case: Case) -> list[str]:
    found = []
    name = argument.public or f"keras.{argument.owner}.{argument.call}"
    known = signature(name, case.target)
    if refused and known is not None:
        found.append(f"the signature of {name} in {case.target}: ({known.text})")
    if last:
        found.append(f"keras {last} still had `{argument.name}`")
    found.append(f"taken to be {case.target}: {case.target.source}")
    if lookup(name, case.target).root is None:
        found.pop()
    return found
