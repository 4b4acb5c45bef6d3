"""Explain positional arguments whose order changed between releases."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kdoctor.diagnose import remedies
from kdoctor.diagnose.by_rules import Wanted, ask, source_of
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import FrameOrigin
from kdoctor.diagnose.snippets import SnippetName, home_of
from kdoctor.diagnose.version_detection import DetectedVersion, all_targets
from kdoctor.keras_api import known_releases, resolve_target, signature
from kdoctor.keras_api.signatures import Signature
from kdoctor.target import Target

_MESSAGES: Final = tuple(
    re.compile(rf"^(?:(?P<owner>[A-Za-z_]\w*)\.)?(?P<call>[A-Za-z_]\w*)\(\) {said}")
    for said in (
        r"got multiple values for (?:keyword )?argument '(?P<name>\w+)'",
        r"takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:positional .*)?were",
    )
)
# The classes that people derive from: their methods are called as `self.…`.
_BASES: Final = {
    "Layer": "keras.layers.Layer",
    "Metric": "keras.metrics.Metric",
    "Model": "keras.Model",
    "Loss": "keras.losses.Loss",
    "Callback": "keras.callbacks.Callback",
    "BaseOptimizer": "keras.optimizers.Optimizer",
}
_MAX_NAMES: Final = 4  # names are enough to see the order
_BY_POSITION: Final = {
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
}


@dataclass(frozen=True, slots=True)
class _Moved:
    """A callable whose positional parameters were others in the last release of Keras 2."""

    public: str  # ``keras.Layer.add_weight``
    old: Signature
    last: str  # the release of ``old``
    new: Signature
    target: Target


def explain_position(case: Case) -> Diagnosis | None:
    """Return which arguments have changed places; None where the error is about something else."""
    matched = next(filter(None, (each.search(case.error.message) for each in _MESSAGES)), None)
    if matched is None or case.error.name not in {"TypeError", ""}:
        return None
    frame = case.blamed
    if frame is None and case.is_inside_keras:
        return None
    call = matched["call"]
    name = matched.groupdict().get("name")
    found = [*_moved(matched["owner"] or "", call, case)]
    moved = next((each for each in found if _takes_twice(name, each)), None)
    if moved is None:
        return None
    owner = moved.public.rpartition(".")[0]
    binding = SnippetName(call, f"{{name}} = {owner}()") if call != "__init__" else None
    wanted = Wanted(binding=binding)
    answer = ask(frame, wanted, moved.target, case.read)
    package = case.package
    steps = [*remedies.of_answer(answer)]
    if package:
        steps = [*remedies.for_a_package(package, None)]
    elif not answer.diff:
        steps = [Step(StepKind.CODE, _named(moved), "name each argument: right on every release")]
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=f"Keras 3 takes the arguments of `{moved.public}` in another order: "
        f"{_shown(moved.new)} on {moved.target}, {_shown(moved.old)} up to keras {moved.last}.",
        error=case.error,
        place=frame,
        evidence=(f"the signatures of {moved.public} in keras {moved.last} and {moved.target}",),
        steps=tuple(steps),
        rule=answer.rule or "KD306",
        only_if="" if _is_surely(case) else f"`{call}` is that of Keras",
        package=package,
        target=moved.target,
    )


def _takes_twice(name: str | None, moved: _Moved) -> bool:
    """Say whether what stood elsewhere in Keras 2 can be taken for ``name`` on the newer one."""
    places, before = _places(moved.new), _places(moved.old)
    if name is None or name in places:
        return name is None or places[name] < before.get(name, 0)
    return before.get(name) == 0  # Keras 2 ran code of Keras 3


def _moved(owner: str, call: str, case: Case) -> Iterator[_Moved]:
    """Yield what of Keras it can be, with each order of Keras 3 that is not that of Keras 2."""
    last = [each for each in known_releases("keras") if each.startswith("2.")][-1]
    old_target = resolve_target(f"keras=={last}", "the last release of Keras 2")
    newest = next(all_targets(DetectedVersion()))
    target = newest if case.target.keras_version.startswith("2.") else case.target
    for public in _candidates(owner, call, target):
        for each in (target, *all_targets(DetectedVersion(), "keras")):
            if not each.keras_version.startswith("3."):
                break
            old, new = signature(public, old_target), signature(public, each)
            if old is not None and new is not None and _places(old) != _places(new):
                yield _Moved(public, old, last, new, each)


def _candidates(owner: str, call: str, target: Target) -> Iterator[str]:
    if call == "__init__":
        module = home_of(owner, target)
        if owner in _BASES:
            yield _BASES[owner]
        elif module is not None:
            yield f"keras{module}.{owner}"
        return
    for cls, public in _BASES.items():
        if owner in {"", cls}:
            yield f"{public}.{call}"


def _places(found: Signature) -> dict[str, int]:
    names = [each.name for each in found.parameters if each.kind in _BY_POSITION]
    return {name: number for number, name in enumerate(names)}


def _shown(found: Signature) -> str:
    names = [*_places(found)]
    more = ", …" if len(names) > _MAX_NAMES else ""
    return f"({', '.join(names[:_MAX_NAMES])}{more})" if names else "none by position"


def _named(moved: _Moved) -> str:
    leaf = moved.public.rpartition(".")[2]
    call = "super().__init__" if leaf[:1].isupper() else f"self.{leaf}"
    both = [each.name for each in moved.old.parameters if moved.new.parameter(each.name)]
    return f"{call}({', '.join(f'{name}=…' for name in both[:3])})"


def _is_surely(case: Case) -> bool:
    frames = case.error.frames
    shown = [case.error.message, *(frame.source for frame in frames)]
    if case.blamed is not None and (data := source_of(case.blamed, case.read)) is not None:
        shown.append(data.decode(errors="replace"))
    return any(frame.origin is FrameOrigin.KERAS for frame in frames) or any(
        re.search(r"\bkeras\b", text) for text in shown
    )
