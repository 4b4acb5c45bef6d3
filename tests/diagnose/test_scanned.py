"""The file at hand is scanned: what is found at or behind the line answers, and only that."""

from __future__ import annotations

import sys

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault, StepKind
from kdoctor.diagnose.backward_slice import lines_behind

STOP = """\
import keras

class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        {line}

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile('adam', 'binary_crossentropy', metrics=['accuracy'])
model.fit(x, y, callbacks=[Stop()])
"""
NONE = "TypeError: '{sign}' not supported between instances of 'NoneType' and 'float'"


def traceback(source, error, *numbers):
    lines = source.splitlines()
    frames = "".join(
        f'  File "/home/me/a.py", line {number}, in f\n    {lines[number - 1].strip()}\n'
        for number in numbers
    )
    return f"Traceback (most recent call last):\n{frames}{error}\n"


def explained(source, error, *numbers, has_file=True):
    read = (lambda _: source.encode()) if has_file else (lambda _: None)
    text = traceback(source, error, *numbers)
    return explain(text, versions={"keras": "3.15.1"}, read=read)


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("if logs.get('acc') > .95: self.model.stop_training = True", ">"),
        ("self.best = max(.5, logs.get('acc'))", ">"),
        ("if .95 <= logs.get('val_acc', None): self.model.stop_training = True", "<="),
    ],
)
def test_a_value_that_a_rule_says_is_none_is_behind_what_python_says_of_it(line, sign):
    found = explained(STOP.format(line=line), NONE.format(sign=sign), 9, 5)
    assert (found.fault, found.rule, found.only_if) == (Fault.YOUR_CODE, "KD215", "")


def test_a_finding_on_the_line_answers_an_error_that_no_message_of_the_table_has():
    error = "TypeError: float() argument must be a string or a real number, not 'NoneType'"
    found = explained(STOP.format(line="self.best = float(logs.get('acc'))"), error, 9, 5)
    assert (found.rule, found.only_if) == ("KD215", "")
    assert "KD215 reports this line (line 5)" in found.evidence[0]


def test_a_diff_under_the_error_is_of_the_line():
    line = "if logs.get('acc') > .95: self.model.stop_training = True"
    source = STOP.format(line=line) + "\nprint(model.fit(x, y).history['acc'])\n"
    found = explained(source, NONE.format(sign=">"), 9, 5)
    (diff,) = [step.text for step in found.steps if step.kind is StepKind.DIFF]
    removed = [each for each in diff.splitlines() if each.startswith("-") and "---" not in each]
    assert removed == [f"-        {line}"]


def test_the_line_before_that_made_the_value_is_the_answer():
    line = "acc = logs.get('acc')\n        if acc > .95:\n            print(acc)"
    found = explained(STOP.format(line=line), NONE.format(sign=">"), 11, 6)
    assert found.rule == "KD215"
    assert "line 5, which it depends on" in found.evidence[0]


def test_an_attribute_that_another_method_has_set_is_behind_a_line():
    line = "self.acc = logs.get('acc')\n\n    def on_train_end(self, logs=None):\n        "
    source = STOP.format(line=f"{line}print(self.acc + 1.)")
    error = "TypeError: unsupported operand type(s) for +: 'NoneType' and 'float'"
    assert explained(source, error, 12, 8).rule == "KD215"


def test_a_finding_that_has_no_part_in_the_line_is_no_answer():
    line = "if self.limit > .95: print(logs.get('acc'))"
    source = STOP.format(line="pass") + f"\ndef other(self, logs):\n    {line}\n"
    found = explained(source.replace("pass", "if self.limit > .9: pass"), NONE.format(sign=">"), 5)
    assert found.fault is Fault.UNKNOWN
    assert not found.steps


def test_what_was_scanned_is_ruled_out_and_for_which_keras():
    found = explained(STOP.format(line="if self.limit > .95: pass"), NONE.format(sign=">"), 9, 5)
    assert found.fault is Fault.UNKNOWN
    (said,) = found.ruled_out
    assert "for keras 3.15.1, it reports nothing" in said
    assert "a.py:5" in said


