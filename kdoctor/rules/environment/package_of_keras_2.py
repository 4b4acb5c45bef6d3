"""Packages written for Keras 2 of which no release can be imported with Keras 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import libcst as cst
import msgspec

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.imports import imports
from kdoctor.keras_api import Presence
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.environment._addons import rows
from kdoctor.rules.environment._addons_told import told
from kdoctor.rules.environment._import_failures import failure_is_caught
from kdoctor.rules.idioms._tensorflow.tensorflow_1 import advice
from kdoctor.rules.names._definitions.dead_packages import PACKAGE
from kdoctor.rules.names._definitions.package_fixes import PackageFixes
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module


class Broken(msgspec.Struct, frozen=True):
    """A module that cannot be imported.

    ``error`` is what it raises, ``legacy`` what it raises with ``TF_USE_LEGACY_KERAS=1``, "" where
    it then can be imported.
    """

    distribution: str
    release: str
    error: str
    legacy: str


class _Record(msgspec.Struct, frozen=True):
    frameworks: dict[str, str]
    packages: dict[str, Broken]


_INSTEAD: Final = {"tensorflow_estimator": advice("estimator")}
"""What to write for packages that are no code to copy into a project."""


@cache
def broken_packages() -> Mapping[str, Broken]:
    """Return the modules that cannot be imported, by their dotted names."""
    data = Path(__file__).with_name("packages.json").read_bytes()
    return msgspec.json.decode(data, type=_Record).packages


@rule("KD704", severity=Severity.ERROR, look_for=files(imports(*broken_packages())))
def check(file: File) -> Iterator[Finding]:
    """Report the first import of each such module, and each name of one that has fixes."""
    module, facts = file.module, file.facts
    if not facts.runs_keras_3("keras"):
        return
    is_legacy = not facts.runs_keras_3("tf.keras")
    met: set[str] = set()
    addons: PackageFixes | None = None
    for binding in module.imports:
        name = _broken(binding.imported)
        if name is None or name in met:
            continue
        broken = broken_packages()[name]
        error = broken.legacy if is_legacy else broken.error
        if not error or any(map(module.is_project_module, (name.partition(".")[0], name))):
            continue
        if failure_is_caught(module, binding.statement, error.partition(":")[0]):
            continue
        symbol = name
        at: cst.CSTNode = binding.statement
        fix: Fix | NoFix = NoFix("the package was written for Keras 2")
        if name == PACKAGE and not is_legacy:
            addons = addons or PackageFixes(module, facts, PACKAGE, rows())
            symbol, at, fix = binding.imported, binding.alias or at, addons.of(binding)
        else:
            met.add(name)
        yield file.finding(
            f"`{symbol}` cannot be imported with Keras 3, as of {broken.distribution} "
            f"{broken.release}, the last release: {error}",
            at=at,
            symbol=symbol,
            confidence=Confidence.CERTAIN,
            help=_INSTEAD.get(name) or _help(module, facts, name, fix),
            fix=fix,
        )


def _help(module: Module, facts: TargetFacts, name: str, fix: Fix | NoFix) -> str:
    reasons = " ".join(told(module)) if name == PACKAGE else ""
    if isinstance(fix, Fix):
        return f"{fix.title}. {reasons}".rstrip()
    if reasons:
        return reasons
    if not broken_packages()[name].legacy:
        return (
            "Set TF_USE_LEGACY_KERAS=1 before TensorFlow is imported, and install tf_keras: "
            "`tf.keras` is then Keras 2 for the whole program."
        )
    named = _named_alike(module, facts, name.partition(".")[0])
    if named:
        return f"Keras 3 has {', '.join(named)}, which may behave differently."
    return "Copy the parts you need into the project."


def _named_alike(module: Module, facts: TargetFacts, package: str) -> list[str]:
    """Return the names of Keras 3 that are called like those of a package that are used."""
    used = {each.name for each in module.references if each.name.startswith(f"{package}.")}
    in_keras = (f"keras.{each.partition('.')[2]}" for each in sorted(used))
    return [
        f"`{each}`"
        for each in in_keras
        if each.count(".") > 1 and facts.lookup(each).presence is Presence.EXISTS
    ]


def _broken(name: str) -> str | None:
    """Return the module of the record that an import runs."""
    parts = name.split(".")
    heads = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return next((each for each in heads if each in broken_packages()), None)
