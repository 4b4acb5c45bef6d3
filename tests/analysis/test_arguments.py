"""How an argument of a call is found, and what a name is bound to."""

import libcst as cst
import pytest

from kdoctor.analysis.calls import (
    all_by_position,
    argument,
    binding_of,
    passed,
    positional_arguments,
    value_of,
)
from tests.analysis.conftest import asked_in


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("f(1, 2)", "2"),
        ("f(1, y=2)", "2"),
        ("f(*rest, y=2)", "2"),
        ("f(1, 2, *rest, **options)", "2"),
        ("f(1, **options)", None),
        ("f(1, *rest)", None),
        ("f(*rest, 1, 2)", None),  # nobody knows at which places they are
        ("f(1)", None),
    ],
)
def test_an_argument_is_found_by_its_name_or_by_a_place_that_is_sure(call, found):
    value = passed(cst.parse_expression(call), "y", 1)

    assert (None if value is None else value.value) == found


def test_without_a_place_only_a_keyword_is_found():
    assert argument(cst.parse_expression("f(1, 2)"), "y") is None


def test_what_stands_behind_a_star_has_no_place():
    call = cst.parse_expression("f(1, *rest, 2, y=3)")

    assert [each.value.value for each in positional_arguments(call)] == ["1"]
    assert all_by_position(call) == []


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("n = 3\nhere(n)", "3"),
        ("n: int = 3\nhere(n)", "3"),
        ("n = 3\nif open:\n    n = 4\nhere(n)", "n"),
        ("n, m = 3, 4\nhere(n)", "n"),
        ("for n in [3]:\n    here(n)", "n"),
        ("n = 3\nn += 1\nhere(n)", "n"),
        ("def f(n=3):\n    here(n)", "n"),
        ("here(5)", "5"),
    ],
)
def test_a_name_stands_for_the_one_value_that_is_assigned_to_it(source, value):
    assert value_of(*asked_in(source)).value == value


def test_a_name_has_one_binding_or_none_that_is_sure():
    once, name = asked_in("for n in [3]:\n    here(n)")
    assert binding_of(once, name).path == ()

    twice, name = asked_in("n = 3\nif open:\n    n = 4\nhere(n)")
    assert binding_of(twice, name) is None
    assert binding_of(*asked_in("here(5)")) is None
