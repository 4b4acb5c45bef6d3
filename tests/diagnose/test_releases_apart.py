"""Errors between releases: names that came back, arguments that came later or stand in a file."""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault, StepKind


def test_a_name_that_came_back_is_not_said_to_end_with_the_newest_release():
    found = explain("ImportError: cannot import name 'Adam' from 'keras.optimizers'")
    assert "has it again from 2.9.0 on" in found.meaning
    assert any("--upgrade" in step.text for step in found.steps)


@pytest.mark.parametrize("root", ["keras", "tensorflow.keras"])
def test_a_module_that_came_back_with_other_contents_is_asked_for_the_old_ones(root):
    found = explain(f"ModuleNotFoundError: No module named '{root}.wrappers'")
    assert "wrappers.scikit_learn` is not in" in found.meaning
    assert any("scikeras" in step.text for step in found.steps)


def test_names_of_a_gone_module_lead_to_names_that_exist():
    found = explain("ImportError: cannot import name 'adam' from 'keras.optimizers'")
    assert not any("Adam.Adam" in step.text for step in found.steps)


def test_a_gone_module_of_modules_leads_to_the_names_in_them():
    found = explain("ModuleNotFoundError: No module named 'keras.engine'")
    assert "keras.engine.training.Model  ->  keras.Model" in [step.text for step in found.steps]


def test_a_module_that_is_missing_does_not_date_the_keras_that_ran():
    found = explain("ModuleNotFoundError: No module named 'keras.src.engine'")
    assert not any("text is of" in each for each in found.evidence)
    assert found.target is not None
    assert found.target.keras_version.startswith("3.")


def test_a_name_that_is_nowhere_now_has_the_last_pair_of_releases():
    found = explain("ImportError: cannot import name 'VersionAwareLayers' from 'keras.layers'")
    assert [step.kind for step in found.steps] == [StepKind.COMMAND]
    assert "keras==2.12" in found.steps[0].text


def test_a_quote_may_be_left_open():
    found = explain("cannot import name 'layer_utils' from 'keras.utils")
    assert "keras.utils.layer_utils" in found.meaning
    assert explain("No module named 'keras' when I start it").fault is Fault.INSTALLATION


def test_an_argument_of_a_newer_release_asks_for_that_release():
    found = explain(
        "ValueError: Unrecognized keyword arguments passed to Dense: {'quantization_config': None}"
    )
    assert found.fault is Fault.INSTALLATION
    assert "from keras 3." in found.meaning


LSTM = "Unrecognized keyword arguments passed to LSTM: {'time_major': False, 'batch_shape': [2]}"


def test_an_argument_in_a_saved_model_is_dropped_while_loading():
    found = explain(
        f"TypeError: Error when deserializing class 'LSTM' using config={{'units': 3}}.\n\n"
        f"Exception encountered: {LSTM}"
    )
    assert "stored in the saved model" in found.meaning
    assert not found.only_if
    code = next(step.text for step in found.steps if "load_model" in step.text)
    assert "kwargs.pop('time_major', None)" in code
    assert "kwargs.pop('batch_shape', None)" in code
    compile(code, "answer", "exec")


def test_frames_of_loading_say_the_same():
    text = (
        '  File "/home/me/use.py", line 3, in <module>\n    m = load_model("a.h5")\n'
        '  File "/v/lib/python3.11/site-packages/keras/src/legacy/saving/legacy_h5_format.py", '
        f"line 9, in f\n    x()\nValueError: {LSTM}\n"
    )
    assert "stored in the saved model" in explain(text).meaning


@pytest.mark.parametrize(("value", "is_of_a_file"), [("False", True), ("True", False)])
def test_a_value_that_was_the_default_is_one_that_nobody_wrote(value, is_of_a_file):
    shown = f"{{'time_major': {value}}}"
    found = explain(f"ValueError: Unrecognized keyword arguments passed to LSTM: {shown}")
    assert bool(found.only_if) is is_of_a_file
    assert ("saved model" in found.meaning) is is_of_a_file


def test_an_old_argument_is_shown_with_the_new_one_where_no_line_is_known():
    found = explain("TypeError: fit() got an unexpected keyword argument 'nb_epoch'")
    assert "x.fit(nb_epoch=nb_epoch)  ->  x.fit(epochs=nb_epoch)" in [
        step.text for step in found.steps
    ]


