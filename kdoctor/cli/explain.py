"""``kdoctor explain``: from the error on the screen to its cause."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.cli.rules import write_rule
from kdoctor.errors import UsageProblem

_RULE = re.compile(r"KD\d{3}", re.IGNORECASE)
_LARGEST = 50_000_000  # bytes of a log; its end is read


def explain(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]",
            help="An error message, or a rule's code. Without it, standard input is read: a "
            "traceback, a log, anything with an error in it.",
            show_default=False,
        ),
    ] = None,
    *,
    target: options.TargetOption = None,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = choices.Color.AUTO,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="The answer without the evidence.")
    ] = False,
) -> None:
    """Say what an error means, whose fault it is and how that is known, and what cures it.

    \b
    python train.py 2>&1 | kdoctor explain
    kdoctor explain < log.txt
    kdoctor explain "module 'keras.backend' has no attribute 'sum'"
    kdoctor explain KD201                          all about one rule
    kdoctor explain --target keras==2.15 < log.txt

    Of several exceptions the last counts. Nothing is run, imported or changed.

    Exit code: 0 the cause is known (that it is no Keras problem is an answer, too), 1 it is not,
    2 there is nothing to read.
    """  # noqa: D301 - \b keeps the lines of the examples
    given = " ".join(text or ())
    page = streams.output(color, quiet=quiet)
    if _RULE.fullmatch(given.strip()):
        write_rule(given.strip(), page, json=json)
        return
    from kdoctor.diagnose import explain as diagnose  # noqa: PLC0415 - imports the rules
    from kdoctor.report.diagnosis import write_json, write_text  # noqa: PLC0415

    if os.path.isfile(given):  # noqa: PTH113 - a Path refuses what is too long for a name
        raise UsageProblem(
            f"{given} is a file, and what it holds is to be explained: write "
            f"`kdoctor explain < {shlex.quote(given)}`"
        )
    given = _standard_input() if given in {"", choices.STDIN} else given
    if not given.strip():
        raise UsageProblem(
            "there is no text to explain: write `python train.py 2>&1 | kdoctor explain`, or give "
            "the message as an argument"
        )
    diagnosis = diagnose(given, target=target)
    (write_json if json else write_text)(diagnosis, page)
    if not diagnosis.is_known:
        raise typer.Exit(1)


def _standard_input() -> str:
    if sys.stdin.isatty():
        print("kdoctor: paste the error, then end with Ctrl-D", file=sys.stderr)
    data = sys.stdin.buffer.read()[-_LARGEST:]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # PowerShell's `>`
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")
