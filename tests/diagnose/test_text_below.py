"""What stands below a message (a prompt, an editor's last word, a question) is no part of it."""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import read_exceptions

FRAMES = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    model.fit(x, y)
"""
SAID = "'SymbolicTensor' object has no attribute 'numpy'"
USER_CODE = f"""\
AttributeError: in user code:

    File "/v/lib/python3.11/site-packages/keras/src/trainers/x.py", line 1021, in step  *
        return step_function(self, iterator)
    File "/home/me/train.py", line 5, in loss  *
        return y.numpy()

    AttributeError: {SAID}
"""
OF_TENSORFLOW_2_3 = f"""\
AttributeError: in user code:

    /v/lib/python3.8/site-packages/tensorflow/python/keras/engine/training.py:806 step  *
        return step_function(self, iterator)
    /home/me/train.py:5 loss  *
        return y.numpy()

    AttributeError: {SAID}
"""
OF_TENSORFLOW_2_0 = f"""\
AttributeError: in converted code:
    relative to /v/lib/python3.6/site-packages/tensorflow_core/python/keras:

    engine/training_v2.py:123 run_one_epoch  *
        batch_outs = execution_function(iterator)
    /home/me/train.py:5 loss  *
        return y.numpy()

    AttributeError: {SAID}
"""
CALLING = f"""\
AttributeError: Exception encountered when calling layer "mine" (type Mine).

in user code:

    File "/home/me/train.py", line 5, in call  *
        return y.numpy()

    AttributeError: {SAID}


Call arguments received by layer "mine" (type Mine):
  • inputs=tf.Tensor(shape=(None, 3), dtype=float32)
"""
BODIES = {
    "user code": USER_CODE,
    "TensorFlow 2.3": OF_TENSORFLOW_2_3,
    "TensorFlow 2.0": OF_TENSORFLOW_2_0,
    "calling": CALLING,
    "nested": USER_CODE.replace(
        f"    AttributeError: {SAID}", "".join(f"    {line}\n" for line in CALLING.splitlines())
    ),
}
BELOW = (
    "Process finished with exit code 1",
    "(venv) me@box:~/project$ ",
    "$ python train.py",
    "C:\\Users\\me>",
    ">>> ",
    "In [4]:",
    "[Finished in 3.2s with exit code 1]",
    "How can I fix this?",
    "Note: with keras 2.10 it works",
    "Exception in thread Thread-1:",
    '"""',
)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("head", [FRAMES, ""], ids=["traceback", "alone"])
def test_what_stands_below_code_of_a_user_is_not_taken_for_its_message(head, body):
    for below in ("", *BELOW):
        error = read_exceptions(f"{head}{body}\n{below}\n")[-1]
        assert (error.type, error.message) == ("AttributeError", SAID), below
        assert str(error.frames[-1]) == "/home/me/train.py:5"


def test_a_prefix_of_a_log_before_each_line_changes_nothing():
    text = FRAMES + USER_CODE + "\nProcess finished with exit code 1"
    logged = "\n".join(f"2024-05-01 10:00:01 ERROR | {line}" for line in text.splitlines())
    assert read_exceptions(logged)[-1].message == SAID


def test_pytest_shows_code_of_a_user_behind_its_own_sign():
    shown = "".join(f"E       {line}".rstrip() + "\n" for line in USER_CODE.splitlines())
    text = (
        f"____ test_fit ____\n\n>       model.fit(x, y)\n\n{shown}\ntest_it.py:9: AttributeError\n"
    )
    assert read_exceptions(f"{text}\n$ \n")[-1].message == SAID


@pytest.mark.parametrize(
    ("before", "below"),
    [
        ("ERROR:root:", "WARNING:root:trying again"),
        ("root - ERROR - ", "[2024-05-01, 10:00:01 UTC] INFO - exit code 1"),
        ("It says `", "Why?"),
    ],
)
def test_what_a_logger_writes_before_the_first_line_alone_is_no_type(before, below):
    error = read_exceptions(f"{before.rstrip('`')}{USER_CODE}\n{below}\n")[-1]
    assert (error.type, error.message) == ("AttributeError", SAID)


def test_an_error_that_another_process_raised_failed_there():
    remote = FRAMES + "ValueError: Could not interpret metric identifier: loss\n"
    text = (
        f'joblib.externals.loky.process_executor._RemoteTraceback: \n"""\n{remote}"""\n\n'
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/v/lib/python3.11/site-packages/joblib/parallel.py", line 795, in get\n'
        "    raise self._result\nValueError: Could not interpret metric identifier: loss\n"
    )
    (error,) = read_exceptions(text)
    assert [frame.line for frame in error.frames] == [795, 12]
    other = read_exceptions(text.replace("raise self._result\nValueError", "f()\nTypeError"))[-1]
    assert [frame.line for frame in other.frames] == [795]
    assert other.before is not None


def test_a_path_below_a_folder_that_was_told_is_whole():
    frame = read_exceptions(FRAMES + OF_TENSORFLOW_2_0)[-1].frames[1]
    assert frame.path.endswith("tensorflow_core/python/keras/engine/training_v2.py")
    assert frame.origin.value == "keras"


@pytest.mark.parametrize("below", BELOW)
def test_code_of_a_user_without_a_message_has_none(below):
    cut = USER_CODE.partition("    AttributeError")[0]
    assert read_exceptions(f"{FRAMES}{cut}{below}\n")[-1].message == ""


@pytest.mark.parametrize("type_", ["NotImplementedError", "AssertionError", "KeyboardInterrupt"])
@pytest.mark.parametrize("below", BELOW)
def test_an_exception_without_a_colon_has_no_message(type_, below):
    error = read_exceptions(f"{FRAMES}{type_}\n\n{below}\n")[-1]
    assert (error.type, error.message) == (type_, "")


def test_a_message_that_begins_below_its_colon_is_still_read():
    text = f"{FRAMES}ImportError: \nA module that was compiled using NumPy 1.x cannot be run in\n"
    assert read_exceptions(text)[-1].message.startswith("A module that was")


def test_the_answer_is_the_same_with_a_question_below():
    plain = explain(FRAMES + USER_CODE, read=lambda _: None)
    asked = explain(f"{FRAMES}{USER_CODE}\nHow can I fix this?\n", read=lambda _: None)
    assert plain.is_known
    assert (asked.meaning, asked.steps) == (plain.meaning, plain.steps)
