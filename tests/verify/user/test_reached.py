"""Changed lines are tracked: it is known which of them ran."""

import ast

import pytest

from kdoctor.verify.user.worker.reached import Reached

TEXT = '''"""A module."""
SIZE = 3


def chosen(x, mode="plain"):
    """Give something."""
    if mode == "plain":
        return x + SIZE
    elif mode == "never":
        y = (
            x * 2
        )
        return y
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0


class Of:
    def method(self):
        for each in range(3):
            if each > 5:
                return each
        while not self:
            return None
'''


def ran(lines, *calls):
    reached = Reached(lines)
    names = {}
    exec(reached.compiled(TEXT, "<text>", names), names)  # noqa: S102
    for call in calls:
        eval(call, names)  # noqa: S307
    return reached


@pytest.mark.parametrize(
    ("lines", "calls", "missed"),
    [
        ([8, 13], ["chosen(1)"], [13]),
        ([8, 13], ["chosen(1)", "chosen(1, 'never')"], []),
        ([11], ["chosen(1)"], [11]),
        ([9], ["chosen(1)"], [9]),
        ([15, 17], ["chosen(1, 'other')"], [17]),
        ([15, 17], ["chosen(0, 'other')"], []),
        ([22, 23, 24, 25], ["Of().method()"], [24]),
        ([2, 6], [], []),  # what runs when it is loaded, and what is a text
    ],
)
def test_a_line_that_did_not_run_is_missed(lines, calls, missed):
    assert ran(lines, *calls).missed == missed


def test_the_compiled_code_keeps_its_results_and_line_numbers():
    plain, names = {}, {}
    exec(compile(TEXT, "<text>", "exec"), plain)  # noqa: S102
    exec(Reached(range(1, 30)).compiled(TEXT, "<text>", names), names)  # noqa: S102
    assert names["chosen"](4) == plain["chosen"](4) == 7
    assert names["chosen"].__doc__ == "Give something."
    assert names["chosen"].__code__.co_firstlineno == plain["chosen"].__code__.co_firstlineno
    assert ast.get_docstring(ast.parse(TEXT)) == names["__doc__"]
