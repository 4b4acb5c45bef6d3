"""The plan of a migration, from what a scan and the project's own files say. Nothing is written."""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.engine import Options
from kdoctor.keras_api import newest_target, resolve_target
from kdoctor.migrate.owners import Share, code_owners
from kdoctor.model import Applicability, Finding
from kdoctor.progress import Overview, overview
from kdoctor.project.pins import Pin, pins
from kdoctor.project.root import start_of
from kdoctor.rules import rule_by_code
from kdoctor.rules.environment._pin_rule import CODE as PINS
from kdoctor.target import Target

_SAVED_MODELS: Final = (".h5", ".hdf5", ".keras")
_SAVED_MODEL: Final = "saved_model.pb"
_ENVIRONMENT: Final = "pyvenv.cfg"
_PASSED_OVER: Final = frozenset({"node_modules", "__pycache__", "site-packages"})


class StepKind(enum.StrEnum):
    """The steps of a migration, in the order in which they are taken."""

    PINS = "pins"
    NEIGHBOURS = "neighbours"
    IMPORTS = "imports"
    SAFE = "safe fixes"
    JUDGED = "fixes to be judged"
    MODELS = "saved models"
    BY_HAND = "by hand"


class Step(Struct, frozen=True):
    """One step: how many places it is about, in how many files, and the command that helps.

    ``findings`` are those of the step, none where it is about other things. ``command`` are the
    words behind ``kdoctor``, without paths.
    """

    kind: StepKind
    places: int
    files: int
    findings: tuple[Finding, ...] = ()
    command: tuple[str, ...] = ()


class Plan(Struct, frozen=True):
    """What there is to do for a project to run on another Keras, in order.

    ``now`` is the Keras that the project itself names, if it does, ``then`` the one to come;
    ``pins`` are the requirements that stand against it, and ``models`` the files that look like
    saved models. ``owners`` have what is found, by the file ``owned_by``, "" where there is none.
    """

    now: Target | None
    then: Target
    overview: Overview
    pins: tuple[Pin, ...]
    models: tuple[str, ...]
    steps: tuple[Step, ...]
    owned_by: str = ""
    owners: tuple[Share, ...] = ()


def plan(paths: Sequence[str], now: Target | None, options: Options) -> Plan:
    """Return the plan for the files at or below some paths.

    ``now`` is what the project says of itself, None where it says nothing. Without a target among
    the options, it is to run on the newest Keras 3, or on what it names where that is one.

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    then = target_of(now, options.get("target"))
    found = overview(paths, {**without_pins(options), "target": then})
    folders = {Path(os.path.abspath(path)).parent for path in found.scan.files}  # noqa: PTH100
    held = pins(folders or {start_of(paths)}, then)
    models = tuple(_saved_models(paths))
    owned = code_owners(start_of(paths))
    return Plan(
        now,
        then,
        found,
        held,
        models,
        _steps(found, held, models),
        owned.path if owned else "",
        owned.shares(found.scan.findings) if owned else (),
    )


def without_pins(options: Options) -> Options:
    """Return the options without the rule on pins: a migration has a step of its own for them."""
    ignored = [*(options.get("ignore") or ()), PINS]
    return {**options, "ignore": ignored}


def target_of(now: Target | None, asked: Target | str | None) -> Target:
    """Return the Keras to come: what is asked for, else the newest, or ``now`` if that is Keras 3.

    Raises:
        UsageProblem: there is no such Keras.
    """
    if asked is not None:
        return resolve_target(asked, "--target") if isinstance(asked, str) else asked
    return newest_target() if now is None or now.is_before_keras_3 else now


def _steps(found: Overview, held: Sequence[Pin], models: Sequence[str]) -> tuple[Step, ...]:
    by_kind: dict[StepKind, list[Finding]] = {kind: [] for kind in StepKind}
    for finding in found.scan.findings:
        by_kind[_kind_of(finding)].append(finding)
    by_kind[StepKind.IMPORTS] = [stop.finding for stop in found.stops]
    steps = (
        Step(StepKind.PINS, len(held), len({each.path for each in held})),
        _step(StepKind.NEIGHBOURS, by_kind),
        _step(StepKind.IMPORTS, by_kind),
        _step(StepKind.SAFE, by_kind, "fix", "--apply"),
        _step(StepKind.JUDGED, by_kind, "fix", "--interactive"),
        Step(StepKind.MODELS, len(models), len(models), command=("model",)),
        _step(StepKind.BY_HAND, by_kind, "scan"),
    )
    return tuple(step for step in steps if step.places)


def _kind_of(finding: Finding) -> StepKind:
    """Return the step in which a finding is dealt with."""
    if finding.fix is not None and finding.fix.applicability is not Applicability.MANUAL:
        is_safe = finding.fix.applicability is Applicability.SAFE
        return StepKind.SAFE if is_safe else StepKind.JUDGED
    is_neighbour = rule_by_code(finding.code).family == "environment"
    return StepKind.NEIGHBOURS if is_neighbour else StepKind.BY_HAND


def _step(kind: StepKind, by_kind: Mapping[StepKind, Sequence[Finding]], *command: str) -> Step:
    findings = tuple(by_kind[kind])
    files = {each.place.path for each in findings}
    return Step(kind, len(findings), len(files), findings, command)


def _saved_models(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files below some folders whose name is that of a saved model."""
    for path in paths:
        for folder, below, names in os.walk(path):
            if _ENVIRONMENT in names:
                below.clear()
                continue
            below[:] = sorted(
                each for each in below if not each.startswith(".") and each not in _PASSED_OVER
            )
            for name in sorted(names):
                if name.endswith(_SAVED_MODELS) or name == _SAVED_MODEL:
                    yield os.path.normpath(os.path.join(folder, name))  # noqa: PTH118 - hot
