"""Show what kdoctor does, on the legacy projects in fixtures/: scan, diff, fix, run on Keras 3.

Every step says what it expects; the first that does not behave so ends the demo with exit code 1.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
BIN = Path(sys.executable).parent
PROJECT = "text_classification"
SCRIPT = "train.py"

console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)


def main() -> None:
    """Run all steps."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for project in ("segmentation", "custom_layers", "gan", PROJECT, "readme"):
            ignored = shutil.ignore_patterns("__pycache__", ".kdoctor_cache")
            shutil.copytree(FIXTURES / project, work / project, ignore=ignored)
        legacy = (work / PROJECT / SCRIPT).read_bytes()

        heading("1. A script of 2018 does not even start on Keras 3")
        ran = show(work / PROJECT, "python", SCRIPT, expect=1, last_lines=3)
        need(ran, "ModuleNotFoundError")

        heading(
            "2. What is wrong with it, and with a whole tree: script, package, notebook, README"
        )
        need(show(work, "kdoctor", "scan", f"{PROJECT}/{SCRIPT}", expect=1), "KD")
        need(show(work, "kdoctor", "scan", ".", expect=1, last_lines=6), "KD")

        heading("3. The repair as a diff; nothing is written")
        need(show(work, "kdoctor", "fix", f"{PROJECT}/{SCRIPT}", expect=1), "+")
        if (work / PROJECT / SCRIPT).read_bytes() != legacy:
            fail("fix wrote a file without --apply")

        heading("4. The repair, written")
        show(work, "kdoctor", "fix", "--apply", f"{PROJECT}/{SCRIPT}", expect=None, last_lines=6)
        if (work / PROJECT / SCRIPT).read_bytes() == legacy:
            fail("fix --apply changed nothing")

        heading("5. The same script on Keras 3: it trains, evaluates and predicts")
        ran = show(work / PROJECT, "python", SCRIPT, expect=0)
        need(ran, "cnn: loss finite: True answers: (12, 4)")

    console.print("\n[bold green]The demo went as told.[/]")


def heading(text: str) -> None:
    """Print a step's title."""
    console.print()
    console.rule(f"[bold]{text}", align="left")


def show(
    folder: Path, program: str, *arguments: str, expect: int | None, last_lines: int = 0
) -> str:
    """Run a program, print what it prints, and hold it to its exit code (None: 0 or 1)."""
    command = [sys.executable if program == "python" else str(BIN / program), *arguments]
    console.print(f"[bold cyan]$ {shlex.join([program, *arguments])}[/]")
    colour = {"FORCE_COLOR": "1"} if console.is_terminal else {"NO_COLOR": "1"}
    size = {"COLUMNS": str(console.width)}
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | QUIET | colour | size,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith(FRAMEWORK_CHATTER)]
    if last_lines and len(lines) > last_lines:
        console.print(f"[dim]… {len(lines) - last_lines} lines more …[/]")
    console.print(Text.from_ansi("\n".join(lines[-last_lines:])))
    console.print(f"[dim]exit code {done.returncode}[/]")
    if done.returncode not in ({0, 1} if expect is None else {expect}):
        fail(f"{program} ended with exit code {done.returncode}, not {expect}")
    return done.stdout


def need(output: str, text: str) -> None:
    """Hold a step to a text that its output must contain."""
    if text not in output:
        fail(f"{text!r} is not in the output")


def fail(why: str) -> None:
    """Stop: a step did not behave as told."""
    console.print(Panel(f"[bold red]The demo did not go as told:[/] {why}"))
    raise SystemExit(1)


QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}
# What absl and TensorFlow say on a machine without a GPU, whatever the log level.
FRAMEWORK_CHATTER = ("WARNING: All log messages before absl", "I0000 ", "W0000 ", "E0000 ")


if __name__ == "__main__":
    main()
