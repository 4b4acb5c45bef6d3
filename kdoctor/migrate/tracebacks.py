"""What the errors of tests mean that still fail, and which lines they went through."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from kdoctor.diagnose import Diagnosis, explain
from kdoctor.diagnose.diagnosis import StepKind
from kdoctor.diagnose.frames import FrameOrigin
from kdoctor.diagnose.tracebacks import Raised, read_exceptions
from kdoctor.errors import KdoctorError
from kdoctor.migrate.evidence import from_top
from kdoctor.migrate.junit import FAILED, Test
from kdoctor.migrate.outcome import FailingTest
from kdoctor.migrate.suites import Side
from kdoctor.target import Target

_MAX_TEXT: Final = 300
_MISSING: Final = "it was not run: "


def failing_tests(
    names: Iterable[str], tests: Mapping[str, Test], target: Target, top: Path
) -> list[FailingTest]:
    """Return the tests of these names with what their errors mean, equal errors asked once."""
    known = dict[str, Diagnosis | None]()
    found = []
    for name in sorted(names):
        text = text_of(name, tests)
        if text not in known:
            known[text] = _explained(text, target)
        found.append(_failing(name, text, known[text], top))
    return found


def lines_of(names: Iterable[str], tests: Mapping[str, Test], top: Path) -> set[tuple[str, int]]:
    """Return the lines of the tree, paths from its top, that the errors of tests went through."""
    texts = {text_of(each, tests) for each in names}
    real = os.path.realpath(top)
    return {
        (from_top(frame.path, top), frame.line)
        for text in texts
        for error in read_exceptions(text)
        for frame in error.frames
        if frame.line and os.path.realpath(frame.path).startswith(f"{real}{os.sep}")
    }


def failing_on_keras_2(
    tests: Mapping[str, Test], flaky: Collection[str], side: Side
) -> Iterator[str]:
    """Yield a note on tests that fail on Keras 2: a reader would take them for what is left."""
    failing = [name for name, test in tests.items() if test.outcome == FAILED and name not in flaky]
    if not failing:
        return
    is_one = len(failing) == 1
    fail, judge, most = ("fails", "judges", "") if is_one else ("fail", "judge", "most ")
    they = "it" if is_one else "they"
    elsewhere = f"; with the project's own Keras 2 (`--old-python`) {they} may pass"
    yield (
        f"{len(failing)} of {len(tests)} tests {fail} on Keras 2 and {judge} nothing, {most}with "
        f"`{usual_error(tests)}`{elsewhere * side.with_tf_keras}"
    )


def usual_error(tests: Mapping[str, Test]) -> str:
    """Return the error that most tests end with, "" where none failed."""
    texts = [each.text for each in tests.values() if each.outcome == FAILED]
    errors = Counter(_sentence((read_exceptions(each) or (None,))[-1], each) for each in texts)
    return errors.most_common(1)[0][0] if errors else ""


def text_of(name: str, tests: Mapping[str, Test]) -> str:
    """Return what was told of a test; of one that was not run, why its file was not read."""
    found = tests.get(name)
    if found is not None:
        return found.text
    module = name.partition("::")[0]
    for other, test in tests.items():
        # A file that cannot be collected is one case, whose name is the module's.
        if test.outcome == FAILED and module.startswith(other.rpartition("::")[2]):
            return test.text
    return f"{_MISSING}the run ended before it, or its file is gone"


def _explained(text: str, target: Target) -> Diagnosis | None:
    try:
        return explain(text, target=target)
    except (KdoctorError, RecursionError):
        return None


def _failing(name: str, text: str, said: Diagnosis | None, top: Path) -> FailingTest:
    errors = read_exceptions(text)
    error = said.error if said and said.error else (errors[-1] if errors else None)
    last = _sentence(error, text)
    place = _place(error, top)
    if said is None or not said.concerns_keras:
        return FailingTest(name, last, place)
    remedies = (each.note if each.kind is StepKind.DIFF else each.text for each in said.steps)
    remedy = next(filter(None, remedies), "")
    return FailingTest(name, last, place, said.meaning, remedy)


def _sentence(error: Raised | None, text: str) -> str:
    if error is not None:
        told = f"{error.name}: {error.message}" if error.message else error.name
    else:
        lines = [each.strip() for each in text.splitlines() if each.strip()]
        told = lines[-1] if lines else "no error was told"
    return told.partition("\n")[0][:_MAX_TEXT]


def _place(error: Raised | None, top: Path) -> str:
    """Return the innermost line of the project that an error went through."""
    own = [each for each in (error.frames if error else ()) if each.origin is FrameOrigin.USER]
    for frame in reversed(own):
        path = from_top(frame.path, top)
        if not path.startswith(".."):
            return f"{path}:{frame.row}" if frame.row else path
    return ""
