"""How many instructions a scan takes: ``python -m benchmarks.speed.instructions TREE``.

On a machine that others use, too, the processor time of one version differs by a tenth from run to
run. What valgrind counts does not, and a change of a hundredth shows; a scan takes it some thirty
times as long, so ``TREE`` should be a few projects.
"""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.speed.tools import TARGET

_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


def main(
    trees: Annotated[list[Path], typer.Argument(metavar="TREE")],
    *,
    before: Annotated[
        Path | None, typer.Option(help="A checkout to compare with: tells the ratio.")
    ] = None,
) -> None:
    """Show the instructions of ``kdoctor scan --jobs 1`` on trees, without a cache."""
    here = Path(__file__).resolve().parents[2]
    after = counted(here, trees)
    print(f"{after / 1e6:,.0f} million instructions")
    if before is not None:
        other = counted(before, trees)
        print(f"{other / 1e6:,.0f} million before: {after / other:.4f} times as many")


def counted(source: Path, trees: list[Path]) -> int:
    """Return the instructions of one scan by the kdoctor of a checkout, with its start.

    Raises:
        typer.BadParameter: there is no valgrind, or the scan did not end well.
    """
    program = shutil.which("valgrind")
    if program is None:
        raise typer.BadParameter("valgrind is not installed: `apt-get install valgrind`")
    source = source.resolve()
    compileall.compile_dir(source / "kdoctor", quiet=2)  # else the first scan compiles it
    valgrind = [program, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    scan = ["scan", "--isolated", "--jobs=1", f"--target={TARGET}", "--exit-zero", "--no-cache"]
    done = subprocess.run(
        [*valgrind, sys.executable, "-P", "-m", "kdoctor", *scan, *map(str, trees)],
        # The order of sets differs by the seed of hashes, and with it who asks first.
        env=os.environ | {"PYTHONPATH": str(source), "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    told = _COUNTED.search(done.stderr)
    if done.returncode or told is None:
        raise typer.BadParameter(f"kdoctor of {source} did not end well:\n{done.stderr[-2000:]}")
    return int(told[1].replace(",", ""))


if __name__ == "__main__":
    typer.run(main)
