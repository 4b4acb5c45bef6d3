import libcst as cst
import pytest

from kdoctor.syntax.displays import elements_of, part_of


@pytest.mark.parametrize("source", ["[a, b]", "(a, b)"])
def test_the_elements_of_a_display_are_known(source):
    assert [each.value for each in elements_of(cst.parse_expression(source))] == ["a", "b"]


@pytest.mark.parametrize("source", ["[a, *b]", "{a, b}", "{a: b}", "a", "[a for a in b]"])
def test_nothing_is_known_of_what_a_star_stands_for_or_of_anything_else(source):
    assert elements_of(cst.parse_expression(source)) is None


def test_a_part_is_found_step_by_step():
    value = cst.parse_expression("a, [b, (c,)]")

    assert part_of(value, ()) is value
    assert part_of(value, (1, 1, 0)).value == "c"


@pytest.mark.parametrize("path", [(2,), (0, 0), (None,), ("layers",)])
def test_a_part_that_is_not_written_out_is_not_found(path):
    assert part_of(cst.parse_expression("a, [b]"), path) is None
