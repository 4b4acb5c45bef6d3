"""Explain missing required arguments of Keras classes."""

from __future__ import annotations

import re
from typing import Final

from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.snippets import home_of
from kdoctor.keras_api import signature

_MESSAGE: Final = re.compile(
    r"^(?P<cls>[A-Z]\w*)\.__init__\(\) missing \d+ required (?:positional |keyword-only )?"
    r"arguments?: (?P<names>[^\n]+)"
)
_QUOTED: Final = re.compile(r"'(\w+)'")


def explain_required(case: Case) -> Diagnosis | None:
    """Explain missing required arguments of a Keras class; None for any other error."""
    matched = _MESSAGE.match(case.error.message)
    if matched is None or case.error.name not in {"TypeError", ""} or case.is_inside_keras:
        return None
    cls, names = matched["cls"], _QUOTED.findall(matched["names"])
    module = home_of(cls, case.target)
    public = f"keras{module}.{cls}"
    known = signature(public, case.target) if module is not None else None
    if known is None or not all(known.parameter(name) for name in names):
        return None
    frame = case.blamed
    shown = " and ".join(f"`{name}`" for name in names)
    package = case.package
    call = ", ".join(f"{name}=…" for name in names)
    return Diagnosis(
        Fault.PACKAGE if package else Fault.YOUR_CODE,
        f"`{public}` of {case.target} requires {shown}, which the call does not pass, or passes "
        "under another name.",
        case.error,
        place=frame,
        evidence=(f"the signature of {public} in {case.target}: ({known.text})",),
        steps=(Step(StepKind.CODE, f"{public}({call})"),),
        only_if="" if _names_keras(case) else f"`{cls}` is that of Keras",
        package=package,
        target=case.target,
    )


def _names_keras(case: Case) -> bool:
    line = case.blamed.source if case.blamed is not None else ""
    return bool(re.search(r"\bkeras\.", line))
