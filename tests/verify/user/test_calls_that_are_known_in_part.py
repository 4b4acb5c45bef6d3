"""Partly known calls: literals and defaults of the caller are used."""

import pytest

from kdoctor.verify.user.call_sites import uses_of
from kdoctor.verify.user.statements import statements_of
from kdoctor.verify.user.worker import draws

CALLER = """
SIZE = (3, 3)


def network(inputs, width=8, rate=None):
    kernel = SIZE
    args = {"kernel_size": kernel, "padding": "same"}
    count = 1
    count += 1
    return block(inputs, width, count, inputs.shape, name="first", **args)


def test_block():
    units = 5
    return layer(units, deep=[units, 2])
"""


def block(x, filters, heads, extra=None, name=None, **kwargs):
    return x, filters, heads, extra, name, kwargs


def told(x, filters, of_nobody, name=None):
    return x, filters, of_nobody, name


@pytest.fixture(scope="module")
def uses():
    return uses_of(statements_of(CALLER))


def test_known_arguments_are_kept_and_unknown_ones_left_open(uses):
    (part,) = uses["block"].parts
    assert part["args"] == [None, "8", None, None]
    assert part["kwargs"] == {
        "name": "'first'",
        "kernel_size": "(3, 3)",
        "padding": "'same'",
    }


def test_a_local_name_that_is_bound_once_is_a_value(uses):
    assert uses["layer"].calls == [
        {"args": ["5"], "kwargs": {"deep": "[5, 2]"}, "open": False},
    ]


def test_a_default_of_the_caller_does_not_count_as_a_call(uses):
    assert uses["block"].calls == []


def test_unknown_arguments_are_guessed_by_name(uses):
    tried = draws.arguments_for(block, uses["block"].parts, skip=1)
    assert ([], {"heads": 2, "filters": 8, "name": "first", **SAME}) in tried


def test_a_call_with_arguments_that_cannot_be_guessed_is_not_tried():
    part = {"args": [None, "8"], "kwargs": {}, "open": True, "partial": True}
    assert all(
        kwargs.get("filters") != 8 for _, kwargs in draws.arguments_for(told, [part], skip=1)
    )


SAME = {"kernel_size": (3, 3), "padding": "same"}
