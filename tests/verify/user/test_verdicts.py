"""Verdicts by the answers of both sides; nothing runs here."""

import io

import numpy as np
import pytest

from kdoctor.interpreters import Interpreter
from kdoctor.report.output import Page
from kdoctor.report.verdicts import write_verdicts
from kdoctor.verify.user import verifying
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.results import Report, Verdict, VerdictState
from kdoctor.verify.user.running import Ran
from kdoctor.verify.user.verifying import verify
from kdoctor.verify.user.worker import measurement

TEXT = "import keras\n\n\ndef f(x):\n    return keras.ops.exp(x)\n"
RAN = {"state": "ran", "kind": "function of a tensor", "cases": 1}


@pytest.fixture
def told(monkeypatch):
    """Return the verdict on a definition of which the sides answer this."""

    def verdict(old, new):
        ran = Ran({0: old}, {} if new is None else {0: new}, ())
        monkeypatch.setattr(verifying, "run", lambda *_, **__: ran)
        source = Source("a.py", TEXT, TEXT)
        return verify([source], lambda _: None, Interpreter("/python", "named")).verdicts[0]

    return verdict


def cannot(error, **more):
    return {"state": "cannot", "error": error, **more}


def test_an_import_error_after_the_fix_is_reported_even_if_nothing_was_compared(told):
    gone = "ImportError: cannot import name 'np_utils' from 'keras.utils'"
    for old in (
        {"state": "not tried", "error": "it is a Callback"},
        cannot("TypeError: 'int' object is not callable", guessed=True),
        cannot("ZeroDivisionError: division by zero"),
    ):
        found = told(old, cannot(gone, at="loading"))
        assert found.state is VerdictState.NOT_ON_KERAS_3
        assert found.why == gone


def test_an_import_error_on_both_sides_is_not_blamed_on_the_fix(told):
    found = told(cannot("NameError: x", at="loading"), cannot("NameError: x", at="loading"))
    assert found.state is VerdictState.NOT_ON_KERAS_2


def test_a_missing_package_is_not_blamed_on_keras_2(told):
    error = "ModuleNotFoundError: No module named 'tables.of.mine'"
    found = told(cannot(error, at="loading"), cannot(error, at="loading"))
    assert found.state is VerdictState.NOT_TRIED
    assert "it needs tables.of.mine, which /python does not have" in found.why
    gone = "ModuleNotFoundError: No module named 'tensorflow.contrib'"
    assert told(cannot(gone, at="loading"), None).state is VerdictState.NOT_ON_KERAS_2


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (
            "TBNotInstalledError: TensorBoard is not installed, missing tf.summary.image",
            "TensorBoard",
        ),
        ("ImportError: You must install pydot (`pip install pydot`) and install graphviz", "pydot"),
    ],
)
def test_a_missing_package_in_the_words_of_a_framework_is_not_blamed_on_keras_2(told, error, name):
    found = told(cannot(error), cannot(error))
    assert found.state is VerdictState.NOT_TRIED
    assert f"it needs {name}, which /python does not have" in found.why
    # Of another error of an import nobody says what to install.
    assert (
        told(cannot("ImportError: cannot import name 'a'"), None).state
        is VerdictState.NOT_ON_KERAS_2
    )


def test_a_missing_file_is_not_blamed_on_keras_2(told):
    error = "FileNotFoundError: [Errno 2] No such file or directory: 'words.txt'"
    found = told(cannot(error), cannot(error))
    assert found.state is VerdictState.NOT_TRIED
    assert "empty folder" in found.why
    assert "words.txt" in found.why


def test_guessed_arguments_prove_nothing_unless_the_fixed_code_accepts_them(told):
    guessed = cannot("TypeError: 'int' object is not callable", guessed=True)
    assert told(guessed, guessed).state is VerdictState.NOT_TRIED
    assert told(guessed, RAN).state is VerdictState.NOT_ON_KERAS_2


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (
            8e6,
            8e6 + 4.6,
            "equal in 1 case: the largest difference is 5 % of the tolerance (1e-05",
        ),
        (
            8.0,
            8.0 + 4.6e-6,
            "equal in 1 case: the largest difference is 5 % of the tolerance (1e",
        ),
        (8.0, 8.0 + 1e-9, "the largest difference is less than 1 % of the tolerance (1e-05 of a"),
        (8.0, 8.0, "equal in 1 case, to the last digit\n"),
    ],
)
def test_a_difference_is_shown_relative_to_its_tolerance(old, new, shown):
    before = measurement.Case("x", {"output": np.array([old])})
    differences, near = measurement.compare(
        before, measurement.Case("x", {"output": np.array([new])})
    )
    assert differences == []
    assert near.largest == pytest.approx(abs(new - old))
    page = io.StringIO()
    found = {"largest": near.largest, "share": near.share, "tolerance": near.tolerance}
    verdict = Verdict("a.py", 2, "f", VerdictState.EQUAL, cases=1, **found)
    write_verdicts(Report((verdict,), "/python", "named"), Page(page))
    assert shown in page.getvalue()


def test_a_place_in_a_notebook_and_what_the_fix_leaves_are_shown():
    page = io.StringIO()
    verdict = Verdict("a.ipynb", 2, "f", VerdictState.NOT_ON_KERAS_3, why="gone", cell=3)
    write_verdicts(Report((verdict,), "/python", "named", left=3, unsafe=1), Page(page))
    assert "  cell 3:2: f: cannot be run on Keras 3: gone\n" in page.getvalue()
    assert "leaves 3 errors in code that cannot run on Keras 3 (1 with a fix" in page.getvalue()
