"""Parse a text for exceptions: type, message, frames, and their chain.

Read are the tracebacks of Python 3.6 to 3.14, of IPython old and new, of pytest, and the ones that
``tf.function`` and Keras wrap in messages of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final, Literal

from kdoctor.diagnose.frames import CUT, TracebackFrame
from kdoctor.diagnose.line_patterns import frame_head, is_marker, numbered_line, unwrapped
from kdoctor.diagnose.log_cleanup import GROUP_END, HEAD, MEMBER, clean_lines

Relation = Literal["", "cause", "context"]


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception of a text.

    ``type`` is as the text has it (``tensorflow.python.framework.errors_impl.NotFoundError``), ""
    where it has none. ``message`` is what was raised at the bottom: what Keras and ``tf.function``
    put around it is taken off. ``frames`` run from the outermost call to the one that raised.
    ``before`` is the exception that led to this one: its ``cause`` (``raise … from``), or the
    ``context`` in which it was handled.
    """

    type: str
    message: str
    frames: tuple[TracebackFrame, ...] = ()
    before: Raised | None = None
    relation: Relation = ""
    is_of_group: bool = False  # one of the exceptions of an exception group
    calling: str = ""  # what Keras called when it was raised, where it says so: ``Dense.call().``

    @property
    def name(self) -> str:
        """The type without its module."""
        return self.type.rpartition(".")[2]

    @property
    def line(self) -> str:
        """The exception as Python writes it, in one line."""
        first = self.message.strip().partition("\n")[0]
        return f"{self.type}: {first}" if self.type and first else self.type or first


_CHAINED: Final[dict[str, Relation]] = {
    "During handling of the above exception, another exception occurred:": "context",
    "The above exception was the direct cause of the following exception:": "cause",
}
_TYPE: Final = r"(?P<type>[A-Za-z_][\w.]*)"
_EXCEPTION: Final = re.compile(rf"{_TYPE}(?:: ?(?P<message>.*))?$")
# A line that is an exception's by its name alone, wherever it stands.
_NAMED: Final = re.compile(
    r"(?:^|[\s(`'\"])(?P<type>(?:[A-Za-z_]\w*\.)*(?:Error|Exception|[A-Z]\w*"
    r"(?:Error|Exception|Warning|Exit|Interrupt|Iteration|NotFound|Group)))(?:: (?P<message>.*))$"
)
# Messages of Python that people quote without their type.
_QUOTED: Final = re.compile(
    r"(?:[Mm]odule )?'[\w.]+'(?: object)? has no attribute '|cannot import name |No module named "
)
# What Keras and `tf.function` put above a message, which is told without a traceback, too.
_WRAPS: Final = re.compile(
    rf"(?:^|[\s(:]){_TYPE}: (?P<message>in (?:user|converted) code:|Exception encountered when "
    r"calling \w.*)$"
)
_UNTOLD: Final = frozenset({"Error", "Exception"})  # as in `print(f"Error: {error}")`
_TYPE_ALONE: Final = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt):?")
_WARNED: Final = re.compile(
    r"^(?P<path>\S.*?\.pyx?|<[^>]+>):(?P<line>\d+): (?P<type>\w*Warning): (?P<message>.*)$"
)
_IMPORT: Final = re.compile(r"from [\w.]+ import \w|import [\w.]+$")
_LOG_LINE: Final = re.compile(r"^(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|[WIEF]\d{4} \d\d:\d\d)")
_FENCE: Final = "```"
_MAX_MESSAGE_LINES: Final = 80  # of a message
_MAX_MESSAGE_LENGTH: Final = 20_000  # characters of a message
_CURLY: Final = str.maketrans("‘’“”", "''\"\"")  # noqa: RUF001 - as word processors have them


def read_exceptions(text: str) -> tuple[Raised, ...]:
    """Return the exceptions of a text in its order; those of a chain hang on its last.

    A text without any traceback is read as one message; a text of warnings alone as these.
    """
    lines = clean_lines(text)
    found = _Reader(lines).read()
    return tuple(found or _bare(lines))


