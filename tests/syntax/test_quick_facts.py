import ast

import pytest

from kdoctor.syntax.quick_facts import QuickFacts


def facts_of(source):
    return QuickFacts(ast.parse(source))


def test_what_is_only_imported_is_named_but_no_object_is_of_it():
    quick = facts_of("from keras.layers import Dense, Input\n\nx = Input((1,))\n")
    assert quick.names >= {"keras.layers.Dense", "keras.layers.Input"}
    assert quick.mentioned == {"keras.layers.Input"}


@pytest.mark.parametrize(
    "use",
    [
        "Dense(1)",
        "D = Dense\nD(1)",
        "def f(x: Dense): ...",
        "def f(x: 'Dense'): ...",
        'def f(x):\n    """Add to x, a Dense."""',
        "class Mine(Dense): ...",
    ],
)
def test_what_is_read_in_any_way_is_mentioned(use):
    quick = facts_of(f"from keras.layers import Dense\n\n{use}\n")
    assert "keras.layers.Dense" in quick.mentioned


def test_calls_are_found_by_what_they_pass_by_position():
    quick = facts_of("f()\nf(1)\nf(1, 2)\nf(*a, 2, b=3)\n")
    sources = [[ast.unparse(each.node) for each in quick.calls_beyond(at)] for at in (0, 1, 2)]
    assert sources == [["f(1)", "f(1, 2)", "f(*a, 2, b=3)"], ["f(1, 2)", "f(*a, 2, b=3)"], []]
