"""Verdicts for several backends, by the answers of all sides, and how they are told."""

import io
import json

import pytest

from kdoctor.interpreters import Interpreter
from kdoctor.report.output import Page
from kdoctor.report.verdicts import write_json, write_verdicts
from kdoctor.verify.user import verifying
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.interpreter import Chosen
from kdoctor.verify.user.judging import NOT_FIXED
from kdoctor.verify.user.results import VerdictState
from kdoctor.verify.user.running import Ran
from kdoctor.verify.user.verifying import verify

TEXT = "import keras\n\n\ndef f(x):\n    return keras.ops.exp(x)\n"
RAN = {"state": "ran", "kind": "function of a tensor", "cases": 1}
GONE = {"state": "cannot", "error": "ImportError: cannot import name 'ops' from 'keras'"}
EQUAL = {"state": "equal", "largest": 0.0, "tolerance": 1e-5, "share": 0.0, "cases": 3}
ON_JAX = {"state": "cannot", "error": "TracerBoolConversionError: no value"}
ON_TORCH = {"state": "different", "where": "value", "told": "1 and 2", "input": "numbers (3, 5)"}
HERE = Interpreter("/python", "named")
MISSING = ("torch", "/python (named) has no PyTorch, so nothing was run with it")


@pytest.fixture
def report(monkeypatch):
    """Return the report on a definition of which the sides answer this."""

    def told(old, on, again=None, missing=()):
        ran = Ran(
            {} if old is None else {0: old},
            {},
            (("keras_2", "tf_keras 2.21.0"),),
            {} if again is None else {0: again},
            {backend: {0: answer} for backend, answer in on.items()},
        )
        monkeypatch.setattr(verifying, "run", lambda *_, **__: ran)
        source = Source("a.py", TEXT, TEXT)
        return verify([source], lambda _: None, Chosen(HERE, tuple(on), missing))

    return told


def text_of(report):
    page = io.StringIO()
    write_verdicts(report, Page(page))
    return page.getvalue()


def test_each_backend_has_a_verdict_of_its_own(report):
    uncompared = {"uncompared": ["value in a graph"]}
    found = report(RAN, {"tensorflow": EQUAL, "jax": ON_JAX | uncompared, "torch": ON_TORCH})
    assert [(each.backend, each.state) for each in found.verdicts] == [
        ("tensorflow", VerdictState.EQUAL),
        ("jax", VerdictState.NOT_ON_KERAS_3),
        ("torch", VerdictState.DIFFERENT),
    ]
    text = text_of(found)
    assert (
        "  4: f (function of a tensor)\n"
        "      TensorFlow: equal in 3 cases, to the last digit\n"
        "      JAX: cannot be run: TracerBoolConversionError: no value\n"
        f"          hint: {NOT_FIXED}\n"
        "      PyTorch: different in value, with numbers (3, 5): 1 and 2\n"
    ) in text
    assert "1 definition, on each backend:\n  TensorFlow: 1 equal.\n" in text
    assert "  JAX: 1 cannot be run (not compared: value in a graph).\n" in text


def test_what_all_backends_have_in_common_is_told_once(report):
    noted = EQUAL | {"notes": ["the same as dice()"]}
    assert text_of(report(RAN, {"tensorflow": noted, "jax": noted})).count("dice") == 1
    own = text_of(report(RAN, {"tensorflow": noted, "jax": ON_JAX | {"notes": noted["notes"]}}))
    assert own.count("dice") == 1
    assert own.index("dice") < own.index("TensorFlow: equal")


def test_code_of_keras_3_is_compared_with_itself_before_the_fix(report):
    found = report(GONE, {"jax": EQUAL}, again=RAN).verdicts[0]
    assert found.state is VerdictState.EQUAL
    assert found.before == "Keras 3"
    assert found.notes == ("before the fix it ran on Keras 3 (on Keras 2: ImportError)",)


def test_code_that_runs_on_neither_keras_before_the_fix_is_told_with_the_error_of_keras_2(report):
    broken = {"state": "cannot", "error": "ZeroDivisionError: division by zero"}
    found = report(broken, {"jax": RAN}, again=GONE).verdicts[0]
    assert found.state is VerdictState.NOT_ON_KERAS_2
    assert found.why == broken["error"]
    assert found.notes == ("the fixed code runs on Keras 3 with JAX",)


def test_without_tf_keras_code_of_keras_2_is_not_tried(report):
    found = report(None, {"jax": RAN}, again=GONE).verdicts[0]
    assert found.state is VerdictState.NOT_TRIED
    assert found.why == (
        "it does not run on Keras 3 before the fix, and /python has no tf_keras, the Keras 2 that "
        f"it may be written for: {GONE['error']}"
    )


def test_an_end_of_its_process_is_told_of_its_backend(report):
    ended = {"state": "ended", "error": "it did not finish within 60 s of CPU time"}
    found = report(RAN, {"torch": ended}).verdicts[0]
    assert found.state is VerdictState.NOT_TRIED
    assert found.why == (
        "it runs on Keras 2, but on Keras 3 with PyTorch it did not finish within 60 s of CPU time"
    )


def test_backends_that_are_missing_are_told_as_text_and_as_json(report):
    found = report(RAN, {"tensorflow": EQUAL, "jax": EQUAL}, missing=(MISSING,))
    assert f"{MISSING[1]}.\n" in text_of(found)
    page = io.StringIO()
    write_json(found, Page(page))
    document = json.loads(page.getvalue())
    assert document["backends"] == ["tensorflow", "jax"]
    assert document["missing"] == [{"backend": "torch", "why": MISSING[1]}]
    assert [each["backend"] for each in document["definitions"]] == ["tensorflow", "jax"]


def test_of_code_that_the_fix_leaves_as_it_is_each_other_backend_says_so(report):
    found = report(RAN, {"tensorflow": ON_TORCH, "jax": ON_JAX, "torch": EQUAL})
    on_tensorflow, on_jax, on_torch = found.verdicts
    assert "the fix changes nothing of it" in on_jax.hints[0]
    assert not on_tensorflow.hints
    assert not on_torch.hints
    assert "hint: the fix changes nothing of it" in text_of(found)


def test_of_code_that_the_fix_changes_nothing_is_said_of_that(monkeypatch):
    ran = Ran({0: RAN}, {}, (), {}, {"jax": {0: ON_JAX}})
    monkeypatch.setattr(verifying, "run", lambda *_, **__: ran)
    source = Source("a.py", TEXT.replace("exp(x)", "exp(x) * 1"), TEXT)
    [verdict] = verify([source], lambda _: None, Chosen(HERE, ("jax",), ())).verdicts
    assert verdict.changed
    assert not verdict.hints