@pytest.mark.parametrize("what", ["no file", "another file", "no Python"])
def test_what_was_not_scanned_is_not_ruled_out(what):
    source = STOP.format(line="if self.limit > .95: pass")
    text = traceback(source, NONE.format(sign=">"), 9, 5)
    other = {"no file": None, "another file": b"import keras\n", "no Python": source + "\n(\n"}[
        what
    ]
    data = other.encode() if isinstance(other, str) else other
    found = explain(text, versions={"keras": "3.15.1"}, read=lambda _: data)
    assert not found.is_known
    assert not found.ruled_out


def test_a_finding_that_foretells_another_error_is_told_beside_it_and_no_answer():
    line = "print(keras.backend.sum(logs['loss']) > self.limit.best)"
    error = "AttributeError: 'int' object has no attribute 'best'"
    found = explained(STOP.format(line=line), error, 9, 5)
    assert found.fault is Fault.UNKNOWN
    assert not found.ruled_out
    assert "KD101" in found.steps[0].note
    assert "the text does not show" in found.steps[0].note


HELPED = """\
import keras
import tensorflow as tf
from helper import net

def unused(shape):
    x = keras.Input(shape)
    return tf.nn.relu(x)

def build(shape):
    y = keras.Input(shape)
    return net(y)

model = build((4,))
"""
SYMBOLIC = "ValueError: A KerasTensor cannot be used as input to a TensorFlow function."


def test_a_known_message_is_not_answered_by_a_diff_of_an_unrelated_line():
    found = explained(HELPED, SYMBOLIC, 13, 11)
    assert "a symbolic tensor" in found.meaning
    assert not [step for step in found.steps if step.kind is StepKind.DIFF]


def test_it_is_where_the_line_calls_what_the_finding_stands_in():
    found = explained(HELPED.replace("return net(y)", "return unused(shape)"), SYMBOLIC, 13, 11)
    (diff,) = [step.text for step in found.steps if step.kind is StepKind.DIFF]
    assert "relu(x)" in diff


SLICED = b"""\
import keras
from helper import K
a = K.sum(1)
def loss(y, p):
    d = y - p
    return K.mean(d)
def other(x):
    return K.abs(x)
class Net(keras.Model):
    def __init__(self):
        self.d = keras.layers.Dense(1)
    def call(self, x):
        return self.d(x)
m = Net()
m.compile(loss=loss)
n = keras.Sequential()
n.compile('sgd')
m.fit(a, 3)
"""


@pytest.mark.parametrize(
    ("line", "behind", "not_behind"),
    [
        (18, {2, 3, 5, 6, 11, 13, 15, 18}, {7, 8, 16, 17}),
        (8, {2, 8}, {3, 5, 6, 11, 15, 17}),
        (17, {1, 16, 17}, {2, 3, 6, 8, 11, 14, 15, 18}),
        (13, {11, 13, 15}, {8, 16, 17}),
    ],
)
def test_the_lines_behind_a_line_are_those_that_its_names_lead_to(line, behind, not_behind):
    found = lines_behind(SLICED, [line])
    assert behind <= found
    assert not (not_behind & found)


def test_a_name_of_another_function_is_another():
    source = b"def f():\n    x = 1\n    return x\ndef g():\n    x = 2\n    return x\n"
    assert lines_behind(source, [6]) == {5, 6}


@pytest.mark.parametrize("line", ["x = f(x)", "if x: x = f(y)", "def f(): return f()", "y.a(x)"])
def test_the_work_grows_with_the_lines_and_no_faster(line):
    def calls(number):
        source = f"{line}\n".encode() * number
        counted = 0

        def count(_frame, event, _argument):
            nonlocal counted
            counted += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            found = lines_behind(source, [number])
        finally:
            sys.setprofile(before)
        assert found
        return counted

    assert calls(4000) < 4.5 * calls(1000)


def test_what_is_no_python_has_its_own_lines_behind_it():
    assert lines_behind(b"a = (\n", [1]) == {1}
