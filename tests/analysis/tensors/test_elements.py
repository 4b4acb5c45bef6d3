"""Of which kind a number is that an expression gives."""

import pytest

from kdoctor.analysis.tensors.constructors import NumberKind
from kdoctor.analysis.tensors.elements import is_number, kind_of_leaf, numbers_of_scalar
from tests.analysis.conftest import asked_in


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("here(1)", NumberKind.INT),
        ("here(-1.5)", NumberKind.FLOAT),
        ("here(True)", NumberKind.BOOL),
        ("here(7 // 2 * 3)", NumberKind.INT),
        ("here(7 / 2)", NumberKind.FLOAT),
        ("here(2 * len(rows) + .5)", NumberKind.FLOAT),
        ("here(x.shape[0])", NumberKind.INT),
        ("here(1 if rows else 2)", NumberKind.INT),
        ("for i in range(3):\n    here(i)", NumberKind.INT),
        ("for i, row in enumerate(rows):\n    here(i)", NumberKind.INT),
        ("n = 3\nm = n / 2\nhere(m)", NumberKind.FLOAT),
    ],
)
def test_the_kind_of_a_number_is_told_by_what_it_is_made_of(source, kind):
    assert numbers_of_scalar(*asked_in(source)) is kind


@pytest.mark.parametrize(
    "source",
    [
        "here(x)",
        "here('1')",
        "here(True + 1)",
        "here(x.shape[1:])",
        "def len(rows): ...\nhere(len(rows))",
        "for i, row in enumerate(rows):\n    here(row)",
        "n = 3\nif rows:\n    n = x\nhere(n)",
        "n = n\nhere(n)",
    ],
)
def test_what_may_be_something_else_is_no_number(source):
    module, node = asked_in(source)

    assert numbers_of_scalar(module, node) is None
    assert not is_number(module, node, kind_of_leaf)


def test_one_of_two_kinds_is_a_number_without_a_kind():
    module, node = asked_in("n = 3\nif rows:\n    n = 2.5\nhere(n)")

    assert numbers_of_scalar(module, node) is None
    assert is_number(module, node, kind_of_leaf)
