"""Pytest plugin (``pytest -p kdoctor``): the diagnosis as a section of a failed test's report."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: Any) -> Generator[None, Any, Any]:
    """Add a section to the report of a phase that failed; leave all others as they are."""
    report = yield
    if report.failed and call.excinfo is not None:
        _add(report, call.excinfo.value)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    """Do the same where a test file cannot even be imported."""
    report = yield
    error = getattr(getattr(report, "call", None), "excinfo", None)
    if report.failed and error is not None:
        # The report shows the import's own error, which pytest has put into one of its own.
        _add(report, error.value.__cause__ or error.value)
    return report


def _add(report: Any, error: BaseException) -> None:
    if not isinstance(error, Exception):
        return
    from kdoctor.watch.answering import (  # noqa: PLC0415
        TITLE,
        Failure,
        answer_as_text,
        versions_loaded,
    )

    text = "".join(traceback.format_exception(error))
    said = answer_as_text(Failure(text, versions_loaded()))
    if said:
        report.sections.append((TITLE, said.removeprefix(f"{TITLE}:").strip("\n")))
