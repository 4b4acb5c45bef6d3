"""Patterns of traceback lines, and of the text that Keras and TensorFlow wrap messages in."""

from __future__ import annotations

import re
import textwrap
from typing import Final, NamedTuple

from kdoctor.diagnose.frames import CUT, TracebackFrame

_PYTHON: Final = re.compile(
    r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.*?))?(?:\s+\*+)?$'
)
# The same in a log whose beginning is cut off.
_CUT: Final = re.compile(
    r"^(?P<path>[^\s\"][^\"]*\.py)\", line (?P<line>\d+)(?:, in (?P<function>.*))?$"
)
_IPYTHON_8: Final = re.compile(
    r"^(?:  )?File (?P<path>(?:[A-Za-z]:\\)?[^:\"]+):(?P<line>\d+)(?:,? in (?P<function>.*))?$"
)
_CELL: Final = re.compile(
    r"^(?:  )?(?:Cell|Input) In ?\[(?P<cell>\d+)\]"
    r"(?:, line (?P<line>\d+))?(?:,? in (?P<function>.*))?$"
)
# VS Code: `c:\work\train.ipynb Cell 22 line 3`.
_VS_CODE: Final = re.compile(
    r"^(?P<path>\S.*\.ipynb) Cell (?P<cell>\d+)'?"
    r"(?: line (?P<line>\d+)| in (?P<function>\S.*))$"
)
_IPYTHON_7: Final = re.compile(
    r"^(?P<path><ipython-input-[^>]+>|(?:[A-Za-z]:\\|[~/.]|\w)[^\s:]*\.pyc?) in (?P<function>\S.*)$"
)
# What tf.function of TensorFlow 2.2 to 2.5 wrote below "in user code:".
_AUTOGRAPH: Final = re.compile(
    r"^\s+(?P<path>(?:[A-Za-z]:\\)?[^\s:]+\.py|<[^>]+>):(?P<line>\d+) (?P<function>\S+)(?:\s+\*+)?$"
)
_ARROW: Final = re.compile(r"^(?P<arrow>-+>)\s*(?P<line>\d+) ?(?P<text>.*)$")
_NUMBERED: Final = re.compile(r"^ {1,8}(?P<line>\d+) (?P<text>.*)$|^ {2,8}(?P<empty>\d+)$")
_MARKER: Final = re.compile(r"^\s*[~^][~^ ]*$")
_REPEATED: Final = re.compile(r"^\s*\[Previous line repeated \d+ more times?\]$")


def frame_head(line: str) -> TracebackFrame | None:
    """Return the frame that starts on a line, None if none does."""
    if matched := _CELL.match(line):
        number = matched["line"]
        path = f"Cell In[{matched['cell']}]"
        return TracebackFrame(
            path, int(number) if number else None, matched["function"] or "<module>"
        )
    if matched := _VS_CODE.match(line):
        number = matched["line"]
        path = f"Cell In[{matched['cell']}]"
        function = matched["function"] or ""
        return TracebackFrame(
            path, int(number) if number else None, function, notebook=matched["path"]
        )
    for shape in (_PYTHON, _IPYTHON_8, _AUTOGRAPH, _IPYTHON_7):
        if matched := shape.match(line):
            parts = matched.groupdict()
            number = parts.get("line")
            return TracebackFrame(
                parts["path"], int(number) if number else None, parts["function"] or ""
            )
    if matched := _CUT.match(line):
        return TracebackFrame(
            f"{CUT}{matched['path']}", int(matched["line"]), matched["function"] or ""
        )
    return None


def numbered_line(line: str) -> tuple[bool, int, str] | None:
    """Read IPython's excerpts: whether it is the line in question, its number, its text."""
    if matched := _ARROW.match(line):
        return True, int(matched["line"]), matched["text"]
    if matched := _NUMBERED.match(line):
        return False, int(matched["line"] or matched["empty"]), matched["text"] or ""
    return None


