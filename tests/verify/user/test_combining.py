"""One verdict from the runs of a definition with several arguments."""

from kdoctor.verify.user import verifying
from kdoctor.verify.user.combining import combined
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.project_call_sites import ProjectCallSites
from kdoctor.verify.user.results import Verdict, VerdictState

EQUAL = Verdict("own.py", 1, "made", VerdictState.EQUAL)


def test_what_raises_with_its_defaults_alone_is_noted():
    raises = Verdict("own.py", 1, "made", VerdictState.NOT_ON_KERAS_3, why="ValueError: no sum")
    found = combined(EQUAL, [("with its defaults", raises)])
    assert found.state is VerdictState.EQUAL
    assert found.notes == (
        "not compared with its defaults: on Keras 3 it raises ValueError: no sum",
    )


def test_what_differs_with_another_argument_is_different_and_says_with_which():
    differs = Verdict("own.py", 1, "made", VerdictState.DIFFERENT, input="numbers (3, 5)")
    found = combined(EQUAL, [("with scale=2.5", differs)])
    assert (found.state, found.input) == (
        VerdictState.DIFFERENT,
        "numbers (3, 5), with scale=2.5",
    )


def test_a_name_that_is_missing_with_another_argument_is_no_equal():
    missing = Verdict("own.py", 1, "made", VerdictState.NOT_ON_KERAS_3, why="NameError: K")
    assert combined(EQUAL, [("with axis=1", missing)]).state is VerdictState.NOT_ON_KERAS_3


def test_a_run_with_the_defaults_alone_is_told_as_that():
    old = (
        "import keras\n\n\ndef made(factor, power=2.0):\n"
        "    return keras.backend.pow(factor, power)\n\n\nmade(0.5, power=3.0)\n"
    )
    new = old.replace("keras.backend.pow", "keras.ops.power").replace("2.0", "1.0")
    [subject] = verifying._subjects_of(
        Source("own.py", old, new), lambda _: None, ProjectCallSites(())
    )
    told, before, _ = subject.variations[0]
    assert told == "with its defaults"
    assert [(each["args"], each["kwargs"]) for each in before["calls"]] == [(["0.5"], {})]
