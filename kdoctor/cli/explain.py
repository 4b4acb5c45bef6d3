"""``kdoctor explain``: find the cause of an error message or traceback."""

from __future__ import annotations

import codecs
import contextlib
import errno
import locale
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.cli.rules import write_rule
from kdoctor.errors import UsageProblem

_RULE = re.compile(r"KD\d{3}", re.IGNORECASE)
_MAX_LOG_BYTES = 50_000_000  # bytes of a log; its end is read
_MAX_PATH_LENGTH = 1000  # characters
_LOG = re.compile(r"[^\s'\"`]+\.(?:txt|log|out|err)")  # a name that can be no message


def explain(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]",
            help="An error message, a file that contains one (a traceback, a log), or the code of "
            "a rule. Without it, standard input is read.",
            show_default=False,
        ),
    ] = None,
    *,
    target: options.TargetOption = None,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = choices.Color.AUTO,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show the answer without the evidence.")
    ] = False,
) -> None:
    """Explain an error: what it means, where the fault lies, how we know, and how to fix it.

    \b
    python train.py 2>&1 | kdoctor explain
    kdoctor explain log.txt
    kdoctor explain "module 'keras.backend' has no attribute 'sum'"
    kdoctor explain KD201                          all about one rule
    kdoctor explain --target keras==2.15 log.txt

    Of several exceptions, the last known one is explained. Nothing is run, imported or changed.

    Exit code: 0 the cause is known ("not a Keras problem" is an answer too), 1 it is unknown,
    2 there is nothing to read.
    """  # noqa: D301 - \b keeps the lines of the examples
    given = " ".join(text or ())
    page = streams.output(color, quiet=quiet)
    if _RULE.fullmatch(given.strip()):
        write_rule(given.strip(), page, json=json)
        return
    from kdoctor.diagnose import explain as diagnose  # noqa: PLC0415 - imports the rules
    from kdoctor.report.diagnosis import write_json, write_text  # noqa: PLC0415

    given = _standard_input() if given in {"", choices.STDIN} else _of_file(given) or given
    if not given.strip():
        raise UsageProblem(
            "there is no text to explain: run `python train.py 2>&1 | kdoctor explain`, or give "
            "the message as an argument"
        )
    diagnosis = diagnose(given, target=target)
    (write_json if json else write_text)(diagnosis, page)
    if not diagnosis.is_known:
        raise typer.Exit(1)


def _standard_input() -> str:
    if sys.stdin.isatty():
        print("kdoctor: paste the error, then end with Ctrl-D", file=sys.stderr)
    return decoded(sys.stdin.buffer.read())


def _of_file(given: str) -> str | None:
    """Return the content of the named file, None if the text is a message and not a path."""
    if "\n" in given or len(given) > _MAX_PATH_LENGTH:
        return None
    path = Path(given)
    try:
        if not path.is_file():
            if _LOG.fullmatch(given):
                raise UsageProblem(f"{given}: no such file")
            return None
        with path.open("rb") as file:
            mark = file.read(len(codecs.BOM_UTF16))
            file.seek(max(len(mark), path.stat().st_size - _MAX_LOG_BYTES))
            text = decoded(mark + file.read())
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # Keras' own messages are long
            return None
        raise UsageProblem(f"{given}: cannot be read: {error.strerror}") from error
    if not text.strip():
        raise UsageProblem(f"{given}: the file contains no text to explain")
    return text


def decoded(data: bytes) -> str:
    """Decode the output of programs, line by line if it mixes encodings."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # PowerShell's `>`
        mark = len(codecs.BOM_UTF16)
        return (data[:mark] + data[mark:][-_MAX_LOG_BYTES:]).decode("utf-16", errors="replace")
    data = data[-_MAX_LOG_BYTES:]
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # one line of a library's, or the end of a log that was cut
        return "".join(map(_line, data.removeprefix(codecs.BOM_UTF8).splitlines(keepends=True)))


def _line(data: bytes) -> str:
    """Decode a line that a program wrote to a pipe: on Windows, in the locale's encoding."""
    for encoding in ("utf-8", locale.getencoding()):
        with contextlib.suppress(UnicodeDecodeError, LookupError):
            return data.decode(encoding)
    return data.decode("utf-8", errors="replace")
