"""The frames of an error are told by classes, ranks and dtypes; nothing of the project is run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import kdoctor.migrate
from tests.frameworks import keras, tf

IN_TESTS = Path(kdoctor.migrate.__file__).with_name("in_tests")


@pytest.fixture
def frames_of(tmp_path, monkeypatch):
    """Run a file of a project, and return what is told of its error."""
    monkeypatch.syspath_prepend(str(IN_TESTS))
    import kdoctor_frames  # noqa: PLC0415 - it lies where only a project's Python finds it

    def run(source, **names):
        path = tmp_path / "code.py"
        path.write_text(source)
        told = []
        frames = kdoctor_frames.Frames(
            str(tmp_path.resolve()), lambda **row: told.append(row["seen"])
        )
        with pytest.raises(Exception) as raised:  # noqa: PT011 - whatever it raises
            exec(compile(source, str(path), "exec"), {"__name__": "code", **names})  # noqa: S102
        frames.see(raised.value)
        return told

    yield run
    for name in ("kdoctor_frames", "kdoctor_autograph"):
        sys.modules.pop(name, None)


def framework(name, module="keras.src.layers", **members):
    return type(name, (), {"__module__": module, **members})


def shown(told):
    return {(each["function"], each["name"]): each["class"] for each in told}


def test_names_of_the_statement_and_parameters_are_told(frames_of):
    source = """def f(given, unread, text="x"):
    local = made()
    other = made()
    local.nowhere(
        given)


f(made(), made())
"""
    told = shown(frames_of(source, made=framework("Dense")))
    assert told == {("f", each): "keras.src.layers.Dense" for each in ("given", "unread", "local")}


def test_of_a_statement_with_a_body_its_head_counts(frames_of):
    source = """def f(x):
    inside = made()
    for each in x.nowhere:
        inside.it


f(made())
"""
    assert shown(frames_of(source, made=framework("Dense"))) == {
        ("f", "x"): "keras.src.layers.Dense"
    }


def test_functions_are_named_as_python_qualifies_them(frames_of):
    source = """class A:
    def method(self, x):
        def inner(y):
            try:
                return y.nowhere
            finally:
                pass
        return inner(x)


A().method(made())
"""
    told = shown(frames_of(source, made=framework("Dense")))
    assert set(told) == {("A.method", "x"), ("A.method.<locals>.inner", "y")}


def test_what_self_keeps_is_told(frames_of):
    source = """class A:
    def __init__(self):
        self.kept = made()

    def f(self):
        return self.kept.nowhere


A().f()
"""
    assert ("A.f", "self.kept") in shown(frames_of(source, made=framework("Dense")))


def test_nothing_of_the_project_is_run(frames_of):
    source = """class Loud(base):
    def __repr__(self): ran.append("repr")
    __str__ = __len__ = __eq__ = __hash__ = __bool__ = __repr__
    def __getattr__(self, name): ran.append(name)
    def __getattribute__(self, name): ran.append(name)
    shape = dtype = property(lambda self: ran.append("shape"))


class Error(Exception):
    __hash__ = None
    def __eq__(self, other): ran.append("eq")
    def __repr__(self): ran.append("repr")


def f(x, it):
    raise Error(x.kept) from Error()


ran = []
try:
    f(Loud(), [Loud()])
except Error:
    ran.clear()
    raise
"""
    names = {"base": framework("KerasTensor", shape=(1,))}
    ran = names["ran"] = []
    source = source.replace("ran = []\n", "")
    told = frames_of(source, **names)
    assert ran == []
    assert {each["name"]: each["class"] for each in told} == {
        "x": "code.Loud",
        "it": "builtins.list",
    }


def test_errors_that_led_to_an_error_are_told_and_values_once(frames_of):
    source = """def f(x):
    return x.nowhere


def g(y):
    try:
        f(y)
    except AttributeError as error:
        raise ValueError from error


g(made())
"""
    told = frames_of(source, made=framework("Dense"))
    assert sorted(shown(told)) == [("f", "x"), ("g", "y")]
    assert len(told) == 2


def test_frames_of_other_folders_are_not_told(frames_of):
    told = frames_of("import json\njson.loads(x)\n", x=framework("Dense")())
    assert {each["function"] for each in told} == {""}


@pytest.mark.frameworks
def test_real_tensors_have_rank_and_dtype(frames_of):
    source = "def f(a, b, c):\n    raise ValueError\n\n\nf(symbolic, eager, [symbolic])\n"
    eager = tf.constant([1, 2])
    told = {
        each["name"]: each for each in frames_of(source, symbolic=keras.Input((3,)), eager=eager)
    }
    assert (told["a"]["rank"], told["a"]["shape"], told["a"]["dtype"]) == (2, [None, 3], "float32")
    assert told["a"]["class"].endswith(".KerasTensor")
    assert (told["b"]["rank"], told["b"]["dtype"]) == (1, "int32")
    assert told["b"]["class"].endswith(".EagerTensor")
    assert told["c"]["item"]["class"] == told["a"]["class"]


@pytest.mark.frameworks
def test_in_a_function_of_tensorflow_the_lines_as_written_are_told(frames_of):
    source = """@function
def step(x):
    y = x * 2
    return reshape(y, [7, 7])


step(given)
"""
    names = {"function": tf.function, "reshape": tf.reshape, "given": tf.ones([2])}
    told = [each for each in frames_of(source, **names) if each["function"] == "step"]
    assert {(each["name"], each["line"]) for each in told} == {("x", 4), ("y", 4)}
    assert {each["class"].rpartition(".")[2] for each in told} == {"SymbolicTensor"}
