"""Read the XML of JUnit, which most runners of tests can write."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.migrate import probe_log

PASSED: Final = "passed"
FAILED: Final = "failed"
SKIPPED: Final = "skipped"
# What ends worst counts: a test may pass, and its tear-down fail.
_ORDER: Final = (PASSED, SKIPPED, FAILED)


class Test(Struct, frozen=True, omit_defaults=True):
    """How a test ended; ``text`` is what was told of it where it did not pass."""

    __test__ = False  # pytest takes what has such a name for a test

    outcome: str
    text: str = ""


class UnreadableXml(Exception):
    """A file is no XML of JUnit."""


def tests_in(data: bytes) -> dict[str, Test]:
    """Return the tests of a document by ``class::name``.

    Raises:
        UnreadableXml: it is none.
    """
    try:
        root = ET.fromstring(data)  # noqa: S314 - written by the tests of the user's own project
    except ET.ParseError as error:
        raise UnreadableXml(str(error)) from error
    return _merged(
        (f"{case.get('classname') or ''}::{case.get('name') or ''}", _test(case))
        for case in root.iter()
        if _kind(case) == "testcase"
    )


def tests_in_log(path: Path) -> tuple[dict[str, Test], str]:
    """Return the tests that the probe told of, and the one that began and did not end, if any."""
    entries = list(probe_log.entries(path))
    began = [each["began"] for each in entries if "began" in each]
    ended = {each["ended"] for each in entries if "ended" in each}
    told = (
        (each["test"], Test(each["outcome"], each["text"])) for each in entries if "test" in each
    )
    unfinished = [each for each in began if each not in ended]
    return _merged(told), unfinished[-1] if unfinished else ""


def _merged(told: Iterable[tuple[str, Test]]) -> dict[str, Test]:
    found: dict[str, Test] = {}
    for name, test in told:
        before = found.get(name)
        if before is None or _ORDER.index(test.outcome) > _ORDER.index(before.outcome):
            found[name] = test
    return found


def _test(case: ET.Element) -> Test:
    for child in case:
        kind = _kind(child)
        if kind in {"failure", "error"}:
            return Test(FAILED, child.text or child.get("message") or "")
        if kind == "skipped":
            return Test(SKIPPED, child.get("message") or "")
    return Test(PASSED)


def _kind(element: ET.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]
