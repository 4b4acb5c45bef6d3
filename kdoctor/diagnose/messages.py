"""Explain known messages: the table in ``messages/*.toml``, one entry per message.

An entry is data: what the message looks like, why it comes, what cures it, where that is known
from, and a real example. ``messages/README.md`` says how to add one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from kdoctor.diagnose import remedies
from kdoctor.diagnose.by_rules import RuleAnswer, Wanted, ask, source_of
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import FrameOrigin, TracebackFrame
from kdoctor.diagnose.snippets import SnippetName

_INNER = 3  # of the frames are those that raised; the last may be Python's or a helper's


class MessageCure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a remedy; exactly one of the first four is given."""

    command: str = ""
    environment: str = ""
    code: str = ""
    advice: str = ""
    note: str = ""

    def step(self, found: dict[str, str]) -> Step:
        """Return the step, with parts of the message filled in."""
        for kind, text in (
            (StepKind.COMMAND, self.command),
            (StepKind.ENVIRONMENT, self.environment),
            (StepKind.CODE, self.code),
            (StepKind.ADVICE, self.advice),
        ):
            if text:
                return Step(kind, _filled(text, found), _filled(self.note, found))
        raise ValueError("a cure needs a command, environment, code or advice")


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One known error.

    ``pattern`` is searched for in the message, ``types`` are the exceptions' names (none: any).
    ``fault`` is ``"line"`` (yours, or the package's whose line it is) or ``"installation"``.
    ``raised_in`` must be found in the path of a frame, ``line`` in the user's line: where the text
    has frames and they do not fit, the entry does not apply; where it has none, ``only_if`` says
    what must hold; ``calling`` must be found in what Keras says that it called; ``needs_frames``
    that a message without any may be unrelated to Keras. With ``in_own_file`` a line of the user's
    may have raised it, if its file mentions Keras. ``rules``
    provide the diff; ``asks`` tells them what an object of the line is:
    ``["member", "{name} = keras.Sequential()"]``. ``proof`` is evidence that leaves no other
    cause: only with it, a cure may remove or reinstall something or go back to an older release.
    """

    id: str
    pattern: str
    meaning: str
    fault: Literal["line", "installation"]
    source: str
    example: str
    fix: tuple[MessageCure, ...]
    types: tuple[str, ...] = ()
    versions: str = ""
    rules: tuple[str, ...] = ()
    asks: tuple[str, str] = ("", "")
    raised_in: str = ""
    line: str = ""
    calling: str = ""
    only_if: str = ""
    package: str = ""
    needs_frames: bool = False
    in_own_file: bool = False
    proof: Literal["", "frames", "message"] = ""
    row: int = 0


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message: tuple[Message, ...]


@cache
def messages() -> tuple[Message, ...]:
    """Return all entries, in the order in which they are tried."""
    folder = resources.files("kdoctor.diagnose") / "messages"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".toml")),
        key=lambda file: file.name,
    )
    return tuple(
        entry
        for file in files
        for entry in msgspec.toml.decode(file.read_bytes(), type=_File).message
    )


def explain_message(case: Case) -> Diagnosis | None:
    """Return the table's diagnosis of a message; None if no entry matches."""
    for entry in messages():
        if entry.types and case.error.type and case.error.name not in entry.types:
            continue
        matched = _pattern(entry.pattern).search(case.error.message)
        if matched is None or not _fits(entry, case):
            continue
        groups = matched.groupdict(default="…").items()
        found = {key: text.partition("\n")[0] for key, text in groups}
        return _diagnosis(entry, found, case)
    return None


@cache
def _pattern(written: str) -> re.Pattern[str]:
    """Compile a pattern; a chat or an issue makes markup of backticks, and they are gone."""
    return re.compile(re.sub(r"`(?!\?)", "`?", written), re.DOTALL)


def _fits(entry: Message, case: Case) -> bool:
    """Say whether the frames bear the entry out, as far as there are any."""
    if entry.calling and not re.search(entry.calling, case.error.calling):
        return False
    frames = case.error.frames
    if not case.has_frames:
        shown = [frame.source for frame in frames if frame.source]
        if entry.needs_frames:
            return False
        return not (entry.line and shown) or any(re.search(entry.line, line) for line in shown)
    paths = [frame.path.replace("\\", "/") for frame in frames]
    is_raised = any(re.search(entry.raised_in, path) for path in paths[-_INNER:])
    if entry.raised_in and not is_raised and not (entry.in_own_file and _speaks_of_keras(case)):
        return False
    lines = [frame.source for frame in frames[-_INNER:] if frame.source]
    lines += [frame.source for frame in frames if frame.origin is FrameOrigin.USER]
    return not entry.line or any(re.search(entry.line, line) for line in lines)


def _speaks_of_keras(case: Case) -> bool:
    """Say whether the line that raised is the user's, in a file that is there and names Keras."""
    frame = case.raised_in
    if frame is None or frame.origin is not FrameOrigin.USER:
        return False
    data = source_of(frame, case.read)
    return data is not None and b"keras" in data


def _diagnosis(entry: Message, found: dict[str, str], case: Case) -> Diagnosis:
    frame = case.blamed
    package = case.package
    answer = _ask_rules(entry, case.own if entry.package else frame, case)
    own = tuple(_proven(entry, (cure.step(found) for cure in entry.fix), case))
    steps = (*remedies.of_answer(answer), *(own if not answer.diff or entry.package else ()))
    fault = Fault.INSTALLATION if entry.fault == "installation" else Fault.YOUR_CODE
    if fault is Fault.YOUR_CODE and (package or entry.package):
        fault = Fault.PACKAGE
    needs = bool(entry.raised_in or entry.line or entry.only_if)
    return Diagnosis(
        fault=fault,
        meaning=_filled(entry.meaning, found),
        error=case.error,
        place=frame,
        evidence=tuple(_evidence(entry, case)),
        steps=tuple(dict.fromkeys(steps)),
        rule=answer.rule or (entry.rules[0] if entry.rules else ""),
        only_if="" if case.has_frames or not needs else _filled(entry.only_if, found),
        source=entry.source,
        package=entry.package or package,
        target=case.target,
    )


def _proven(entry: Message, steps: Iterable[Step], case: Case) -> Iterator[Step]:
    """Yield the steps; a look at what is installed for those that take something away unproven."""
    is_proven = entry.proof == "message" or (entry.proof == "frames" and case.has_frames)
    for step in steps:
        yield step if is_proven or not remedies.takes_away(step) else remedies.look()


def _ask_rules(entry: Message, frame: TracebackFrame | None, case: Case) -> RuleAnswer:
    if not entry.rules:
        return RuleAnswer()
    member, made = entry.asks
    binding = SnippetName(member, made) if member else None
    return ask(frame, Wanted(rules=entry.rules, binding=binding), case.target, case.read)


def _evidence(entry: Message, case: Case) -> Iterator[str]:
    yield f"the message is known ({entry.id})" + (
        f"; seen with {entry.versions}" if entry.versions else ""
    )
    if case.raised_in is not None:
        yield f"it was raised in {case.raised_in}"
    if case.detected.because:
        yield case.detected.in_words


def _filled(text: str, found: dict[str, str]) -> str:
    for key, value in found.items():
        text = text.replace(f"<{key}>", value)
    return text
