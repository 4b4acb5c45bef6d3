"""Explain a text: parse its exceptions and try each explainer in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from kdoctor.diagnose.by_example import (
    explain_by_example,
    explain_by_keras_object,
    explain_by_message,
)
from kdoctor.diagnose.by_rules import ReadSource, read_file
from kdoctor.diagnose.by_scan import explain_by_scan
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.cells import Notebook, notebook_at_hand, notebook_of, placed
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.identifiers import explain_identifier
from kdoctor.diagnose.keywords import explain_keyword
from kdoctor.diagnose.line_patterns import encountered
from kdoctor.diagnose.log_cleanup import unwrapped_lines
from kdoctor.diagnose.members import explain_member
from kdoctor.diagnose.messages import explain_message
from kdoctor.diagnose.names import explain_name
from kdoctor.diagnose.notebook_outputs import outputs_of
from kdoctor.diagnose.positions import explain_position
from kdoctor.diagnose.required import explain_required
from kdoctor.diagnose.tracebacks import Raised, read_exceptions
from kdoctor.diagnose.unescape import restored
from kdoctor.diagnose.user_names import explain_unbuilt, explain_unimported
from kdoctor.diagnose.verdicts import verdict
from kdoctor.diagnose.version_detection import (
    detected_version,
    first_fitting,
    target_of,
    versions_in,
)
from kdoctor.keras_api import newest_target, resolve_target
from kdoctor.target import Target

# In the order of asking: what is known most exactly comes first.
_EXPLAINERS: Final[tuple[Callable[[Case], Diagnosis | None], ...]] = (
    explain_message,
    explain_name,
    explain_unbuilt,
    explain_member,
    explain_position,
    explain_keyword,
    explain_by_example,
    explain_by_keras_object,
    explain_identifier,
    explain_required,
    explain_by_message,
    explain_unimported,
    explain_by_scan,
)


def explain(
    text: str,
    *,
    target: Target | str | None = None,
    versions: Mapping[str, str] | None = None,
    read: ReadSource = read_file,
) -> Diagnosis:
    """Return the meaning of an error, whose fault it is, and the remedy.

    ``text`` is anything with an error in it: a log, a traceback, one message, a notebook's file.
    ``target`` is the Keras that ran, where it is known; ``versions`` what is installed where it
    ran, by package (``{"keras": "3.15.1", "tensorflow": "2.21.0"}``). Otherwise the text, the
    project in the working folder, and the newest release are tried, in this order. ``read`` gives
    the source of the file that a frame names, None where it is not to be had.

    >>> explain("module 'keras.backend' has no attribute 'sum'").meaning      # doctest: +SKIP
    '`keras.backend.sum` is not in keras 3.15.1: the last release with it was keras 2.15.0.'

    Raises:
        UsageProblem: ``target`` is unknown.
    """
    given_target = resolve_target(target, "--target") if isinstance(target, str) else target
    notebook, text = notebook_of(text), outputs_of(text)
    said = _explained(text, given_target, versions or {}, read, notebook)
    if said.is_known:
        return said
    for other in dict.fromkeys((unwrapped_lines(text), restored(text))):
        if other != text:
            again = _explained(other, given_target, versions or {}, read, notebook)
            if again.concerns_keras:
                return again
    return said


def _explained(
    text: str,
    given_target: Target | None,
    versions: Mapping[str, str],
    read: ReadSource,
    notebook: Notebook | None,
) -> Diagnosis:
    found = read_exceptions(text)
    if (notebook := notebook or notebook_at_hand(found, read)) is not None:
        found = tuple(placed(each, notebook) for each in found)
    if not found:
        return Diagnosis(Fault.UNKNOWN, "The text contains no error.")
    stated = [
        given_target,
        target_of(versions, "the environment"),
        target_of(versions_in(text), "the text"),
    ]
    for error in _candidates(found):
        case = _case(error, stated, read)
        if answers := _answers(case):
            return _with_its_notebook(answers, error)
    return _with_its_notebook(verdict(_case(found[-1], stated, read)), found[-1])


def _with_its_notebook(diagnosis: Diagnosis, error: Raised) -> Diagnosis:
    """Add which notebook was assumed, if the text does not name it."""
    paths = (frame.program.path for frame in error.frames if frame.program is not None)
    path = next(filter(None, paths), "")
    if not path:
        return diagnosis
    assumption = f"assuming the cells are those of {path}, which has exactly this line in that cell"
    return replace(diagnosis, evidence=(*diagnosis.evidence, assumption))


def _answers(case: Case) -> Diagnosis | None:
    """Return the first answer; if it is conditional, together with the next one."""
    found = (explainer(case) for explainer in _EXPLAINERS)
    known = (diagnosis for diagnosis in found if diagnosis is not None)
    first = next(known, None)
    if first is None or not first.only_if:
        return first
    other = next(
        (each for each in known if each.meaning != first.meaning and not each.only_if), None
    )
    if other is None:
        return first
    note = f"read {other.rule}" if other.rule else ""
    otherwise = Step(StepKind.ADVICE, f"Otherwise: {other.meaning}", note)
    return replace(first, steps=(*first.steps, otherwise))


def _candidates(found: tuple[Raised, ...]) -> Iterator[Raised]:
    """Yield the last exception, then its causes; for a group, its members in order."""
    last = [found[-1]]
    if found[-1].is_of_group:
        last = [each for each in found if each.is_of_group]
    for each in last:
        error: Raised | None = each
        while error is not None:
            if (inner := encountered(error.message)) and inner != error.message:
                yield replace(error, message=inner)
            yield error
            error = error.before


def _case(error: Raised, stated: list[Target | None], read: ReadSource) -> Case:
    detected = detected_version(error)
    known = [target for target in stated if target is not None]
    if known:
        return Case(error, known[0], is_stated=True, detected=detected, read=read)
    target = first_fitting([_of_the_project(), newest_target()], detected)
    return Case(error, target, is_stated=False, detected=detected, read=read)


def _of_the_project() -> Target | None:
    from kdoctor.errors import KdoctorError  # noqa: PLC0415
    from kdoctor.project import find_target  # noqa: PLC0415

    try:
        return find_target(["."]).target
    except KdoctorError:
        return None
