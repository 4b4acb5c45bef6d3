"""Fallback for unknown errors: whose error it is by its frames, and what can be ruled out."""

from __future__ import annotations

import re
from typing import Final

from kdoctor.diagnose.by_rules import source_of
from kdoctor.diagnose.by_scan import beside
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault
from kdoctor.diagnose.frames import FrameOrigin, TracebackFrame
from kdoctor.diagnose.imported_values import parts_behind
from kdoctor.diagnose.log_cleanup import HEAD

_SPEAKS: Final = re.compile(r"\b(?:tf[._-])?keras\b|\btensorflow\b|\bKerasTensor\b", re.IGNORECASE)
_SPEAKS_OF_KERAS: Final = re.compile(r"keras", re.IGNORECASE)
_KERAS: Final = re.compile(r"keras|segmentation_models|efficientnet", re.IGNORECASE)
_NO_MODULE: Final = re.compile(r"^No module named (?:'(?P<name>[\w.]+)'|(?P<bare>[\w.]+)$)")
_KERAS_ONES: Final = frozenset({"keras", "tensorflow", "tf_keras", "keras_core"})


def verdict(case: Case) -> Diagnosis:
    """Return what can be said of an error that nothing is known about."""
    if said := _by_module(case) or _by_frames(case):
        return said
    raised = case.raised_in
    if raised is None or not _is_whole(raised):
        return _without_frames(case)
    if not any(frame.origin is FrameOrigin.KERAS for frame in case.error.frames):
        return _own_line(case, raised)
    where = {
        FrameOrigin.KERAS: "Keras raised it itself",
        FrameOrigin.TENSORFLOW: "TensorFlow raised it, called by Keras",
        FrameOrigin.USER: "your own line raised it",
    }.get(raised.origin, f"{raised.package or 'Python'} raised it, below Keras")
    steps, ruled_out = beside(case)
    return Diagnosis(
        Fault.UNKNOWN,
        "kdoctor does not know this error.",
        case.error,
        place=case.blamed,
        evidence=(f"{where}: {raised}",),
        steps=steps,
        ruled_out=ruled_out,
        target=case.target,
    )


def _own_line(case: Case, raised: TracebackFrame) -> Diagnosis:
    """A line outside of Keras failed; what its objects are, the text cannot tell."""
    steps, ruled_out = beside(case)
    whose = "Your own line" if raised.origin is FrameOrigin.USER else raised.package or "Python"
    return Diagnosis(
        Fault.UNKNOWN,
        f"kdoctor does not know this error. {whose} raised it, not Keras; the text does not show "
        "whether a Keras object caused it.",
        case.error,
        place=case.blamed,
        evidence=(f"raised in {raised}", "no frame of it is in Keras"),
        steps=steps,
        ruled_out=ruled_out,
        target=case.target,
    )


def _by_module(case: Case) -> Diagnosis | None:
    """A module of neither Keras nor TensorFlow is missing: it is to be installed, or a typo."""
    matched = _NO_MODULE.match(case.error.message)
    if matched is None or case.is_inside_keras:
        return None
    package = (matched["name"] or matched["bare"]).partition(".")[0]
    if package in _KERAS_ONES:
        return None
    frame = case.blamed
    evidence = (f"what is missing is {package}, which is not part of Keras or TensorFlow",)
    return _no_keras(
        case, f"imported by {frame}" if frame is not None and frame.path else "", evidence
    )


# What Python raises for reasons that no object of Keras can give.
_OF_PYTHON: Final = frozenset(
    {
        *("ZeroDivisionError", "OverflowError", "SyntaxError", "IndentationError", "TabError"),
        *("AssertionError", "NameError", "UnboundLocalError", "FileNotFoundError", "EOFError"),
        *("KeyboardInterrupt", "SystemExit", "UnicodeDecodeError", "UnicodeEncodeError"),
        *("PermissionError", "FileExistsError", "IsADirectoryError", "NotADirectoryError"),
        *("ConnectionError", "ConnectionRefusedError", "TimeoutError", "BrokenPipeError"),
    }
)


def _by_frames(case: Case) -> Diagnosis | None:
    """No frame, line or word of the error is Keras': Keras has nothing to do with it."""
    frames = case.error.frames
    if not frames or any(
        not _is_whole(each) or each.origin is FrameOrigin.KERAS for each in frames
    ):
        return None
    shown = [case.error.type, case.error.message, *(frame.source for frame in frames)]
    raised = case.raised_in or frames[-1]
    if raised.origin is FrameOrigin.TENSORFLOW and not _SPEAKS_OF_KERAS.search(case.error.message):
        evidence = (f"TensorFlow itself raised it: {raised}", "no frame of it is in Keras")
        return _no_keras(case, "", evidence)
    if any(_SPEAKS.search(text) for text in shown) or _is_of_an_extension(case):
        return None
    evidence = (f"{_where(raised)} raised it: {raised}", "no frame of it is in Keras")
    if raised.origin is not FrameOrigin.USER or _is_pythons(case, raised):
        return _no_keras(case, "", evidence)
    # The user's own line may hold an object of Keras, and its file would show it.
    data = source_of(raised, case.read)
    if data is None:
        return None
    every = range(1, data.count(b"\n") + 2)
    beside = parts_behind(raised.path, data, every, case.read)
    files = (each.decode(errors="replace") for each in (data, *(part.data for part in beside)))
    if any(_KERAS.search(each) for each in files):
        return None
    return _no_keras(case, "the file itself does not mention Keras", evidence)


def _is_of_an_extension(case: Case) -> bool:
    """Say whether a package that extends Keras (``keras_bert``) fails otherwise than on an import.

    What its objects inherit from Keras, no frame shows.
    """
    is_import = case.error.name in {"ImportError", "ModuleNotFoundError"}
    return not is_import and any("keras" in frame.package.lower() for frame in case.error.frames)


def _is_whole(frame: TracebackFrame) -> bool:
    """Say whether the log shows to whom a frame's file belongs."""
    return bool(frame.path) and frame.origin is not FrameOrigin.UNKNOWN


def _is_pythons(case: Case, raised: TracebackFrame) -> bool:
    package = case.error.type.partition(".")[0] if "." in case.error.type else ""
    if package and package not in {*_KERAS_ONES, "builtins", "__main__"}:
        return True  # `lxml.etree.XMLSyntaxError`: its name says whose error it is
    is_statement = raised.source.split(maxsplit=1)[:1] in (["raise"], ["assert"], ["import"])
    return is_statement or case.error.name in _OF_PYTHON


def _where(raised: TracebackFrame) -> str:
    return raised.package or ("your own code" if raised.origin is FrameOrigin.USER else "Python")


def _no_keras(case: Case, more: str, evidence: tuple[str, ...]) -> Diagnosis:
    return Diagnosis(
        Fault.NOT_KERAS,
        "This is not a Keras problem.",
        case.error,
        place=case.blamed,
        evidence=(*evidence, *([more] if more else [])),
        target=None,
    )


def _without_frames(case: Case) -> Diagnosis:
    if HEAD in case.error.message:
        return Diagnosis(
            Fault.UNKNOWN,
            "The traceback ends before it shows which error was raised.",
            evidence=("its last line, with the error, is not in the text",),
        )
    speaks = _SPEAKS.search(f"{case.error.type} {case.error.message}")
    if speaks:
        evidence = ("the text has no traceback, which would tell more",)
    else:
        evidence = ("nothing in the text mentions Keras, and it has no traceback",)
    return Diagnosis(
        Fault.UNKNOWN,
        "kdoctor does not know this error.",
        case.error,
        evidence=evidence,
    )
