"""The Python that verifies user code, and the backends that it has."""

import sys

import pytest

from kdoctor.errors import UsageProblem
from kdoctor.verify.user import interpreter
from kdoctor.verify.user.interpreter import Probe, choose_with

ALL = ("tensorflow", "jax", "torch")


@pytest.fixture
def having(monkeypatch):
    """Have every Python offer these packages."""

    def found(**packages):
        monkeypatch.setattr(interpreter, "probe", lambda each: Probe(each, (3, 11), packages))

    return found


def test_all_backends_are_those_that_are_installed_and_the_others_are_told(having):
    having(tensorflow="2.21.0", keras="3.15.1", tf_keras="2.21.0", torch="2.13.0")
    chosen = choose_with("/", sys.executable, ALL, all_of=False)
    assert chosen.backends == ("tensorflow", "torch")
    assert chosen.has_keras_2
    ((missing, why),) = chosen.missing
    assert missing == "jax"
    assert "has no JAX, so nothing was run with it: run " in why
    assert why.endswith(" -m pip install jax")


def test_a_backend_that_is_named_has_to_be_there(having):
    having(tensorflow="2.21.0", keras="3.15.1", tf_keras="2.21.0")
    with pytest.raises(UsageProblem) as problem:
        choose_with("/", sys.executable, ("jax", "torch"), all_of=True)
    said = str(problem.value)
    assert "has no JAX or PyTorch: run" in said
    assert "-m pip install jax torch, choose another Python with --python" in said
    assert "\n" not in said


def test_code_of_keras_3_needs_no_tf_keras(having):
    having(tensorflow="2.21.0", keras="3.15.1", jax="0.10.2")
    assert not choose_with("/", sys.executable, ALL, all_of=False).has_keras_2
    with pytest.raises(UsageProblem, match="has no tf_keras"):
        interpreter.choose("/", sys.executable)


def test_the_code_before_its_fix_needs_tensorflow_whatever_the_backend(having):
    having(keras="3.15.1", jax="0.10.2")
    with pytest.raises(UsageProblem, match="has no TensorFlow"):
        choose_with("/", sys.executable, ("jax",), all_of=True)
