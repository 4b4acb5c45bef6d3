"""The arguments in a configuration, held against what a class of the target takes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from packaging.version import Version

from kdoctor.analysis.keyword_changes import Change, change_of, was_taken
from kdoctor.keras_api import ClassFamily, lookup, signature
from kdoctor.keras_api.config_arguments import config_arguments
from kdoctor.models.at import At, shown
from kdoctor.models.obstacle import Fault, Obstacle, Remedy
from kdoctor.target import Target
from kdoctor.value_types import Kind

_KINDS: Final = {ClassFamily.LAYER: Kind.LAYER, ClassFamily.OPTIMIZER: Kind.OPTIMIZER}
_NOTHING: Final = (None, False)  # values with which Keras 2 did as if there were no argument
_KERAS_2: Final = Target("keras", "2.15.0", "", "2.15.0", "2.15.0")


def argument_obstacles(
    leaf: str, home: str, config: Mapping[str, Any], at: At
) -> Iterator[Obstacle]:
    """Yield an obstacle for each argument that the class at ``home`` takes no more, or misses."""
    taken = config_arguments(home, at.target.keras_version)
    if taken is None:
        return
    for name, value in config.items():
        if taken.refuses(name):
            yield _refused(leaf, home, name, value, at)
        elif name in taken.whole and isinstance(value, list):
            yield at.obstacle(
                Fault.VALUE,
                f"`{name}` of `{shown(leaf)}` is a list, `{shown(value)}`, and a number is wanted",
                "`kdoctor model --convert` writes the number.",
                Remedy.CONVERT if len(value) == 1 else Remedy.CODE,
                name,
            )
        elif name == "reduction" and value == "auto" and ".losses." in home:
            yield at.obstacle(
                Fault.VALUE,
                f"`{shown(leaf)}` takes no `reduction='auto'`",
                "`kdoctor model --convert` leaves it out: the default is what 'auto' meant.",
                Remedy.CONVERT,
                name,
            )
    for name in sorted(taken.required.difference(config)):
        yield at.obstacle(
            Fault.STRUCTURE,
            f"`{shown(leaf)}` has no `{name}` in its configuration, and needs it",
            f"Add `{name}` to the configuration, or build the layer in code.",
            Remedy.CODE,
            subject=name,
        )


def is_refused(home: str, name: str, target: Target) -> bool:
    """Say whether the class surely takes no such argument."""
    taken = config_arguments(home, target.keras_version)
    return taken is not None and taken.refuses(name)


def _refused(leaf: str, home: str, name: str, value: object, at: At) -> Obstacle:
    known = home.rpartition(".")[2]
    found = lookup(f"keras.layers.{known}", at.target)
    kind = _KINDS.get(found.family)
    if ".optimizers." in home:
        kind = Kind.OPTIMIZER
    change = change_of(known, kind, name, Version(at.target.keras_version))
    cause = f"`{shown(leaf)}` takes no `{shown(name)}`"
    if change.renamed and config_takes(home, change.renamed, at.target):
        return at.renamed(
            Fault.ARGUMENT, f"{cause}: it is `{change.renamed}` now", name, change.renamed
        )
    if _may_go(home, kind, name, value, change):
        lost = f"; {change.loses}" if change.loses else ""
        return at.obstacle(
            Fault.ARGUMENT,
            cause,
            f"`kdoctor model --convert` leaves it out{lost}.",
            Remedy.CONVERT,
            subject=name,
        )
    return at.obstacle(
        Fault.ARGUMENT,
        f"{cause}, and its value is `{shown(value)}`",
        change.help or f"Write a subclass of `{known}` that does what `{shown(name)}` did.",
        Remedy.CODE,
        subject=name,
    )


def config_takes(home: str, name: str, target: Target) -> bool:
    """Say whether the class takes an argument."""
    taken = config_arguments(home, target.keras_version)
    return taken is not None and name in taken.taken


def _may_go(home: str, kind: Kind | None, name: str, value: object, change: Change) -> bool:
    """Say whether leaving an argument out changes nothing that the model computes."""
    if change.drop or repr(value) in change.harmless or any(value is each for each in _NOTHING):
        return True
    leaf = home.rpartition(".")[2]
    module = "optimizers" if kind is Kind.OPTIMIZER else "layers"
    was = signature(f"keras.{module}.{leaf}", _KERAS_2)
    parameter = was.parameter(name) if was is not None else None
    if parameter is None:  # what `from_config` of Keras 2 took out again: no argument of anyone's
        return was is not None and not was_taken(leaf, kind, name)
    if parameter.default is None:
        return False
    try:
        return bool(ast.literal_eval(parameter.default) == value)
    except ValueError:
        return False
