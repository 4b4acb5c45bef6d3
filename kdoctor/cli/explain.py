"""``kdoctor explain``: find the cause of an error message or traceback."""

from __future__ import annotations

import codecs
import contextlib
import errno
import locale
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.cli.rules import write_rule
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.report.output import printable

if TYPE_CHECKING:
    from kdoctor.diagnose import Diagnosis, Raised
    from kdoctor.models import Explained
    from kdoctor.report.output import Page

_RULE = re.compile(r"KD\d{3}", re.IGNORECASE)
_MAX_LOG_BYTES = 50_000_000  # bytes of a log; its end is read
_START_SIZE = 8  # bytes of a file that say what it is: even, for wide characters
_SAMPLE_SIZE = 8_192  # bytes
_MOST_OF = 0.8
_MAX_PATH_LENGTH = 1000  # characters
_SPEAKS_OF_FILES = re.compile(
    r"load_model|load_weights|model_from_|TFSMLayer|filepath|HDF5|h5py|\.(?:h5|hdf5|keras|pb)\b"
)
_LOG = re.compile(r"[^\s'\"`]+\.(?:txt|log|out|err)")  # a name that can be no message


def explain(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]",
            help="An error message, a file that contains one (a traceback, a log), a saved model, "
            "or the code of a rule. Without it, standard input is read.",
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
    kdoctor explain model.h5                       what Keras 3 does not load of a saved model
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
    if _is_short(given) and _explain_model(Path(given), target, page, json=json):
        return
    from kdoctor.diagnose import explain as diagnose  # noqa: PLC0415 - imports the rules
    from kdoctor.report.diagnosis import write_json, write_text  # noqa: PLC0415

    given = _of_standard_input() if given in {"", choices.STDIN} else _of_file(given) or given
    if not given.strip():
        raise UsageProblem(
            "there is no text to explain: run `python train.py 2>&1 | kdoctor explain`, or give "
            "the message as an argument"
        )
    diagnosis = diagnose(given, target=target)
    if json:
        write_json(diagnosis, page, _named_files(diagnosis, target))
    else:
        is_told = _write_named_files(_named_files(diagnosis, target), page)
        if diagnosis.is_known or not is_told:
            write_text(diagnosis, page)
        if is_told:
            return
    if not diagnosis.is_known:
        raise typer.Exit(1)


def _named_files(diagnosis: Diagnosis, target: str | None) -> list[Explained]:
    """Return the saved models that the error names, are there, and do not load.

    One that cannot be read is told on standard error.
    """
    error = diagnosis.error
    if error is None or not _SPEAKS_OF_FILES.search(error.message + _code(error)):
        return []
    from kdoctor.cli.run_model import target_of  # noqa: PLC0415
    from kdoctor.models.named_files import named_files  # noqa: PLC0415

    ran = diagnosis.target if target is None else None
    asked = ran if ran is not None and not ran.is_before_keras_3 else target_of(target)
    lines = [(str(Path(each.path).parent), each.source) for each in error.frames]
    found: list[Explained] = []
    try:
        found.extend(each for each in named_files(error.message, lines, asked) if each.is_known)
    except FileProblem as problem:
        print(f"kdoctor: {printable(str(problem))}", file=sys.stderr)
    return found


def _code(error: Raised) -> str:
    return "\n".join(each.source for each in error.frames)


def _write_named_files(found: list[Explained], page: Page) -> bool:
    """Write what keeps the files from being loaded that an error names, if any are there."""
    if not found:
        return False
    from kdoctor.report import saved_model  # noqa: PLC0415

    page.line("The error names a saved model that is here:")
    for each in found:
        saved_model.write_text(each, page)
    page.line()
    return True


def _of_standard_input() -> str:
    if sys.stdin.isatty():
        print("kdoctor: paste the error, then end with Ctrl-D", file=sys.stderr)
    return _of_bytes(sys.stdin.buffer.read(), "standard input")


def _is_short(given: str) -> bool:
    """Say whether a text may be a path."""
    return bool(given.strip()) and "\n" not in given and len(given) <= _MAX_PATH_LENGTH


def _explain_model(path: Path, target: str | None, page: Page, *, json: bool) -> bool:
    """Write what keeps a saved model from being loaded, where a text is the path of one.

    Raises:
        Exit: with 1, where nothing is known to.
    """
    try:
        if not path.exists():
            return False
    except (OSError, ValueError):
        return False  # a message
    from kdoctor.cli.run_model import target_of  # noqa: PLC0415 - most texts are no path
    from kdoctor.models import explained, kind_of  # noqa: PLC0415
    from kdoctor.models.looking import may_be_text  # noqa: PLC0415

    try:
        kind = kind_of(path)
    except FileProblem:
        return False  # said below
    if may_be_text(path, kind):
        return False
    found = explained(path, target_of(target), kind)
    if may_be_text(path, found.kind):
        return False
    from kdoctor.report import saved_model  # noqa: PLC0415

    (saved_model.write_json if json else saved_model.write_text)(found, page)
    if not found.is_known:
        raise typer.Exit(1)
    return True


def _of_file(given: str) -> str | None:
    """Return the content of the named file, None if the text is a message and not a path."""
    if not _is_short(given):
        return None
    path = Path(given)
    try:
        if not path.is_file():
            if _LOG.fullmatch(given):
                raise UsageProblem(f"{given}: no such file")
            return None
        with path.open("rb") as file:
            start = file.read(_START_SIZE)
            file.seek(max(len(start), path.stat().st_size - _MAX_LOG_BYTES))
            data = start + file.read()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # Keras' own messages are long
            return None
        raise UsageProblem(f"{given}: cannot be read: {error.strerror}") from error
    text = _of_bytes(data, given)
    if not text.strip():
        raise UsageProblem(f"{given}: the file contains no text to explain")
    return text


def _of_bytes(data: bytes, source: str) -> str:
    """Return the text that is in bytes.

    Raises:
        UsageProblem: they are none.
    """
    from kdoctor.documents.encoding import why_not_text  # noqa: PLC0415 - help needs it not

    what = None if _codec_without_mark(data) else why_not_text(data)
    if what:
        raise UsageProblem(
            f"{source}: not text, but {what}; give the message of an error, or a log that has it"
        )
    return decoded(data)


def _codec_without_mark(data: bytes) -> str:
    """Return how wide characters are written, "" where they are not, or a mark says it.

    Every second byte of them is null, in a log that is mostly ASCII.
    """
    sample = data[:_SAMPLE_SIZE]
    first, second = sample[::2], sample[1::2]
    most = _MOST_OF * len(second)
    if second.count(0) > most and 0 not in first:
        return "utf-16-le"
    return "utf-16-be" if first.count(0) > most and 0 not in second else ""


def decoded(data: bytes) -> str:
    """Decode the output of programs, line by line if it mixes encodings."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # PowerShell's `>`
        mark = len(codecs.BOM_UTF16)
        return (data[:mark] + data[mark:][-_MAX_LOG_BYTES:]).decode("utf-16", errors="replace")
    data = data[-_MAX_LOG_BYTES:]
    codec = _codec_without_mark(data)
    if codec:
        return data.decode(codec, errors="replace")
    data = data.lstrip(b"\0")  # the hole that the rotation of a log leaves
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
