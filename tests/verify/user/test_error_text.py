"""Errors of user code are shown on one line, without kdoctor's own frames."""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.verify.user.worker import draws
from kdoctor.verify.user.worker.measurement import Case, Rejected, compare, error_text

GRAPH = (
    'in user code:\n\n    File "/home/kdoctor/verify/user/worker/functions.py", line 9, in run  *\n'
    "        return function(*given)\n"
    '    File "code.py", line 3, in scaled  *\n        return x * K.nothing(\n\n    {}\n'
)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("a\n  b"), "ValueError: a b"),
        (Rejected("ValueError: a"), "ValueError: a"),
        # AutoGraph puts the error into the last paragraph.
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
def test_an_error_is_shown_on_one_line(error: Exception, line: str) -> None:
    assert error_text(error) == line


@pytest.mark.parametrize("before", [np.ones(3), [np.ones(3), np.ones(2)]])
def test_an_error_in_place_of_values_is_shown_in_full(before) -> None:
    error = "ValueError: too many values to unpack (expected 2)"
    old, new = Case("a case", {"loaded": before}), Case("a case", {"loaded": error})
    differences, _ = compare(old, new)
    assert [each.told for each in differences] == [f"Keras 3 gives {error}"]


@pytest.mark.parametrize("name", ["token_num", "head_num", "layer_count", "num_layers", "units"])
def test_a_parameter_that_counts_takes_a_number(name: str) -> None:
    assert isinstance(draws.guess(name), int)


@pytest.mark.parametrize("name", ["discount", "account", "denum", "num"])
def test_a_parameter_that_only_sounds_like_a_count_is_not_guessed(name: str) -> None:
    assert draws.guess(name) is None