@dataclass(slots=True)
class _Reader:
    """Goes through the lines once and gathers frames until an exception ends them."""

    lines: list[str]
    found: list[Raised] = field(default_factory=list)
    frames: list[TracebackFrame] = field(default_factory=list)
    relation: Relation = ""
    headed: bool = False
    marked: str = ""  # pytest's `>` line, whose place comes later
    error_lines: list[str] = field(default_factory=list)  # pytest's `E` lines
    in_group: bool = False

    def read(self) -> list[Raised]:
        at = 0
        while at < len(self.lines):
            at = self._step(at)
        if self.error_lines:  # a log that ends before the place
            self._end_told(self.marked and TracebackFrame("", None, source=self.marked))
        return self.found

    def _step(self, at: int) -> int:
        line = self.lines[at]
        if not line:
            return at + 1
        if HEAD in line:
            self.frames, self.headed = [], True
            return at + 1
        if line in {MEMBER, GROUP_END}:
            self.in_group = line == MEMBER
            return at + 1
        if line.strip() in _CHAINED:
            self.relation = _CHAINED[line.strip()]
            return at + 1
        if (head := frame_head(line)) is not None:
            return self._frame(at, head)
        if (frame := _pytest_place(line)) is not None:
            return self._pytest(at, *frame)
        if _SECTION.match(line):
            if self.error_lines:
                self._end_told(None)
            self.frames, self.marked = [], ""
            return at + 1
        if line.startswith(">") and (line[1:2] == " " or line[1:4].isspace()):
            self.marked = line[1:].strip()
        elif line.startswith("E  ") or line == "E":
            self.error_lines.append(line[1:])
        elif exception := self._raised(line):
            return self._exception(at, exception)
        return at + 1

    def _raised(self, line: str) -> re.Match[str] | None:
        """Read the exception that ends a traceback, or that wraps another and needs none."""
        is_ended = self.frames or self.headed
        return _WRAPS.search(line) or (_EXCEPTION.match(line) if is_ended else None)

    def _frame(self, at: int, frame: TracebackFrame) -> int:
        """Read the lines of source below a frame's head."""
        if not self.frames and (caller := self._caller_above(at)):
            self.frames.append(caller)
        indent = _indent(self.lines[at])
        source: list[str] = []
        at += 1
        while at < len(self.lines):
            line = self.lines[at]
            if numbered := numbered_line(line):
                is_it, number, text = numbered
                if is_it:
                    frame = replace(frame, line=number, source=text.strip())
            elif line.strip() and _indent(line) > indent and frame_head(line) is None:
                source.append(line)
            elif line.strip() or not _goes_on(self.lines, at + 1, indent):
                break
            at += 1
        shown = [line.strip() for line in source if not is_marker(line)]
        self.frames.append(replace(frame, source=frame.source or "\n".join(shown)))
        return at

    def _caller_above(self, at: int) -> TracebackFrame | None:
        """Return what is left of the call above the first frame, where its head is cut off."""
        while at > 0 and (not self.lines[at - 1] or numbered_line(self.lines[at - 1])):
            at -= 1
            numbered = numbered_line(self.lines[at])
            if numbered and numbered[0]:
                return TracebackFrame(CUT, numbered[1], source=numbered[2].strip())
        return None

    def _exception(self, at: int, exception: re.Match[str]) -> int:
        message = [exception["message"] or ""]
        at += 1
        if exception["message"] is None:  # `NotImplementedError`: it ends here, colon and all
            self._add(exception["type"], "")
            return at
        while at < len(self.lines) and len(message) < _MAX_MESSAGE_LINES:
            line = self.lines[at]
            if HEAD in line or line.strip() in _CHAINED or _LOG_LINE.match(line):
                break
            if line in {MEMBER, GROUP_END}:
                break
            if line.strip() == _FENCE and message[-1] and message.count(_FENCE) % 2 == 0:
                break  # of the page that the log was pasted into: Keras' own follow empty lines
            message.append(line)
            at += 1
        self._add(exception["type"], "\n".join(message).strip())
        return at

    def _pytest(self, at: int, frame: TracebackFrame, error: str, message: str) -> int:
        following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        if frame.function and following.startswith("    "):
            frame = replace(frame, source=following.strip())
        elif not frame.function:
            frame = replace(frame, source=self.marked)
        self.marked = ""
        self.frames.append(frame)
        if error and message and not self.error_lines:
            self._add(error, message)  # `--tb=line`
        elif error or (self.error_lines and not frame.function):
            self._end_told(None)
        return at + 1

    def _end_told(self, frame: TracebackFrame | str | None) -> None:
        if isinstance(frame, TracebackFrame):
            self.frames.append(frame)
        depth = min((_indent(line) for line in self.error_lines if line.strip()), default=0)
        error_lines = "\n".join(line[depth:] for line in self.error_lines).strip()
        first, _, rest = error_lines.partition("\n")
        matched = _EXCEPTION.match(first)
        if matched:
            self._add(matched["type"], f"{matched['message'] or ''}\n{rest}".strip())
        else:
            self._add("AssertionError" if error_lines.startswith("assert") else "", error_lines)
        self.error_lines = []

    def _add(self, type_: str, message: str) -> None:
        before = self.found.pop() if self.relation and self.found else None
        type_, message, inner, calling = unwrapped(type_, _unquoted(message[:_MAX_MESSAGE_LENGTH]))
        frames = (*self.frames, *inner)
        if before is not None and self.relation == "cause" and _is_same(before, type_, message):
            # joblib and multiprocessing raise again what another process raised: there it failed.
            frames, before = (*frames, *before.frames), before.before
        relation = self.relation if before else ""
        raised = Raised(type_, message, frames, before, relation)
        self.found.append(replace(raised, is_of_group=self.in_group, calling=calling))
        self.frames, self.relation, self.headed = [], "", False


