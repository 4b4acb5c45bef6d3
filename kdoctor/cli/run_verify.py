"""Run the verifier for a command: collect sources, choose the Python, show progress."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kdoctor import engine
from kdoctor.cli.choices import VerifyOptions
from kdoctor.config import ALL_BACKENDS, named_backends
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.model import Severity
from kdoctor.report.output import is_terminal
from kdoctor.report.progress import progress
from kdoctor.verify.user.results import VerdictState

if TYPE_CHECKING:
    from kdoctor.documents import Kind
    from kdoctor.engine import FixResult
    from kdoctor.interpreters import Interpreter
    from kdoctor.verify.user.definitions import Source
    from kdoctor.verify.user.interpreter import Chosen
    from kdoctor.verify.user.results import Report


class Verified(NamedTuple):
    """The verdicts, and the sources that they are about."""

    report: Report
    sources: list[Source]
    texts: Texts
    kind: Kind | None


def verified(
    paths: Iterable[str],
    fixed: FixResult,
    how: engine.Options,
    running: VerifyOptions,
    *,
    unsafe: bool | None,
) -> Verified:
    """Verify the files at or below ``paths``; ``fixed`` holds what the fix changes in them.

    ``how`` are the options of that fix.

    Raises:
        UsageProblem: a path does not exist, or this system or no Python can run the code.
    """
    if not hasattr(os, "fork"):
        raise UsageProblem(
            "user code is verified in forked processes that the kernel sandboxes, which "
            f"{platform.system()} does not support: run kdoctor on Linux, in WSL or in a container"
        )
    from kdoctor.verify.user.running import Limits  # noqa: PLC0415
    from kdoctor.verify.user.sources import sources_of  # noqa: PLC0415
    from kdoctor.verify.user.verifying import verify  # noqa: PLC0415

    paths = list(paths)
    policy = engine.FileSelection(paths, how)
    listing = policy.listing(paths)
    texts = Texts(fixed, how, unsafe=policy.unsafe(unsafe))
    unreadable = [(each.path, each.why) for each in fixed.left.unreadable]
    unreadable += [(each.path, each.why) for each in fixed.left_alone]
    sources: list[Source] = []
    for path in listing:
        try:
            sources += sources_of(path, *texts.bytes_of(path), how.get("kind"))
        except FileProblem as problem:
            unreadable.append((path, str(problem)))
        except OSError as error:
            unreadable.append((path, f"cannot be read: {error.strerror or error}"))
    first = os.path.abspath(next(iter(listing), "."))  # noqa: PTH100 - a link stays what it is
    chosen = _chosen(os.path.dirname(first), running, how, policy)  # noqa: PTH120
    limits = Limits(running.seconds, at_once=how.get("jobs") or 0, sandboxed=running.sandboxed)
    with progress(sys.stderr, shown=is_terminal(sys.stderr)) as report_progress:
        report = verify(sources, texts, chosen, limits, report_progress)
    left, with_unsafe = _left(fixed, report)
    report = replace(
        report,
        unreadable=tuple(dict(unreadable).items()),
        left=left,
        unsafe=0 if policy.unsafe(unsafe) else with_unsafe,
    )
    return Verified(report, sources, texts, how.get("kind"))


def _chosen(
    folder: str, running: VerifyOptions, how: engine.Options, policy: engine.FileSelection
) -> Interpreter | Chosen:
    """Return the Python to run on, with the backends that the command line or a setting names.

    Raises:
        UsageProblem: no Python has what is needed, or a backend that the command line names.
    """
    from kdoctor.verify.user.interpreter import choose, choose_with  # noqa: PLC0415

    option = how.get("backend")
    backends = named_backends(policy.main.value("backend") if option is None else option)
    if not backends:
        return choose(folder, running.python)
    all_of = option is not None and ALL_BACKENDS not in option
    return choose_with(folder, running.python, backends, all_of=all_of)


def _left(fixed: FixResult, report: Report) -> tuple[int, int]:
    """Count the errors left in files that cannot run on Keras 3, and those that have a fix."""
    paths = {each.path for each in report.verdicts if each.state is VerdictState.NOT_ON_KERAS_3}
    left = [
        each
        for each in fixed.left.findings
        if each.place.path in paths and each.severity is Severity.ERROR
    ]
    return len(left), sum(each.fix is not None for each in left)


class Texts:
    """Files before and after the fix; modules outside the paths are fixed on demand."""

    def __init__(self, fixed: FixResult, how: engine.Options, *, unsafe: bool) -> None:
        self._fixed = {_real(each.path): (each.before, each.after) for each in fixed.files}
        # All that a module beside the named files needs on Keras 3, whatever rules were asked for.
        self._how: engine.Options = {
            "target": how.get("target"),
            "namespace": how.get("namespace"),
            "backend": how.get("backend"),
            "keras_2_helpers": how.get("keras_2_helpers"),
            "project_types": how.get("project_types"),
            "config": how.get("config"),
            "isolated": how.get("isolated", False),
            "trust_rules": how.get("trust_rules", False),
            "diffs": False,
            "anchors": False,
            "jobs": 1,
        }
        self._unsafe = unsafe

    def bytes_of(self, path: str) -> tuple[bytes, bytes]:
        """Return a named file before and after the fix.

        Raises:
            OSError: it cannot be read.
        """
        known = self._fixed.get(_real(path))
        if known is not None:
            return known
        data = Path(path).read_bytes()
        return self._fixed.setdefault(_real(path), (data, data))

    def __call__(self, path: Path) -> tuple[str, str] | None:
        """Return a module of the project before and after the fix, None if it cannot be read."""
        if _real(path) not in self._fixed:
            for each in engine.fix([path], unsafe=self._unsafe, **self._how).files:
                self._fixed[_real(each.path)] = (each.before, each.after)
        try:
            before, after = self.bytes_of(str(path))
            return before.decode("utf-8-sig"), after.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return None


def _real(path: str | Path) -> str:
    return os.path.realpath(path)
