"""Fix whole trees of real code, scan them again, and hold kdoctor to what a reviewer would ask.

    python -m tools.check_fixes                     # what is installed here and speaks of Keras
    python -m tools.check_fixes ~/code/*            # folders with other people's code
    python -m tools.check_fixes --sample 20         # 1 file of 20, another each time
    python -m tools.check_fixes --diffs /tmp/diffs  # to be read: a file of hunks for each tree
    python -m tools.check_fixes --json

A copy of each tree is fixed, once with the safe fixes and once with all of them. Then

- a scan finds no name missing (KD1) that was not missing before, and a second fix changes nothing;
- every file that compiled still does, and kdoctor itself fails at none;
- ruff sees no name undefined, imported for nothing, bound twice or too late that was not before;
- no comment is lost, and no line ends otherwise than the lines of its file did.

What else a scan finds only afterwards is told: what a name stood for can be looked up once the name
is there. So are comments that went with all fixes: those write some classes anew.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import re
import secrets
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from kdoctor.documents import Document
from kdoctor.engine import FixResult, fix
from kdoctor.engine.result import FixedFile
from kdoctor.errors import INTERNAL_ERROR
from kdoctor.keras_api import oracle, resolve_target
from kdoctor.model import Severity
from kdoctor.rewrite.string_references import may_be_read_by_text
from kdoctor.syntax import Module
from tools.check_corpus import SUFFIXES

TARGET = "keras==3.15.1"
# Code of Keras 2 times that comes with the development environment, and Keras 3 itself.
INSTALLED = (
    "segmentation_models",
    "classification_models",
    "efficientnet",
    "keras_applications",
    "tensorflow/python/keras",
    "keras",
)
NAME = ": KD1"  # the rules about names, as an error is told
RUFF = Path(sys.executable).with_name("ruff")
# Undefined, unused, bound twice, read too early, left unused, imported below code, blanks at the
# end of a line. A file that is no Python is told whatever is selected.
LINTS = "F401,F404,F811,F821,F822,F823,F841,E402,W291,W293"
NEWLINE = re.compile(rb"\r\n|\r|\n")


@dataclasses.dataclass
class Report:
    """What fixing one tree did, and everything that does not hold."""

    tree: str
    fixes: str
    files: int = 0
    found: int = 0
    fixed: int = 0
    changed_files: int = 0
    crashes: list[str] = dataclasses.field(default_factory=list)
    given_up: list[str] = dataclasses.field(default_factory=list)
    missing_names: list[str] = dataclasses.field(default_factory=list)
    no_longer_compiling: list[str] = dataclasses.field(default_factory=list)
    changed_again: list[str] = dataclasses.field(default_factory=list)
    new_lints: list[str] = dataclasses.field(default_factory=list)
    lost_comments: list[str] = dataclasses.field(default_factory=list)
    line_ends: list[str] = dataclasses.field(default_factory=list)
    told: list[str] = dataclasses.field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether a reviewer would have nothing to say."""
        return not any(getattr(self, name) for name in LISTS if name != "told")


LISTS = [each.name for each in dataclasses.fields(Report) if "list" in str(each.type)]


def main() -> int:
    """Check the trees and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", nargs="*", type=Path, help="folders of code")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="1 file of N only")
    parser.add_argument("--diffs", type=Path, metavar="FOLDER", help="write the diffs there")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    installed = Path(sysconfig.get_path("purelib"))
    first = secrets.randbelow(arguments.sample)
    reports = []
    for tree in arguments.trees or [installed / name for name in INSTALLED]:
        chosen = sorted(code_in(tree))[first :: arguments.sample]
        for unsafe in (False, True):
            report, diff = check(tree, chosen, unsafe=unsafe)
            reports.append(report)
            if arguments.diffs:
                write_diff(arguments.diffs, report, diff)
            if not arguments.json:
                print(told(report), flush=True)
    if arguments.json:
        print(json.dumps([dataclasses.asdict(report) for report in reports], indent=1))
    return 0 if all(report.holds for report in reports) else 1


def code_in(tree: Path) -> Iterator[Path]:
    """Yield what kdoctor reads of a tree, as paths below it."""
    for path in tree.rglob("*"):
        if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink():
            yield path.relative_to(tree)


def check(tree: Path, chosen: list[Path], *, unsafe: bool) -> tuple[Report, str]:
    """Fix some files of a copy of a tree. Return what came of it, and the diff."""
    report = Report(tree.name, "all" if unsafe else "safe", len(chosen))
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        for copy in (before / tree.name, after / tree.name):
            for path in code_in(tree):
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / path, copy / path)
        paths = [after / tree.name / path for path in chosen]
        first = fixed(paths, apply=True, unsafe=unsafe)
        second = fixed(paths, apply=False, unsafe=unsafe) if first.files else first
        report.found = len(first.found.findings)
        report.fixed = sum(len(file.applied) for file in first.files)
        report.changed_files = len(first.files)
        report.crashes = [
            f"{inside(file.path)}: {file.why}"
            for file in (*first.found.unreadable, *second.found.unreadable)
            if INTERNAL_ERROR in file.why
        ]
        report.given_up = [f"{inside(file.path)}: {file.why}" for file in first.left_alone]
        new = more(errors(second), errors(first))
        report.missing_names = [each for each in new if NAME in each]
        report.told = [each for each in new if NAME not in each]
        report.changed_again = [file.diff for file in second.files] if second is not first else []
        for file in first.files:
            look_at(file, report)
        names = [inside(file.path) for file in first.files]
        report.new_lints = more(lints(after, names), lints(before, names))
        return report, "".join(file.diff for file in first.files).replace(folder, "")


def look_at(file: FixedFile, report: Report) -> None:
    """Note what is wrong with one changed file."""
    name = inside(file.path)
    report.no_longer_compiling += more(broken(file.after, name), broken(file.before, name))
    lost = lost_comments(file.before, file.after, name)
    if report.fixes == "safe":
        report.lost_comments += lost
    else:
        report.told += lost
    if not line_ends(file.after) <= line_ends(file.before):
        report.line_ends.append(name)


def write_diff(folder: Path, report: Report, diff: str) -> None:
    """Write the diff of one tree."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{report.tree}.{report.fixes}.diff"
    path.write_text(diff, encoding="utf-8", errors="surrogateescape")


