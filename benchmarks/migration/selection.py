"""Which packages a run is of: named ones, a half, or a few that were drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from benchmarks.migration.catalogue import Catalogue
from benchmarks.migration.model import Half, Package

SAMPLE_SECONDS = 1200  # what a drawn sample may take, all arms and jobs together


class SelectionProblem(Exception):
    """No such packages can be run."""


def chosen(listed: Catalogue, only: list[str], *, unseen: bool) -> list[Package]:
    """Return the packages of these names, or all; unseen ones only where that is asked for.

    Raises:
        SelectionProblem: there is no such package, or it is an unseen one and was not asked for.
    """
    try:
        named = listed.named(only)
    except KeyError as problem:
        raise SelectionProblem(f"there is no package {problem}") from None
    hidden = [each.name for each in named if each.half is Half.UNSEEN and not unseen]
    if only and hidden:
        told = "unseen: run at the end of a piece of work only, with --unseen"
        raise SelectionProblem(f"{', '.join(hidden)}: {told}")
    return [each for each in named if each.name not in hidden]


def drawn(
    packages: Sequence[Package],
    size: int,
    seed: int,
    seconds: Callable[[Package], float],
    jobs: int,
) -> list[Package]:
    """Draw packages that can all be run within the time of a sample.

    ``seconds`` says how long all arms of a package take. One that would not fit any more is passed
    over, so that a sample is of the quicker packages: a figure for between, not for the table.
    """
    left = float(SAMPLE_SECONDS * jobs)
    found: list[Package] = []
    for package in sorted(packages, key=lambda each: _digest(seed, each)):
        if len(found) < size and seconds(package) <= left:
            found.append(package)
            left -= seconds(package)
    return sorted(found, key=lambda each: each.name)


def _digest(seed: int, package: Package) -> bytes:
    return hashlib.sha256(f"{seed} {package.name}".encode()).digest()
