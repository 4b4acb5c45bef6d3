"""Which code of a saved model runs when it is loaded: its Lambdas, and what the user wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kdoctor.models.explained import explained
from kdoctor.models.lambdas import modules_of
from kdoctor.models.obstacle import Fault, Obstacle, Part
from kdoctor.models.reading import read_contents
from kdoctor.target import Target

_CODE: Final = {
    Fault.LAMBDA: "a `Lambda`",
    Fault.OWN_CLASS: "the class `{}`",
    Fault.OWN_FUNCTION: "the function `{}`",
}


def code_inside(path: Path, target: Target) -> tuple[str, ...]:
    """Return what of a file is code, each with its place; the target tells what is its own.

    What it was compiled with is left out: it need not be loaded.

    Raises:
        FileProblem: it cannot be read.
    """
    told = explained(path, target).obstacles or ()
    return tuple(dict.fromkeys(_shown(each) for each in told if _is_code(each)))


def lambda_modules(path: Path) -> dict[str, tuple[str, ...]]:
    """Return where Keras 2 looks for what the Lambdas of a file need: the names, by module.

    Raises:
        FileProblem: it cannot be read.
    """
    model = read_contents(path).model
    return {module: tuple(sorted(names)) for module, names in modules_of(model).items()}


def _is_code(obstacle: Obstacle) -> bool:
    return obstacle.fault in _CODE and obstacle.part is not Part.TRAINING


def _shown(obstacle: Obstacle) -> str:
    what = _CODE[obstacle.fault].format(obstacle.subject.rpartition(">")[2])
    return f"{what} at {obstacle.place}" if obstacle.place else what
