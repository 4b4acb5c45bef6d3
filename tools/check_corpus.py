"""Scan and round-trip the standard library and site-packages.

    python -m tools.check_corpus                # every file, with and without the gate (minutes)
    python -m tools.check_corpus --sample 20    # 1 file of 20 where it is slow, another each time
    python -m tools.check_corpus --json

What is checked, of this Python's standard library and installed packages:

- a document that is taken apart and put together again is the same bytes;
- the scanner reads every file without a crash;
- there is no finding in a file in which the letters ``keras`` do not occur;
- the gate hides nothing: without it (``--no-gate``) the findings are the same.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import secrets
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

from kdoctor.documents import Document, Unit
from kdoctor.errors import INTERNAL_ERROR, FileProblem
from kdoctor.model import Span

KDOCTOR = Path(sys.executable).with_name("kdoctor")
TARGET = ("--target", "keras==3.15.1")
SUFFIXES = {".py", ".ipynb", ".md", ".rst"}
BATCH = 4000  # files a call: below the system's limit on arguments


@dataclasses.dataclass
class Figures:
    """What was read, and everything that does not hold."""

    files: int = 0
    lines: int = 0
    round_trips: int = 0
    scanned: int = 0
    scanned_without_gate: int = 0
    mention_keras: int = 0
    findings: int = 0
    unreadable: list[str] = dataclasses.field(default_factory=list)
    not_byte_equal: list[str] = dataclasses.field(default_factory=list)
    crashes: list[str] = dataclasses.field(default_factory=list)
    false_alarms: list[str] = dataclasses.field(default_factory=list)
    hidden_by_gate: list[str] = dataclasses.field(default_factory=list)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether everything that kdoctor promises holds."""
        return not (self.not_byte_equal or self.crashes or self.false_alarms or self.hidden_by_gate)


def main() -> int:
    """Check the corpus and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="1 file of N only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    figures = check(sorted(corpus()), arguments.sample)
    print(json.dumps(dataclasses.asdict(figures), indent=1) if arguments.json else told(figures))
    return 0 if figures.holds else 1


def corpus() -> Iterator[Path]:
    """Yield the files of the standard library and of site-packages, each once."""
    for folder in (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")):
        for path in folder.rglob("*"):
            inside = path.relative_to(folder).parts  # the library's own site-packages: not ours
            if path.suffix in SUFFIXES and path.is_file() and "site-packages" not in inside:
                yield path


def check(paths: list[Path], step: int) -> Figures:
    """Return the figures: the cheap checks over all files, the slow ones over 1 of ``step``."""
    figures = Figures(files=len(paths))
    started = time.perf_counter()
    with_keras = set()
    for path in paths:
        data = path.read_bytes()
        figures.lines += data.count(b"\n")
        if b"keras" in data.lower():
            with_keras.add(path)
        round_trip(path, data, figures)
    figures.mention_keras = len(with_keras)
    figures.seconds["round trip"] = round(time.perf_counter() - started, 1)

    quiet = [path for path in paths if path not in with_keras]
    first = secrets.randbelow(step)
    loud = sorted(with_keras)[first::step]
    started = time.perf_counter()
    gated = scan(quiet + loud, figures)
    figures.scanned = len(quiet) + len(loud)
    figures.seconds["scan"] = round(time.perf_counter() - started, 1)
    figures.findings = len(gated)
    alarms = [finding for finding in gated if Path(finding["path"]) not in with_keras]

    started = time.perf_counter()
    chosen = quiet[first::step] + loud
    ungated = scan(chosen, figures, "--no-gate")
    figures.scanned_without_gate = len(chosen)
    figures.seconds["scan without gate"] = round(time.perf_counter() - started, 1)
    alarms += [finding for finding in ungated if Path(finding["path"]) not in with_keras]
    figures.false_alarms = sorted({told_finding(finding) for finding in alarms})
    names = {str(path) for path in chosen}
    seen = {told_finding(finding) for finding in gated if finding["path"] in names}
    figures.hidden_by_gate = sorted({told_finding(finding) for finding in ungated} - seen)
    return figures


def round_trip(path: Path, data: bytes, figures: Figures) -> None:
    """Take a document apart and put it together again."""
    try:
        document = Document.parse(data, str(path))
    except FileProblem as problem:
        figures.unreadable.append(f"{path}: {problem}")
        return
    texts = {
        unit.index: [own_text(unit, cell.span) for cell in unit.cells] for unit in document.units
    }
    figures.round_trips += 1
    if document.replace(texts) != data:
        figures.not_byte_equal.append(str(path))


def own_text(unit: Unit, span: Span) -> str:
    """Return a cell as its author wrote it, without the masks over magics."""
    text, position = "", span.start
    for mask in unit.masks:
        if span.covers(mask.span):
            text += unit.text[position : mask.span.start] + "".join(map(str, mask.parts))
            position = mask.span.end
    return text + unit.text[position : span.end]


def scan(paths: list[Path], figures: Figures, *options: str) -> list[dict]:
    """Return the findings of all paths; note a batch that ends in anything but a result."""
    findings = []
    for start in range(0, len(paths), BATCH):
        batch = [str(path) for path in paths[start : start + BATCH]]
        command = [str(KDOCTOR), "scan", "--format", "json", *TARGET, *options, *batch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            result = json.loads(done.stdout)
        except ValueError:
            figures.crashes.append(f"{batch[0]} … {batch[-1]}: {done.stderr.strip()[-2000:]}")
            continue
        # Paths below the working directory (an environment in the repository) are told relative.
        findings += [f | {"path": str(Path(f["path"]).absolute())} for f in result["findings"]]
        figures.crashes += [
            f"{file['path']}: {file['why']}"
            for file in result["files"]["unreadable"]
            if INTERNAL_ERROR in file["why"]
        ]
    return findings


def told_finding(finding: dict) -> str:
    """Return a finding as one line."""
    return f"{finding['path']}:{finding['line']}: {finding['code']} {finding['symbol']}"


def told(figures: Figures) -> str:
    """Return the figures for people."""
    lines = []
    for name, value in dataclasses.asdict(figures).items():
        shown = len(value) if isinstance(value, list) else value
        lines.append(f"{name.replace('_', ' '):<22}{shown}")
        lines += [f"    {line}" for line in value[:20]] if isinstance(value, list) else []
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
