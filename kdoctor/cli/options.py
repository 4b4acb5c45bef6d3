"""The options that several commands share, and what they mean together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from kdoctor.cli.choices import Color, DocumentKind, Misuse, Namespace
from kdoctor.cli.completion import complete_format, complete_rules
from kdoctor.report.formats import format_names

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH",
        help="Files and folders; - is standard input. A file that is named is always read; "
        "a folder is searched for .py, .ipynb, .md and .rst, minding .gitignore.  [default: .]",
        show_default=False,
    ),
]
NamespaceOption = Annotated[
    Namespace | None,
    typer.Option(
        "--namespace",
        help="Also move imports of Keras to this root, where both roots have the same object.  "
        "[default: keep]",
        show_default=False,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME==VERSION",
        help="The Keras that the code must run on: keras==3.15.1, tensorflow==2.21, keras==2.15. "
        "Without it, what the project's own files say (`kdoctor target` shows how), else the "
        "newest Keras 3 that kdoctor knows.",
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RULE,...",
        help="Only these rules: codes (KD101), starts of codes (KD1), names or topics (freezing).",
        autocompletion=complete_rules,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", metavar="RULE,...", help="Not these rules.", autocompletion=complete_rules
    ),
]
Preview = Annotated[
    bool | None,
    typer.Option(
        "--preview/--no-preview",
        help="Ask also the rules that are in preview: new ones, which may still change.  "
        "[default: no]",
        show_default=False,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="PATTERN",
        help="Pass over files and folders that match, written as in .gitignore.",
    ),
]
Unsafe = Annotated[
    bool | None,
    typer.Option(
        "--unsafe/--no-unsafe",
        help="Use also fixes that no proof calls safe: read the diff before you keep it.  "
        "[default: no]",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Take the settings of this file for all files, not those of the kdoctor.toml or "
        "pyproject.toml nearest to each. Its patterns count from the working folder.",
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
        help="Pass over what is excluded also where it is named, as pre-commit and editors do; "
        "environments, caches and build folders, too.",
    ),
]
StdinFilename = Annotated[
    str | None,
    typer.Option(
        "--stdin-filename",
        metavar="PATH",
        help="Read standard input and take it for this file: its kind, its project's target, the "
        "modules beside it. The file need not exist, and is neither read nor written.",
    ),
]
As = Annotated[
    DocumentKind | None,
    typer.Option("--as", help="Read every file as this, whatever its name."),
]
NoGate = Annotated[
    bool,
    typer.Option(
        "--no-gate",
        help="Parse every file, also where no rule could fire. Slower, with the same result.",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        envvar="KDOCTOR_NO_CACHE",
        help="Neither use nor keep what was found in files that are as they were. Slower, with the "
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
        help="Use at most N processes.  [default: one a core, where it pays]",
    ),
]
ExecutorOption = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="ADDRESS",
        help="Let the workers of a cluster do it, which see the files at the same paths: "
        "dask://HOST:8786 is a Dask scheduler.",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"How to write the result: {', '.join(format_names())}.  [default: text]",
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
        help="Also write a whole report to a file; its ending (.sarif, .json, .jsonl, .xml, .txt) "
        "tells the format where it is not named. As often as you like.",
    ),
]
Statistics = Annotated[
    bool,
    typer.Option("--statistics", help="Count the findings by rule instead of showing each."),
]
ExitZero = Annotated[
    bool,
    typer.Option("--exit-zero", help="End with 0 whatever is found; 2 stays what it is."),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Pass over the findings that this file knows; `kdoctor baseline` makes it.  [default: "
        "what the settings name]",
        show_default=False,
    ),
]
NoBaseline = Annotated[
    bool, typer.Option("--no-baseline", help="Show known findings, too, whatever the settings say.")
]
ColorOption = Annotated[
    Color,
    typer.Option("--color", help="Colours; auto minds the terminal and NO_COLOR."),
]
NoSandbox = Annotated[
    bool,
    typer.Option(
        "--no-sandbox",
        help="Run user code with all the rights that you have, kept by nothing but limits of time "
        "and memory: for systems without Landlock and seccomp, and code that you trust.",
    ),
]
PythonOption = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PYTHON",
        help="The Python that user code is verified on.  [default: the project's own, where it "
        "has TensorFlow, else the one that runs kdoctor]",
        show_default=False,
    ),
]
SecondsOption = Annotated[
    float,
    typer.Option(
        "--seconds",
        min=1.0,
        metavar="N",
        help="How long one definition may compute, or wait, on each side.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Findings only."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Name also the skipped code blocks."),
]


@contextmanager
def misuse_shown() -> Iterator[None]:
    """Show options that do not go together as Typer shows a wrong one.

    Raises:
        BadParameter: some do not.
    """
    try:
        yield
    except Misuse as misuse:
        raise typer.BadParameter(str(misuse)) from None