def _is_same(error: Raised, type_: str, message: str) -> bool:
    first = message.strip().partition("\n")[0]
    return error.type == type_ and error.message.strip().partition("\n")[0] == first


# `____ test_name ____`, `==== FAILURES ====`, `!!!! Interrupted !!!!`
_SECTION: Final = re.compile(r"^(?:_{3,} .+ _{3,}|={3,} .+ ={3,}|!{3,} .+ !{3,})$")
_PYTEST_PLACE: Final = re.compile(
    r"^(?P<path>(?:[A-Za-z]:\\)?[^\s:<>\"][^:\"]*\.py):(?P<line>\d+): ?"
    r"(?:in (?P<function>\S.*)|(?P<error>[A-Za-z_][\w.]*(?<!Warning))(?:: (?P<message>.*))?)?$"
)


def _pytest_place(line: str) -> tuple[TracebackFrame, str, str] | None:
    matched = _PYTEST_PLACE.match(line)
    if matched is None:
        return None
    frame = TracebackFrame(matched["path"], int(matched["line"]), matched["function"] or "")
    return frame, matched["error"] or "", matched["message"] or ""


def _goes_on(lines: list[str], at: int, indent: int) -> bool:
    """Say whether after an empty line the frame's source goes on (a message's text does not)."""
    return at < len(lines) and (
        numbered_line(lines[at]) is not None or (indent > 0 and _indent(lines[at]) > indent)
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bare(lines: Iterable[str]) -> list[Raised]:
    """Read a text without frames: its last exception by name, else warnings, else all of it."""
    lines = list(lines)
    for number in range(len(lines) - 1, -1, -1):
        if _TYPE_ALONE.fullmatch(lines[number].strip()):
            return [Raised(lines[number].strip().rstrip(":"), "")]
        matched = _NAMED.search(lines[number])
        if matched and not matched["type"].endswith("Warning"):
            below = _as_deep(lines[number + 1 :], _indent(lines[number]))
            text = "\n".join([matched["message"], *below])
            type_ = "" if matched["type"] in _UNTOLD else matched["type"]
            source = _source_above(lines[:number])
            frames = (TracebackFrame("", None, source=source),) if source else ()
            return [_of_message(type_, text, frames)]
    warned = [matched for line in lines if (matched := _WARNED.match(line))]
    if warned:
        return [
            Raised(
                each["type"], each["message"], (TracebackFrame(each["path"], int(each["line"])),)
            )
            for each in warned
        ]
    for line in reversed(lines):
        if quoted := _QUOTED.search(line):
            return [_of_message("", line[quoted.start() :])]
    text = "\n".join(lines).strip()
    return [_of_message("", text)] if text else []


def _as_deep(lines: list[str], depth: int) -> Iterable[str]:
    """Return the lines up to the first that is less indented: there something else begins."""
    return takewhile(lambda line: not line.strip() or _indent(line) >= depth, lines)


def _source_above(lines: list[str]) -> str:
    """Return the line of source above a message in a log whose beginning is cut off."""
    is_excerpt = False
    for line in reversed(lines):
        if numbered := numbered_line(line):
            is_it, _, text = numbered
            if is_it:
                return text.strip()
            is_excerpt = True
        elif line.strip() and not is_marker(line):
            is_source = line.startswith("    ") or _IMPORT.match(line)
            return line.strip() if is_source and not is_excerpt else ""
    return ""


def _unquoted(message: str) -> str:
    """Take off the sign that ends a quotation of the message, which began before its type."""
    first, newline, rest = message.translate(_CURLY).partition("\n")
    for sign in ("`", '"'):
        if first.endswith(sign) and first.count(sign) % 2:
            first = first[:-1]
    return first + newline + rest


def _of_message(type_: str, message: str, frames: tuple[TracebackFrame, ...] = ()) -> Raised:
    found = unwrapped(type_, _unquoted(message.strip()[:_MAX_MESSAGE_LENGTH]))
    return Raised(found.type, found.message, (*frames, *found.frames), calling=found.calling)
