"""What a line's names are imported from is scanned before anything is ruled out."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault
from kdoctor.diagnose.imported_values import parts_behind

HELPERS = """\
import keras


def best(x, y):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile('sgd', 'mse', metrics=['accuracy'])
    history = model.fit(x, y)
    return history.history.get('acc')


def size(x):
    return len(x)
"""
ERROR = "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'"


def explained(files, *, shown="print(found + 1)", error=ERROR):
    main = files["train.py"]
    number = next(at for at, line in enumerate(main.splitlines(), 1) if line == shown)
    text = (
        "Traceback (most recent call last):\n"
        f'  File "/home/me/train.py", line {number}, in <module>\n    {shown}\n{error}\n'
    )

    def read(path):
        inside = PurePosixPath(path).relative_to("/home/me").as_posix()
        return files[inside].encode() if inside in files else None

    return explain(text, versions={"keras": "3.15.1"}, read=read)


@pytest.mark.parametrize(
    ("line", "call", "place"),
    [
        ("from helpers import best", "best", "helpers.py"),
        ("from helpers import best as top", "top", "helpers.py"),
        ("import helpers", "helpers.best", "helpers.py"),
        ("import helpers as h", "h.best", "helpers.py"),
        ("from tools.helpers import best", "best", "tools/helpers.py"),
        ("from .helpers import best", "best", "helpers.py"),
    ],
)
def test_a_finding_in_the_function_that_gave_the_value_is_the_answer(line, call, place):
    main = f"{line}\n\nfound = {call}(x, y)\nprint(found + 1)\n"
    found = explained({"train.py": main, place: HELPERS})
    assert (found.fault, found.rule) == (Fault.YOUR_CODE, "KD215")
    assert "line 8 of helpers.py, from which this line uses a name" in found.evidence[0]
    assert place in found.steps[0].text


def test_a_finding_in_another_function_of_the_module_is_none():
    main = "from helpers import best, size\n\nbest(x, y)\nfound = size(x)\nprint(found + 1)\n"
    found = explained({"train.py": main, "helpers.py": HELPERS})
    assert found.fault is Fault.UNKNOWN
    assert any("imported from helpers.py" in each for each in found.ruled_out)


@pytest.mark.parametrize("source", ["def size(x):\n    return len(x)\n", HELPERS])
def test_it_is_no_problem_of_keras_where_the_files_beside_do_not_speak_of_it(source):
    main = "from helpers import size\n\nfound = size(x)\nprint(found + 1)\n"
    found = explained({"train.py": main, "helpers.py": source})
    assert (found.fault is Fault.NOT_KERAS) is ("keras" not in source)


def test_a_module_that_cannot_be_read_is_not_ruled_out():
    main = "import keras\nfrom helpers import best\n\nfound = best(x, y)\nprint(found + 1)\n"
    found = explained({"train.py": main})
    assert found.fault is Fault.UNKNOWN
    (said,) = found.ruled_out
    assert said.endswith("about train.py:5 and the lines that it depends on")


@pytest.mark.parametrize("line", ["import keras", "from tensorflow import keras"])
def test_the_frameworks_are_not_looked_for_beside_the_file(line):
    asked = []
    data = f"{line}\nkeras.Sequential()\n".encode()
    assert not [*parts_behind("/home/me/a.py", data, [2], asked.append)]
    assert asked == []


def test_a_module_that_is_no_python_of_today_is_passed_over():
    data = b"from old import best\nbest()\n"
    (part,) = parts_behind("/home/me/a.py", data, [2], lambda _: b"print 'x'\n")
    assert part.lines == frozenset()
