"""Record real runs in README.md and docs/: the output below each command, figures, tables.

    python tools/record.py                  # writes the pages
    python tools/record.py docs/index.md    # this page only
    python tools/record.py --check          # exit code 1 where it would, and which page

Every ``console`` block is run, page by page, in a copy of ``fixtures/`` of the page's own, with the
files that the page shows under a title: what one command wrote, the next one finds. Commands that
are only to be read stand in ``bash`` blocks.
Between ``<!-- proof figures -->``, ``<!-- guide table -->``, ``<!-- migration table -->`` or
``<!-- speed table -->`` and ``<!-- end -->`` stands what the proof record or a benchmark says.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
FILE = re.compile(r'```\w+ title="([^"]+)"\n(.*?)```\n', re.DOTALL)
BLOCK = re.compile(r"```console\n(\$ .*?)```\n", re.DOTALL)
TABLE = re.compile(r"<!-- (migration|speed) table -->\n.*?<!-- end -->\n", re.DOTALL)
MEASURED = re.compile(r"<!-- results -->\n(.*?<!-- end -->\n)", re.DOTALL)
FIGURES = re.compile(r"<!-- proof figures -->\n.*?<!-- end -->\n", re.DOTALL)
GUIDE = re.compile(r"<!-- guide table -->\n.*?<!-- end -->\n", re.DOTALL)
GENERATED = {"proofs.md", "gpu.md"}  # written by tools of their own
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name not in GENERATED),
]
PAGES_AT_ONCE = 2


def main() -> int:
    """Write the pages anew, or say whether they are as they should be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where it would")
    parser.add_argument("pages", nargs="*", type=Path, help="only these")
    arguments = parser.parse_args()
    pages = [path.resolve() for path in arguments.pages] or PAGES
    with ThreadPoolExecutor(PAGES_AT_ONCE) as pool:
        printed = dict(zip(pages, pool.map(anew, pages), strict=True))
    changed = {path: new for path, new in printed.items() if new != path.read_text("utf-8")}
    for path, text in changed.items():
        print(path.relative_to(ROOT))
        if not arguments.check:
            path.write_text(text, "utf-8")
    return int(bool(changed) and arguments.check)


def anew(path: Path) -> str:
    """Return a page with what its commands print now, and with the figures of today's records."""
    text = path.read_text("utf-8")
    text = TABLE.sub(lambda it: f"<!-- {it[1]} table -->\n{measured_by(it[1])}", text)
    text = FIGURES.sub(lambda _: f"<!-- proof figures -->\n{figures()}\n<!-- end -->\n", text)
    if GUIDE.search(text) is not None:
        text = GUIDE.sub(lambda _: f"<!-- guide table -->\n{guide_table()}<!-- end -->\n", text)
    if BLOCK.search(text) is None:
        return text
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "fixtures", Path(folder, "fixtures"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        for name, content in FILE.findall(text):
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
        run = functools.partial(shell, folder=folder)
        return BLOCK.sub(lambda block: f"```console\n{recorded(block[1], run)}```\n", text)


def guide_table() -> str:
    """Return what ``tools.guide_table`` prints: the rules are imported for it alone."""
    command = [sys.executable, "-m", "tools.guide_table"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout


def measured_by(benchmark: str) -> str:
    """Return what a benchmark wrote into its own page."""
    page = (ROOT / "benchmarks" / benchmark / "README.md").read_text("utf-8")
    measured = MEASURED.search(page)
    assert measured is not None
    return measured[1]


def recorded(block: str, run: Callable[[str], str]) -> str:
    """Return the commands of a block, each with what it prints now."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join(f"{line}\n{run(line.removeprefix('$ '))}" for line in commands)


def shell(command: str, folder: str) -> str:
    """Return what a command line prints in a folder."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def figures() -> str:
    """Return what the proof record says, in one sentence."""
    record = json.loads((ROOT / "kdoctor" / "rules" / "proofs.json").read_text("utf-8"))
    about = record.pop("about")
    versions, versions_elsewhere = about["frameworks"], about["backends"]
    examples = [entry for key, entry in record.items() if key.startswith("example ")]
    rewrites = [entry for key, entry in record.items() if not key.startswith("example ")]
    cases = sum(sum(entry.get("cases", {}).values()) for entry in rewrites)
    gradients = sum(entry.get("gradients", 0) for entry in rewrites)
    return (
        f"The record of this version (TensorFlow {versions['tensorflow']}, Keras "
        f"{versions['keras']}, tf_keras {versions['tf_keras']}): "
        f"{sum(entry['holds'] for entry in rewrites)} of {len(rewrites)} rewrites hold, in "
        f"{cases:,} runs, {gradients:,} of them with gradients; "
        f"{sum(entry['holds'] for entry in examples)} of {len(examples)} examples do what they "
        f"say{_examples_elsewhere(examples)}. "
        f"{elsewhere(rewrites, versions_elsewhere)}"
    ).rstrip()


def _examples_elsewhere(examples: list[dict[str, Any]]) -> str:
    """Return what the examples do on the other backends, those that were run there."""
    parts = [part for each in examples for part in each.get("backends", {}).values()]
    return (
        f", {sum(part['holds'] for part in parts)} of {len(parts)} on JAX or PyTorch"
        if parts
        else ""
    )


def elsewhere(rewrites: list[dict[str, Any]], versions: dict[str, str]) -> str:
    """Return what holds on the other backends, where the record knows."""
    said = []
    for backend, name in (("jax", "JAX"), ("torch", "PyTorch")):
        parts = [
            each["backends"][backend] for each in rewrites if backend in each.get("backends", {})
        ]
        if parts:
            holding = sum(part["holds"] for part in parts)
            said.append(f"on {name} {versions[backend]} {holding} of {len(parts)} that were run")
    return f"Of the right sides {' and '.join(said)} give the same." if said else ""


if __name__ == "__main__":
    sys.exit(main())
