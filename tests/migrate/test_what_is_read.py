"""Results are read from what runners write."""

from __future__ import annotations

import pytest

from kdoctor.migrate import junit
from kdoctor.migrate.junit import Test, UnreadableXml


def test_what_ended_worst_counts():
    case = "<testcase classname='a' name='b'>{}</testcase>"
    told = ["", "<error message='tear-down'>text</error>", "<skipped message='why'/>"]
    data = f"<testsuites><testsuite>{''.join(map(case.format, told))}</testsuite></testsuites>"
    assert junit.tests_in(data.encode()) == {"a::b": Test("failed", "text")}


def test_namespaces_and_tests_without_a_class_are_read():
    data = (
        b"<t xmlns='x'><testcase name='b'><failure message='m'/></testcase><testcase name='c'/></t>"
    )
    assert junit.tests_in(data) == {"::b": Test("failed", "m"), "::c": Test("passed")}


@pytest.mark.parametrize("data", [b"", b"<t>", b"text"])
def test_what_is_no_xml_is_said_to_be_none(data):
    with pytest.raises(UnreadableXml):
        junit.tests_in(data)
