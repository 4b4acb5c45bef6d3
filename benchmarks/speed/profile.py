"""Where a scan's time goes, by stage: ``python -m benchmarks.speed.profile TREE``.

A signal comes each millisecond of processor time; what it strikes is counted for the innermost
function whose file belongs to a stage. So it works on any version of kdoctor (``--source`` takes
another checkout), and the code is not made slower by being looked at.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from benchmarks.speed import record
from benchmarks.speed.tools import TARGET

# The stages in the order of a scan: parts of file names, from the more to the less special.
STAGES: Final = {
    # And all that is imported, whenever.
    "start": r"/typer/|/pydantic|kdoctor/(__main__|cli|rules/(registry|index|words))",
    "files": r"kdoctor/(documents/(?!positions)|project|config|modules/(prefilter|module_finder)"
    r"|engine/(options|selection|schedule/(collect_files|plan)))",
    "gate": r"kdoctor/(engine/rule_prefilter|modules|analysis/(triggers|class_glimpses|queries)"
    r"|syntax/(quick_facts|source_index|symbol_table|may_types|type_sets))",
    "cache": r"kdoctor/engine/cache",
    "parse": r"kdoctor/syntax/(parsing|line_offsets|lowering/(?!.*_spans))|/libcst/",
    "positions": r"kdoctor/(syntax/(lowering|spans|written_spans|code_writer)|documents/positions)",
    "scopes": r"kdoctor/syntax/(scope|libcst_walk|blocks|docstrings)",
    "names": r"kdoctor/(syntax/(name_resolution|imports|references|members|type_oracle|package)"
    r"|keras_api)",
    "inference": r"kdoctor/syntax/",
    "rules": r"kdoctor/(rules|analysis)/",
    "rewrites": r"kdoctor/(rewrite|engine/fixes)",
    "comments": r"kdoctor/(suppression|engine/suppression)",
    "report": r"kdoctor/(report|engine/(identity|result))",
    # The trees that die when their file is done, and Python's garbage collector.
    "ends of files": r"kdoctor/engine/(examine|scanning|schedule)",
}
REST: Final = "the rest"
COLLECTOR: Final = "of all: the garbage collector"


def main(
    trees: Annotated[list[Path], typer.Argument(metavar="TREE")],
    *,
    source: Annotated[
        Path | None, typer.Option(help="Profile the kdoctor of this checkout, not of this one.")
    ] = None,
    before: Annotated[
        Path | None, typer.Option(help="A checkout to compare with: a table of both.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--record", help="Write the table into this folder's README.")
    ] = False,
) -> None:
    """Show the processor seconds of each stage of ``kdoctor scan --jobs 1`` on trees."""
    here = Path(__file__).resolve().parents[2]
    found = {"after": profiled(source or here, trees)}
    if before is not None:
        found = {"before": profiled(before, trees), **found}
    page = table(found)
    print(page)
    if keep:
        record.put("profile", page)


def profiled(source: Path, trees: list[Path]) -> dict[str, float]:
    """Return the processor seconds of each stage, of a process of its own."""
    source = source.resolve()
    scan = ["scan", "--isolated", "--jobs=1", f"--target={TARGET}", "--exit-zero"]
    cold = ["--no-cache"] if "--no-cache" in (source / "kdoctor/cli/options.py").read_text() else []
    words = [sys.executable, "-c", Path(__file__).with_name("sampling.py").read_text()]
    done = subprocess.run(
        [*words, json.dumps(STAGES), *scan, *cold, *(str(tree.resolve()) for tree in trees)],
        env=os.environ | {"PYTHONPATH": str(source)},
        cwd=source,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    told = re.findall(r"^stages (.*)$", done.stderr, re.MULTILINE)
    if not told:
        raise typer.BadParameter(f"kdoctor of {source} did not end well:\n{done.stderr[-2000:]}")
    seconds: dict[str, float] = json.loads(told[-1])
    return seconds


def table(found: dict[str, dict[str, float]]) -> str:
    """Return the stages, one column a checkout, as Markdown."""
    names = [*STAGES, REST]
    sides = list(found.values())
    rows = [
        f"| stage (processor seconds) | {' | '.join(found)} |",
        f"| --- |{' ---: |' * len(found)}",
        *(
            f"| {name} | {' | '.join(f'{side.get(name, 0):.2f}' for side in sides)} |"
            for name in names
            if any(side.get(name, 0) >= 0.005 for side in sides)
        ),
    ]
    sums = [sum(side.get(name, 0) for name in names) for side in sides]
    rows.append(f"| **all** | {' | '.join(f'**{each:.2f}**' for each in sums)} |")
    rows.append(f"| {COLLECTOR} | {' | '.join(f'{each[COLLECTOR]:.2f}' for each in sides)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    typer.run(main)
