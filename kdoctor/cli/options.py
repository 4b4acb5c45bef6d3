"""Command-line options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from kdoctor.cli.choices import Color, DocumentKind, Keras2Helpers, Namespace, OptionConflict, Show
from kdoctor.cli.completion import complete_format, complete_rules
from kdoctor.report.formats import format_names

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH",
        help="Files and folders; - is standard input. A file named here is always read; a folder "
        "is searched for .py, .ipynb, .md and .rst files, respecting .gitignore.  [default: .]",
        show_default=False,
    ),
]
NamespaceOption = Annotated[
    Namespace | None,
    typer.Option(
        "--namespace",
        help="Also rewrite imports of Keras to this root, where both roots have the same object.  "
        "[default: keep]",
        show_default=False,
    ),
]
BackendOption = Annotated[
    list[str] | None,
    typer.Option(
        "--backend",
        metavar="NAME,...",
        help="The backends that the code must run on: all, or some of tensorflow, jax and torch. "
        "The rules KD8 report what ties it to TensorFlow.  [default: tensorflow]",
        show_default=False,
    ),
]
Keras2HelpersOption = Annotated[
    Keras2Helpers | None,
    typer.Option(
        "--keras-2-helpers",
        help="Write helpers of Keras 2 that Keras 3 no longer has into the file, or import what "
        "keras.src has today.  [default: write]",
        show_default=False,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME==VERSION",
        help="The Keras that the code must run on: keras==3.15.1, tensorflow==2.21, keras==2.15. "
        "Without it, kdoctor reads the project's own files (`kdoctor target` shows which), and "
        "falls back to the newest Keras 3 that it knows.",
    ),
]
TargetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="NAME==VERSION",
        help="The Keras that the code must run on: keras==3.15.1, tensorflow==2.21, keras==2.15. "
        "Given twice, it must run on both, and only fixes that run on both are offered. "
        "Without it, kdoctor reads the project's own files (`kdoctor target` shows which), and "
        "falls back to the newest Keras 3 that it knows.",
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RULE,...",
        help="Use only these rules: codes (KD101), prefixes of codes (KD1), names or topics.",
        autocompletion=complete_rules,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", metavar="RULE,...", help="Skip these rules.", autocompletion=complete_rules
    ),
]
Preview = Annotated[
    bool | None,
    typer.Option(
        "--preview/--no-preview",
        help="Use preview rules, too: new ones, which may still change.  [default: no]",
        show_default=False,
    ),
]
TrustRules = Annotated[
    bool,
    typer.Option(
        "--trust-rules",
        help="Load the rules of the project's own that its settings name: they are code, and run.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="PATTERN",
        help="Skip files and folders that match this pattern, written as in .gitignore.",
    ),
]
Unsafe = Annotated[
    bool | None,
    typer.Option(
        "--unsafe/--no-unsafe",
        help="Also use fixes that are not proven safe: read the diff before you keep them.  "
        "[default: no]",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Use the settings in this file for all files, instead of the kdoctor.toml or "
        "pyproject.toml nearest to each. Its patterns are relative to the working directory.",
    ),
]
Isolated = Annotated[
    bool,
    typer.Option("--isolated", help="Read no settings from any kdoctor.toml or pyproject.toml."),
]
ForceExclude = Annotated[
    bool,
    typer.Option(
        "--force-exclude",
        help="Skip excluded files even if they are named, as pre-commit and editors name them; "
        "virtual environments, caches and build folders too.",
    ),
]
StdinFilename = Annotated[
    str | None,
    typer.Option(
        "--stdin-filename",
        metavar="PATH",
        help="Treat standard input as the content of this file: its kind, its project's target, "
        "the modules beside it. The file need not exist; it is neither read nor written.",
    ),
]
As = Annotated[
    DocumentKind | None,
    typer.Option("--as", help="Read every file as this kind, whatever its name."),
]
NoGate = Annotated[
    bool,
    typer.Option(
        "--no-gate",
        help="Parse every file, even if no rule can apply to it. Slower, with the same result.",
    ),
]
ProjectTypes = Annotated[
    bool | None,
    typer.Option(
        "--project-types/--no-project",
        help="Follow types into the project's other files: what they pass, return and keep.  "
        "[default: project-types]",
        show_default=False,
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        envvar="KDOCTOR_NO_CACHE",
        help="Neither read nor write the cache of results for unchanged files. Slower, with the "
        "same result.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        help="Use at most N processes.  [default: one per core, where that is faster]",
    ),
]
ExecutorOption = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="ADDRESS",
        help="Use the workers of a cluster that see the files at the same paths: "
        "dask://HOST:8786 is a Dask scheduler.",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"Output format: {', '.join(format_names())}.  [default: text]",
        show_default=False,
        autocompletion=complete_format,
    ),
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="[FORMAT=]FILE",
        help="Also write a full report to a file; without FORMAT, the file's extension (.sarif, "
        ".json, .jsonl, .xml, .txt) decides. May be given several times.",
    ),
]
Statistics = Annotated[
    bool,
    typer.Option("--statistics", help="Count the findings by rule instead of showing each."),
]
ExitZero = Annotated[
    bool,
    typer.Option("--exit-zero", help="Exit with 0 even if there are findings; 2 is unaffected."),
]
DiffOption = Annotated[
    str | None,
    typer.Option(
        "--diff",
        metavar="COMMIT",
        help="Report only what stands on lines that changed since this branch parted from the "
        "commit or branch, committed or not; a file that git does not track counts as a whole.",
        show_default=False,
    ),
]
ShowOption = Annotated[
    Show,
    typer.Option(
        "--show",
        help="As text: findings that say the same once, with all their places, or each with its "
        "line.",
    ),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Hide the findings recorded in this file, which `kdoctor baseline` writes.  "
        "[default: the one in the settings]",
        show_default=False,
    ),
]
NoBaseline = Annotated[
    bool, typer.Option("--no-baseline", help="Ignore the baseline in the settings.")
]
ColorOption = Annotated[
    Color,
    typer.Option("--color", help="When to use colours; auto respects the terminal and NO_COLOR."),
]
NoSandbox = Annotated[
    bool,
    typer.Option(
        "--no-sandbox",
        help="Run user code with all your permissions, under limits of time and memory only: for "
        "code that you trust, on systems without Landlock and seccomp.",
    ),
]
PythonOption = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PYTHON",
        help="The Python to verify user code with.  [default: the project's own if it has "
        "TensorFlow, else the one that runs kdoctor]",
        show_default=False,
    ),
]
SecondsOption = Annotated[
    float,
    typer.Option(
        "--seconds",
        min=1.0,
        metavar="N",
        help="Time limit for one definition, on each side.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show findings only."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also name the skipped code blocks."),
]


@contextmanager
def conflicts_as_bad_parameters() -> Iterator[None]:
    """Report options that exclude each other the way Typer reports an invalid one.

    Raises:
        BadParameter: some do not.
    """
    try:
        yield
    except OptionConflict as misuse:
        raise typer.BadParameter(str(misuse)) from None
