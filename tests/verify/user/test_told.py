"""Errors of the user's code, as `kdoctor verify` tells them: in one line, without our own frames."""

from __future__ import annotations

import pytest

from kdoctor.verify.user.worker.measured import NotTaken, told

GRAPH = (
    'in user code:\n\n    File "/home/kdoctor/verify/user/worker/functions.py", line 9, in run  *\n'
    "        return function(*given)\n"
    '    File "code.py", line 3, in scaled  *\n        return x * K.nothing(\n\n    {}\n'
)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("a\n  b"), "ValueError: a b"),
        (NotTaken("ValueError: a"), "ValueError: a"),
        # As AutoGraph tells it: the last paragraph is the error.
        (
            AttributeError(GRAPH.format("AttributeError: module 'k' has no attribute 'nothing'")),
            "AttributeError: module 'k' has no attribute 'nothing'",
        ),
        (
            TypeError(GRAPH.format("TypeError: first\n    second\n\n        third")),
            "TypeError: first second third",
        ),
        (ValueError("in user code: all is well"), "ValueError: in user code: all is well"),
    ],
)
def test_an_error_is_told_in_one_line(error: Exception, line: str) -> None:
    assert told(error) == line
