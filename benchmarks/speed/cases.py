"""The cases of the table: what runs on what, how often, and how the runs are interleaved."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.speed import measure, tools
from benchmarks.speed.inputs import MILLION, QUICK, Input, Inputs
from benchmarks.speed.measure import Command, Run
from benchmarks.speed.tools import Tool

Runs = dict[str, list[Run]]

GROWTH = (2, 4, 8, 16, 32)  # shards: a quarter of a million lines to four million
SMALL_GROWTH = (1, 2, 4, 8)
SLOW = {"pyupgrade", "flake8", "TorchFix", "Fixit", "pylint"}


@dataclass(frozen=True, slots=True)
class Contest:
    """What takes part in a case: each tool with what it runs on."""

    on: dict[str, tuple[Tool, Input]]
    cores: int = 2
    memory: bool = False
    before: Tool | None = None  # is run once, before all: fills a cache
    rounds: int | None = None
    cheap: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person who measures has chosen."""

    work: Path
    runs: int = 3
    slow_runs: int = 1
    slow_shards: int = QUICK
    quick: bool = False  # up to a million lines


@dataclass(frozen=True, slots=True)
class Bench:
    """What the cases are made from."""

    settings: Settings
    inputs: Inputs
    peers: dict[str, Tool]

    def against(self, tree: Input, *names: str) -> dict[str, tuple[Tool, Input]]:
        """Return these peers, each on the tree (of TorchFix: the copy that it looks at)."""
        return {
            name: (self.peers[name], self.inputs.of_torch(tree) if name == "TorchFix" else tree)
            for name in names
        }


def _cold(bench: Bench) -> Contest:
    tree = bench.inputs.part(MILLION)
    on = {"kdoctor": (tools.scan(), tree), **bench.against(tree, "ruff")}
    return Contest(on, rounds=5)  # near its goal, and one run of the two takes half a minute


def _one_core(bench: Bench) -> Contest:
    tree = bench.inputs.part(MILLION)
    ours = {"kdoctor": (tools.scan("--jobs=1"), tree)}
    return Contest(ours | bench.against(tree, "django-upgrade"), cores=1)


def _one_core_slow(bench: Bench) -> Contest:
    tree = bench.inputs.part(max(bench.settings.slow_shards, 2))
    ours = {"kdoctor": (tools.scan("--jobs=1"), tree)}
    return Contest(ours | bench.against(tree, "pyupgrade", "flake8"), cores=1)


def _libcst(bench: Bench) -> Contest:
    tree = bench.inputs.part(bench.settings.slow_shards)
    ours = {"kdoctor": (tools.scan(), tree)}
    return Contest(ours | bench.against(tree, "TorchFix", "Fixit"))


def _dense(bench: Bench) -> Contest:
    tree = bench.inputs.dense
    ours = {"kdoctor": (tools.scan(), tree)}
    # One of ours takes two or three seconds, in which a machine that others share is uneven.
    return Contest(ours | bench.against(tree, "TorchFix", "Fixit", "pylint"), rounds=9)


def _warm(bench: Bench) -> Contest:
    tree = bench.inputs.part(MILLION)
    scan = tools.scan("--cache")
    on = {"kdoctor": (scan, tree), "find -exec cat": (tools.reading(), tree)}
    return Contest(on, before=scan, rounds=5)


def _commit(bench: Bench) -> Contest:
    files = bench.inputs.commit()
    scan = tools.kdoctor("scan", "--force-exclude", *tools.cold())
    ours = {"kdoctor": (scan, files)}
    return Contest(ours | bench.against(files, "django-upgrade"), rounds=21, cheap=True)


def _help(bench: Bench) -> Contest:
    files = bench.inputs.commit()
    nothing = Input("no file", files.folder, (), (), 0)
    return Contest({"kdoctor": (tools.kdoctor("--help"), nothing)}, rounds=21, cheap=True)


def _fix(bench: Bench) -> Contest:
    tree = bench.inputs.dense
    fix = tools.kdoctor("fix", "--apply", "--isolated", f"--target={tools.TARGET}")
    return Contest({"fix --apply": (fix, tree), "scan": (tools.scan(), tree)}, rounds=5)


def _growth(bench: Bench) -> Contest:
    sizes = SMALL_GROWTH if bench.settings.quick else GROWTH
    on = {str(shards): (tools.scan(), bench.inputs.part(shards)) for shards in sizes}
    return Contest(on, memory=True, rounds=1)


CASES: dict[str, Callable[[Bench], Contest]] = {
    "cold": _cold,
    "commit": _commit,
    "help": _help,
    "warm": _warm,
    "one-core": _one_core,
    "fix": _fix,
    "dense": _dense,
    "libcst": _libcst,
    "one-core-slow": _one_core_slow,
    "growth": _growth,
}


@dataclass(slots=True)
class Measured:
    """The runs of a case, and the lines of code that each tool ran on."""

    runs: Runs = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def contest(case: str, bench: Bench, told: Callable[[str], None]) -> Measured:
    """Run all tools of a case in turn, round by round; ``told`` hears of each run."""
    held = CASES[case](bench)
    measured = Measured(lines={name: tree.lines for name, (_, tree) in held.on.items()})
    with _no_cache(held), tempfile.TemporaryDirectory(dir=bench.settings.work) as folder:
        copies = Path(folder, "copy")
        # Not measured: compiled modules are written. A wrong call would end with 2 here, too.
        for tool, tree in held.on.values():
            if tool.name == "kdoctor":
                few = replace(tool, codes=(0, 1))
                measure.run(_command(few, _few(tree).copied(copies), held.cores))
        if held.before is not None:
            measure.run(_command(held.before, held.on["kdoctor"][1], held.cores))
        for number in range(_rounds(held, bench.settings)):
            for name, (tool, tree) in held.on.items():
                if name in SLOW and number >= bench.settings.slow_runs:
                    continue
                given = tree.copied(copies) if tool.writes else tree
                done = measure.run(_command(tool, given, held.cores), memory=held.memory)
                measured.runs.setdefault(name, []).append(done)
                told(f"{case}: {name} {done.wall:.2f} s, {done.cpu:.2f} s of processors")
    return measured


def _rounds(held: Contest, settings: Settings) -> int:
    if settings.quick:
        return min(held.rounds or 1, 9 if held.cheap else 1)
    return held.rounds or settings.runs


def _command(tool: Tool, tree: Input, cores: int) -> Command:
    paths = tree.files if tool.files else tree.paths
    # What a tool keeps for the next time it keeps here, where it is of no use to it.
    kept = {"PYLINTHOME": str(tree.folder / ".pylint")}
    return Command(tool.words(paths), tree.folder, cores, tool.codes, kept)


def _few(tree: Input) -> Input:
    few = tree.files[:2]
    return Input(tree.name, tree.folder, few, few, 0)


@contextlib.contextmanager
def _no_cache(held: Contest) -> Iterator[None]:
    """Take away what kdoctor keeps of the trees, before and after."""
    _take_away(held)
    try:
        yield
    finally:
        _take_away(held)


def _take_away(held: Contest) -> None:
    for folder in {tree.folder for _, tree in held.on.values()}:
        for depth in ("", "*/", "*/*/"):
            for cache in folder.glob(f"{depth}.kdoctor_cache"):
                shutil.rmtree(cache, ignore_errors=True)
