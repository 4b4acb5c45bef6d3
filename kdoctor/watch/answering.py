"""Write the diagnosis below an error of Keras; write nothing below other errors."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

from kdoctor.diagnose import Diagnosis, Fault, explain
from kdoctor.diagnose.environment import Check, CheckState, examine
from kdoctor.errors import KdoctorError
from kdoctor.report.diagnosis import write_text
from kdoctor.report.output import Page, wants_color
from kdoctor.target import FRAMEWORKS

TITLE = "kdoctor"
_MAYBE_INSTALLED_WRONG = {Fault.INSTALLATION, Fault.UNKNOWN}
# A frame in one of these packages, or an import of it that failed.
_CONCERNED = re.compile(
    r"""(?:File\ ".*?[/\\]|No\ module\ named\ '|cannot\ import\ name\ .*?from\ ')
    (keras|tensorflow|tf_keras|numpy|h5py|google|segmentation_models|efficientnet
    |classification_models|keras_applications|keras_contrib|tensorflow_addons)\b""",
    re.VERBOSE,
)
# What is wrong with these is told only where they are concerned themselves.
_OF_A_LIBRARY = {
    "SM_FRAMEWORK": {"segmentation_models", "efficientnet"},
    "segmentation-models": {"segmentation_models"},
    "efficientnet": {"efficientnet"},
    "image-classifiers": {"classification_models"},
    "keras-applications": {"keras_applications"},
    "keras-contrib": {"keras_contrib"},
    "tensorflow-addons": {"tensorflow_addons"},
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that nobody caught: its traceback, and where it happened.

    ``versions`` are those of the modules that were loaded, by name; ``folder`` is the first of the
    program's search path.
    """

    text: str
    versions: Mapping[str, str]
    python: str = sys.executable
    folder: str = ""


def answer(failure: Failure, page: Page) -> bool:
    """Write what an error means; say whether there was anything to write.

    The program's own error stands above; one of kdoctor's must not be taken for it.
    """
    try:
        return _answered(failure, page)
    except Exception:
        if os.environ.get("KDOCTOR_DEBUG"):
            raise
        return False


def _answered(failure: Failure, page: Page) -> bool:
    diagnosis = explain(failure.text, versions=failure.versions)
    broken = _broken(failure) if diagnosis.fault in _MAYBE_INSTALLED_WRONG else []
    if not diagnosis.concerns_keras and not broken:
        return False
    page.line()
    page.line(page.paint("good", f"{TITLE}:"))
    if diagnosis.concerns_keras:
        write_text(_under_its_traceback(diagnosis), page)
    if broken:
        page.line("What is installed here is broken (`kdoctor env` says more):")
    for check in broken:
        page.line(f"  {page.paint('error', check.subject)}: {check.message}")
        if check.remedy is not None and check.remedy.command:
            page.line(f"  {page.paint('help', 'cure:')} {check.remedy.command}")
    return True


def answer_as_text(failure: Failure) -> str:
    """Return what :func:`answer` writes, "" where that is nothing."""
    stream = StringIO()
    answer(failure, Page(stream))
    return stream.getvalue().strip("\n")


def versions_loaded() -> dict[str, str]:
    """Return the versions of the frameworks that this process has imported."""
    modules = {name: sys.modules.get(name) for name in FRAMEWORKS}
    found = {name: getattr(module, "__version__", None) for name, module in modules.items()}
    return {name: version for name, version in found.items() if isinstance(version, str)}


def main() -> None:
    """Answer the failure that stands on standard input, on standard error."""
    told = json.loads(sys.stdin.buffer.read())
    failure = Failure(told["text"], told["versions"], told["python"], told["folder"])
    answer(failure, Page(sys.stderr, color=wants_color(sys.stderr)))


def _under_its_traceback(diagnosis: Diagnosis) -> Diagnosis:
    """Leave out the line of the error, which stands right above."""
    return replace(diagnosis, error=None)


def _broken(failure: Failure) -> list[Check]:
    """Return what is broken in the environment and may have led to the error."""
    concerned = set(_CONCERNED.findall(failure.text))
    if not concerned:
        return []
    folder = Path(failure.folder) if failure.folder else Path.cwd()
    try:
        health_report = examine(failure.python, folder if folder.is_dir() else Path.cwd())
    except KdoctorError:
        return []
    return [
        check
        for check in health_report.checks
        if check.state is CheckState.BROKEN
        and _OF_A_LIBRARY.get(check.subject, concerned) & concerned
    ]
