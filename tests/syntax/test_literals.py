import ast
import gc

import libcst as cst
import pytest

from kdoctor.syntax.literals import evaluated, literal_value, literal_value_in


@pytest.mark.parametrize(
    "source",
    [
        *(
            "1",
            "-1",
            "-2.5",
            "-3j",
            "+1",
            "'a' 'b'",
            "b'a'",
            "None",
            "...",
            " (1, [2, -3.5])",
            "()",
            "{1: [2]}",
            "{1, 2}",
        ),
        *("set()", "1 + 2j", "-1 - 2j"),
    ],
)
def test_a_literal_is_worth_what_python_says(source):
    assert literal_value_in(source) == ast.literal_eval(source)
    assert type(literal_value_in(source)) is type(ast.literal_eval(source))


@pytest.mark.parametrize(
    "source",
    ["a", "a.b", "[a]", "f()", "set(1)", "1 + 2", "not 1", "-a", "-True", "f'{1}'", "list()"],
)
def test_what_is_no_literal_is_refused_as_by_python(source):
    with pytest.raises(ValueError, match="malformed"):
        ast.literal_eval(source)
    with pytest.raises(ValueError):  # noqa: PT011 - it is Python's own, or ours
        literal_value_in(source)


def test_what_is_no_expression_is_a_syntax_error():
    with pytest.raises(SyntaxError):
        literal_value_in("a b")


@pytest.mark.parametrize(
    "source", ["'a'", "b'a'", "r'\\d'", "'a' 'b'", "'a' f'{b}'", "1_000", "2.5"]
)
def test_a_node_of_libcst_is_worth_what_libcst_says(source):
    node = cst.parse_expression(source)
    assert evaluated(node) == node.evaluated_value


def test_nothing_waits_for_the_garbage_collector():
    nodes = [ast.parse(source, mode="eval").body for source in ("1", "[1, (2,)]", "-1.5")]
    while gc.collect():  # what other tests left, which may take more than one pass
        pass
    gc.disable()
    try:
        for node in nodes:
            literal_value(node)
        for text in ("'a'", "1", "2.5"):
            evaluated(cst.parse_expression(text))
        assert gc.collect() == 0
    finally:
        gc.enable()
