import ast
import gc

import libcst as cst
import pytest

from kdoctor.syntax.literals import UNKNOWN, literal, literal_in

LITERALS = (
    *("1", "0x10", "1_000", "-1", "-2.5", "-3j", "+1", "1 + 2j", "-1 - 2j", "None", "..."),
    *("'a'", "b'a'", "r'\\d'", "'a' 'b'", "b'a' b'b'", "('a'\n 'b')"),
    *("(1, [2, -3.5])", "()", "(1,)", "{1: [2], 'a': True}", "{}", "{1, 2}", "set()"),
)
OTHERS = (
    *("a", "a.b", "[a]", "f()", "set(1)", "set(a=1)", "list()", "f'{1}'", "'a' f'{b}'"),
    *("1 + 2", "1j + 2j", "1 * 2j", "not 1", "-a", "-True", "--1", "[*a]", "{**a}", "{[1]}"),
)


@pytest.mark.parametrize("source", LITERALS)
def test_a_literal_is_worth_what_python_says_whichever_tree_holds_it(source):
    wanted = ast.literal_eval(source)
    nodes = (cst.parse_expression(source), ast.parse(source, mode="eval").body)
    for found in (*map(literal, nodes), literal_in(f" {source}")):
        assert (type(found), found) == (type(wanted), wanted)


@pytest.mark.parametrize("source", OTHERS)
def test_nothing_is_known_of_what_python_takes_for_no_literal(source):
    with pytest.raises((ValueError, TypeError)):
        ast.literal_eval(source)
    nodes = (cst.parse_expression(source), ast.parse(source, mode="eval").body)
    assert [*map(literal, nodes), literal_in(source)] == [UNKNOWN] * 3


def test_nothing_is_known_of_what_is_no_expression():
    assert literal(None) is UNKNOWN
    assert literal_in("a b") is UNKNOWN


def test_nothing_waits_for_the_garbage_collector():
    texts = ("1", "[1, (2,)]", "-1.5", "'a'", "f(1)")
    nodes = [ast.parse(source, mode="eval").body for source in texts]
    nodes += map(cst.parse_expression, texts)
    while gc.collect():  # what other tests left, which may take more than one pass
        pass
    gc.disable()
    try:
        for node in nodes:
            literal(node)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_what_is_not_there_is_what_the_caller_says():
    assert literal(None, absent=True) is True
    assert literal(cst.parse_expression("a"), absent=True) is UNKNOWN