def is_marker(line: str) -> bool:
    """Say whether a line only points at the one above, or counts repetitions."""
    return bool(_MARKER.match(line) or _REPEATED.match(line))


# TensorFlow 2.0 and 2.1 said "converted", and told where the paths below begin.
_USER_CODE: Final = re.compile(r"^in (?:user|converted) code:[ \t]*\n", re.MULTILINE)
_RELATIVE: Final = re.compile(r"^relative to (?P<folder>\S.*):$")
_WHOLE_PATH: Final = re.compile(r"^(?:[/<~]|[A-Za-z]:)")
_INNER: Final = re.compile(
    r"^(?P<type>[A-Za-z_][\w.]*): ?(?P<message>.*)\Z", re.MULTILINE | re.DOTALL
)
_CALLING: Final = re.compile(
    r"\A.*?Exception encountered when calling (?P<what>[^\n]+)\n{1,3}(?P<message>.*?)"
    r"(?:\n{1,3}(?:Arguments received by|Call arguments received by) .*)?\Z",
    re.DOTALL,
)


_ENCOUNTERED: Final = re.compile(
    r"Could not automatically infer the output shape / dtype of .*?"
    r"Error encountered:\s+(?P<inner>.+)",
    re.DOTALL,
)


def encountered(message: str) -> str:
    """Return the inner error of a failed output shape inference, "" for none."""
    matched = _ENCOUNTERED.search(message)
    return matched["inner"].strip() if matched else ""


class Unwrapped(NamedTuple):
    """An error without what Keras and ``tf.function`` put around its message.

    ``frames`` are those inside the message, ``calling`` is what Keras called when it was raised:
    ``Lambda.call().``; "" where it does not say.
    """

    type: str
    message: str
    frames: tuple[TracebackFrame, ...] = ()
    calling: str = ""


def unwrapped(type_: str, message: str) -> Unwrapped:
    """Take off what Keras and ``tf.function`` put around a message."""
    frames: tuple[TracebackFrame, ...] = ()
    calling = ""
    for _ in range(10):  # a model in a model in a tf.function
        if matched := _USER_CODE.search(message):
            type_, message, inner_frames = _user_code(type_, _block(message[matched.end() :]))
            frames += inner_frames
        elif matched := _CALLING.match(message):
            message, calling = matched["message"].strip(), matched["what"].strip()
        else:
            break
    return Unwrapped(type_, message, frames, calling)


def _block(text: str) -> str:
    """Return the indented lines that a text begins with.

    What follows them is a shell's prompt, an editor's last word, or the question of an issue.
    """
    inside: list[str] = []
    depth = -1
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            inside.append("")
            continue
        depth = indent if depth < 0 else depth
        if indent < depth:
            break
        inside.append(line)
    return textwrap.dedent("\n".join(inside).strip("\n"))


def _user_code(type_: str, block: str) -> tuple[str, str, tuple[TracebackFrame, ...]]:
    frames: list[TracebackFrame] = []
    lines = block.split("\n")
    at, folder = 0, ""
    if base := _RELATIVE.match(lines[0]):
        at, folder = 1, base["folder"]
    while at < len(lines):
        frame = frame_head(lines[at]) or frame_head(f"    {lines[at]}")
        if frame is not None:
            source = lines[at + 1].strip() if at + 1 < len(lines) else ""
            path = _joined(folder, frame.path)
            frames.append(TracebackFrame(path, frame.line, frame.function, source))
            at += 2
            continue
        if lines[at].strip() and not lines[at].startswith(" "):
            break
        at += 1
    rest = "\n".join(lines[at:]).strip()
    inner = _INNER.match(rest)
    if inner:
        return inner["type"], inner["message"].strip(), tuple(frames)
    return type_, rest if rest or frames else block.strip(), tuple(frames)


def _joined(folder: str, path: str) -> str:
    return path if not folder or _WHOLE_PATH.match(path) else f"{folder}/{path}"