def fixed(paths: list[Path], *, apply: bool, unsafe: bool) -> FixResult:
    """Fix files as the command does."""
    return fix(paths, apply=apply, unsafe=unsafe, target=TARGET, isolated=True)


def inside(path: str) -> str:
    """Return a path as it is below the copied tree."""
    return re.sub(r"^.*?/after/", "", path)


def errors(result: FixResult) -> Counter[str]:
    """Count the errors that were found, by file and name."""
    return Counter(
        f"{inside(finding.place.path)}: {finding.code} {finding.symbol}"
        for finding in result.found.findings
        if finding.severity is Severity.ERROR
    )


def more(after: Counter[str], before: Counter[str]) -> list[str]:
    """Return what there is more of than there was."""
    return sorted((after - before).elements())


def broken(data: bytes, path: str) -> Counter[str]:
    """Count the pieces of code in a document that Python does not compile."""
    broken_ones = Counter[str]()
    with warnings.catch_warnings(action="ignore"):
        for text in texts(data, path):
            try:
                compile(text, path, "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                broken_ones[path] += 1
    return broken_ones


def texts(data: bytes, path: str) -> Iterator[str]:
    """Yield the Python in a document."""
    for unit in Document.parse(data, path).units:
        yield unit.text


def lost_comments(before: bytes, after: bytes, path: str) -> list[str]:
    """Return the comments that went; what a fix writes may bring some of its own."""
    old = [each for text in texts(before, path) for each in comments(text)]
    new = [each for text in texts(after, path) for each in comments(text)]
    steps = SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    lost = (old[i:j] for tag, i, j, _, _ in steps if tag != "equal")
    return [f"{path}: {comment}" for gone in lost for comment in gone]


def comments(text: str) -> Iterator[str]:
    """Yield the comments of a piece of code, as far as it can be cut into tokens."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.strip()
    except (tokenize.TokenError, SyntaxError):
        return


def line_ends(data: bytes) -> set[bytes]:
    """Return the newlines that a file has."""
    return set(NEWLINE.findall(data))


def lints(folder: Path, names: Iterable[str]) -> Counter[str]:
    """Count what ruff says of some files."""
    code = [name for name in names if name.endswith((".py", ".ipynb"))]
    if not code:
        return Counter()
    command = [RUFF, "check", "--isolated", "--no-cache", "--output-format", "json"]
    command += ["--preview", "--select", LINTS, "--ignore-noqa", *code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found: Counter[str] = Counter()
    for each in json.loads(done.stdout):
        path = Path(each["filename"]).relative_to(folder.resolve())
        if each["code"] == "F401" and is_read(folder / path, each):
            continue
        # An import may have moved, and stands below code with others that do.
        message = unused(folder / path, each) if each["code"] == "F401" else each["message"]
        message = re.sub(r"`[\w.]*\.(\w+)`| line \d+", r"`\1`", message)
        line = f"{path}: {each['code']} {message}"
        found[line] = 1 if each["code"] == "E402" else found[line] + 1
    return found


def unused(path: Path, lint: dict[str, Any]) -> str:
    """Return what ruff says of an unused import, by the name that it binds: that stays in a fix."""
    if path.suffix != ".py":
        return str(lint["message"])
    return f"`{imported(path, lint)}` imported but unused"


def is_read(path: Path, lint: dict[str, Any]) -> bool:
    """Say whether `globals()` or the like may read an import that ruff calls unused: it stays."""
    if path.suffix != ".py":
        return False
    unit = Document.parse(path.read_bytes(), str(path)).units[0]
    module = Module.parse(unit, oracle(resolve_target(TARGET, "the target")))
    return may_be_read_by_text(module, imported(path, lint).rpartition(" ")[2])


def imported(path: Path, lint: dict[str, Any]) -> str:
    """Return the import that a lint of ruff is about, as written."""
    start, end = lint["location"], lint["end_location"]
    line = NEWLINE.split(path.read_bytes())[start["row"] - 1].decode(errors="replace")
    return line[start["column"] - 1 : end["column"] - 1]


def told(report: Report) -> str:
    """Return a report for people."""
    figures = f"{report.files} files, {report.found} findings, {report.fixed} fixed"
    lines = [f"{report.tree}, {report.fixes}: {figures} in {report.changed_files} files"]
    for name in LISTS:
        found = getattr(report, name)
        if found:
            lines.append(f"  {name.replace('_', ' ')}: {len(found)}")
            lines += [f"    {line}" for each in found for line in each.splitlines()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