def test_the_value_that_the_message_tells_stands_in_the_advice():
    text = (
        "ValueError: Unrecognized keyword arguments passed to LSTM: {'batch_input_shape': (1, 7)}"
    )
    assert any("batch_shape=(1, 7)" in step.text for step in explain(text).steps)


def test_an_old_keras_that_refuses_an_older_argument_is_answered_by_the_rules_of_the_newest():
    text = (
        "<ipython-input-9-8b0d> in <module>\n----> 2 model.fit(x, y, nb_epoch=10)\n\n"
        "/v/lib/python3.6/site-packages/tensorflow/python/keras/engine/training.py in f(self)\n"
        "---> 66       return method(self, *args, **kwargs)\n\n"
        "TypeError: fit() got an unexpected keyword argument 'nb_epoch'\n"
    )
    assert any("epochs=10" in step.text for step in explain(text).steps)


def test_the_class_of_a_call_that_goes_on_below_is_its_own():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/me/log.py", line 3, in <module>\n'
        "    bar = keras.callbacks.ProgbarLogger(\n"
        '  File "/v/lib/python3.11/site-packages/keras/src/utils/x.py", line 3, in f\n    g()\n'
        "TypeError: __init__() got an unexpected keyword argument 'count_mode'\n"
    )
    assert "`keras.callbacks.ProgbarLogger`" in explain(text).meaning


PLAIN = """\
  File "/home/me/a.py", line 1, in <module>
    x.numpy()
RuntimeError: Can't call numpy() on Tensor that requires grad. Use x instead.
"""
TRACED = """\
  File "/home/me/a.py", line 1, in <module>
    np.sum(x)
  File "/v/lib/python3.11/site-packages/jax/_src/core.py", line 5, in __array__
    raise TracerArrayConversionError(self)
jax.errors.TracerArrayConversionError: The numpy.ndarray conversion method __array__() was called \
on traced array with shape int32[].
"""


@pytest.mark.parametrize("text", [PLAIN, TRACED], ids=["torch", "jax"])
def test_a_program_of_torch_or_jax_alone_is_not_keras(text):
    assert not explain(text).concerns_keras


def test_a_message_that_examples_of_two_rules_raise_alike_is_neithers():
    text = "NotImplementedError: Iterating over a symbolic KerasTensor is not supported."
    assert explain(text).rule == "KD504"  # the table says so: KD225 has as many examples of it
    unpacked = "AttributeError: 'KerasTensor' object has no attribute 'get_shape'"
    assert explain(unpacked).rule == "KD205"


def test_a_none_in_a_step_of_training_is_not_only_an_optimizers():
    text = (
        '  File "/home/me/a.py", line 1, in <module>\n    model.fit(x, verbose=0)\n'
        '  File "/v/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, '
        "in error_handler\n    raise e.with_traceback(filtered_tb) from None\n"
        "ValueError: None values not supported.\n"
    )
    found = explain(text)
    assert "got no targets" in found.meaning
    assert not found.only_if


@pytest.mark.parametrize(
    "error",
    [
        "AttributeError: can't set attribute 'lr'",
        "AttributeError: 'Log' object has no attribute 'on_train_batch_begin'",
        "ValueError: Unknown optimizer: lamb",
        "ValueError: Unknown metric: cosine",
        "AttributeError: 'str' object has no attribute 'decode'",
        "ValueError: bad marshal data (unknown type code)",
    ],
)
def test_what_others_say_in_the_same_words_is_not_claimed_without_a_trace_of_keras(error):
    text = f'  File "/home/me/net.py", line 7, in step\n    self.lr = rate\n{error}\n'
    assert not explain(text).concerns_keras


@pytest.mark.parametrize(
    "message",
    [
        "Unknown loss function: my_loss. Please ensure this object is passed to `custom_objects`.",
        "Unknown optimizer: 'Mine'. Please ensure you are using a `keras.utils.custom_object_scope`",
        "Unknown layer: Attention2",
    ],
)
def test_each_way_to_say_that_a_class_is_not_known_is_read(message):
    assert any("custom-class-is-not" in each for each in explain(f"ValueError: {message}").evidence)


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: 'super' object has no attribute 'reset_states'",
        "AttributeError: module 'tensorflow.keras' has no attribute '__version__'",
        "AttributeError: module 'keras.backend' has no attribute '\u2026'",
    ],
)
def test_what_only_looks_like_a_known_message_is_not_taken_for_it(text):
    assert not explain(text).is_known
