"""Errors as they arrive in issues and chats: as links, wrapped, quoted, fenced, and cut."""

from __future__ import annotations

import time

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault, read_exceptions
from kdoctor.diagnose.unescape import restored

GONE = "AttributeError: 'Sequential' object has no attribute 'fit_generator'"
SYMBOLIC = "ValueError: A KerasTensor cannot be used as input to a TensorFlow function."


def test_the_links_that_notebooks_make_of_places_are_read_as_places():
    text = (
        "[<ipython-input-4-0a1b>](https://localhost:8080/#) in <cell line: 2>()\n"
        "      1 import helper\n"
        "----> 2 helper.build()\n\n"
        "[/usr/lib/python3.10/site-packages/helper/net.py](https://localhost:8080/#) in build()\n"
        "---> [17](file:///net.py:17)     return tf.nn.relu(x)\n\n"
        f"{SYMBOLIC}\n"
    )
    found = explain(text)
    assert (found.fault, found.package) == (Fault.PACKAGE, "helper")
    assert found.place is not None
    assert (found.place.line, found.place.source) == (17, "return tf.nn.relu(x)")


def test_frames_of_spyder_are_indented_and_have_no_comma():
    text = (
        "Traceback (most recent call last):\n\n"
        "  Cell In[9], line 1\n    run()\n\n"
        "  File D:\\my envs\\ml\\Lib\\site-packages\\helper\\net.py:45 in run\n    tf.shape(x)\n\n"
        f"{SYMBOLIC}\n"
    )
    found = explain(text)
    assert found.package == "helper"
    assert found.place is not None
    assert found.place.line == 45


@pytest.mark.parametrize(
    "head",
    [
        '  File "/opt/app/venv/lib/python3.11/site-packages/\nhelper/net.py", line 3, in build\n',
        '  File "/opt/app/venv/lib/python3.11/site-packages\nhelper/net.py", line 3, in build\n',
        '  File "/opt/app/venv/lib/python3.11/site-packages/helper/net.py", line 3, \nin build\n',
    ],
)
def test_the_head_of_a_frame_may_be_wrapped(head):
    text = f"Traceback (most recent call last):\n{head}    tf.shape(x)\n{SYMBOLIC}\n"
    (frame,) = read_exceptions(text)[0].frames
    assert (frame.package, frame.line, frame.function) == ("helper", 3, "build")


def test_the_end_of_a_fence_is_no_part_of_the_message():
    text = (
        f'It fails:\n```\n  File "a.py", line 1, in <module>\n    m.fit_generator(g)\n{GONE}\n```\n'
    )
    assert read_exceptions(text)[0].message == GONE.partition(": ")[2]


def test_a_fence_within_a_message_stays():
    message = f"{SYMBOLIC}\n\n```\nx = Input(...)\n```\n\nWrap it."
    text = f'```\n  File "a.py", line 1, in <module>\n    f(x)\n{message}\n```\nHelp!\n'
    assert read_exceptions(text)[0].message == message.partition(": ")[2]


def test_user_code_without_a_traceback_around_it_is_read():
    text = (
        "AttributeError: in user code:\n\n"
        '    File "/home/me/steps.py", line 12, in train_step  *\n'
        "        scaled = optimizer.get_scaled_loss(loss)\n\n"
        "    AttributeError: 'LossScaleOptimizer' object has no attribute 'get_scaled_loss'\n"
    )
    found = explain(text)
    assert found.place is not None
    assert found.place.line == 12
    assert any("scale_loss" in step.text for step in found.steps)


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_what_keras_puts_around_a_message_is_taken_off_without_its_empty_lines_too(between):
    (error,) = read_exceptions(
        f"ValueError: Exception encountered when calling Mine.call().{between}It is odd."
        f"{between}Arguments received by Mine.call():\n  • x=3"
    )
    assert error.message == "It is odd."


@pytest.mark.parametrize("mark", ["`", "'", '"'])
def test_a_message_in_quotes_has_its_type(mark):
    (error,) = read_exceptions(f"I get {mark}TypeError: fit() got an odd thing{mark}")
    assert error.type == "TypeError"


def test_the_line_of_a_cut_excerpt_must_fit_an_entry_that_asks_for_one():
    text = (
        "     69         self.steps = 0\n"
        "---> 70         self.rate = K.variable(0.1)\n"
        "     71         self.decay = 0\n\n"
        "AttributeError: can't set attribute\n"
    )
    assert not explain(text).is_known
    for line, rule in (("self.model = model", "KD214"), ("self.lr = K.variable(lr)", "KD206")):
        assert explain(text.replace("self.rate = K.variable(0.1)", line)).rule == rule


def test_another_attribute_that_cannot_be_set_is_no_callbacks_model():
    assert not explain("AttributeError: can't set attribute 'sizes'").is_known


def test_what_an_editor_runs_a_program_with_is_not_to_blame():
    text = (
        "Traceback (most recent call last):\n"
        '  File "D:\\Py39\\lib\\site-packages\\helper\\net.py", line 24, in <module>\n'
        "    import keras.engine as KE\n"
        '  File "D:\\PyCharm 2021\\plugins\\helpers\\pydev\\_pydev_bundle\\pydev_import_hook.py", '
        "line 21, in do_import\n"
        "    module = self._system_import(name, *args, **kwargs)\n"
        "ModuleNotFoundError: No module named 'keras.engine'\n"
    )
    found = explain(text)
    assert (found.fault, found.package) == (Fault.PACKAGE, "helper")


def test_an_error_of_a_package_is_not_called_the_users_own():
    text = (
        '  File "/v/lib/python3.11/site-packages/helper/net.py", line 2, in f\n    g()\n'
        "ValueError: keras is not what it was\n"
    )
    meaning = explain(text).meaning
    assert "helper raised it" in meaning
    assert "Your own" not in meaning


def test_what_a_logger_puts_before_each_line_is_found_without_the_head():
    text = (
        '2024-03-10 15:13:34   File "/app/app.py", line 2, in <module>\n'
        "2024-03-10 15:13:34     import helper\n"
        '2024-03-10 15:13:35   File "/v/site-packages/helper/net.py", line 29, in <module>\n'
        "2024-03-10 15:13:35     from keras.utils import np_utils\n"
        "2024-03-10 15:13:35 ImportError: cannot import name 'np_utils' from 'keras.utils'\n"
    )
    found = explain(text)
    assert (found.fault, found.package) == (Fault.PACKAGE, "helper")


def test_frames_of_compiled_files_are_of_their_package():
    text = (
        "<ipython-input-5-c7a5> in <module>()\n----> 1 load_model(path)\n\n"
        "/v/python2.7/dist-packages/keras/models.pyc in load_model(filepath)\n"
        "--> 142     model = model_from_config(model_config)\n\n"
        "NameError: global name 'tf' is not defined\n"
    )
    assert explain(text).fault is Fault.UNKNOWN


def test_a_call_whose_head_is_cut_off_may_be_anyones():
    text = (
        "      6     shown = augment(image)\n----> 7     np.array(shown[0])\n      8     print()\n\n"
        "/v/python3.10/dist-packages/torch/_tensor.py in __array__(self, dtype)\n"
        "   1081         return self.numpy()\n\n"
        "TypeError: can't convert that\n"
    )
    assert explain(text).fault is Fault.UNKNOWN
    assert [frame.line for frame in read_exceptions(text)[0].frames] == [7, None]


def test_curly_quotes_are_quotes():
    found = explain("ModuleNotFoundError: No module named \u2018keras.legacy_tf_layers\u2019")
    assert "keras.legacy_tf_layers" in found.meaning


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        ("ValueError: no such thing", Fault.UNKNOWN),
        ("ImportError: cannot import name 'builder' from 'google.protobuf'", Fault.NOT_KERAS),
    ],
)
def test_what_a_package_that_extends_keras_raises_may_well_be_of_keras(error, fault):
    text = (
        '  File "/v/lib/python3.11/site-packages/keras_helper/net.py", line 2, in f\n    g()\n'
        f"{error}\n"
    )
    assert explain(text).fault is fault


@pytest.mark.parametrize(
    "message",
    [
        (
            'Input 0 of layer "a" is incompatible with the layer: expected min_ndim=3, found ndim=2. '
            "Full shape received: (None, 2)"
        ),
        (
            "Input 0 with name 'x' of layer 'dense' is incompatible with the layer: expected axis -1 of "
            "input shape to have value 3, but received input with shape (2, 4)"
        ),
        (
            "Exception encountered when calling Sequential.call().\n\nInvalid input shape for input "
            "[[1.]] with name 'x' and path ''. Expected shape (None, 3, 2), but input has incompatible "
            "shape (3, 2)"
        ),
    ],
)
def test_each_way_to_say_that_a_shape_does_not_fit_is_known(message):
    assert any("shape-of-the-data" in each for each in explain(f"ValueError: {message}").evidence)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 2_000_000,
        "\0" * 2_000_000,
        "\n" * 2_000_000,
        "[a](http://" * 100_000,
        '  File "x\n' * 50_000,
        "ValueError: Exception encountered when calling a\n" + "\n" * 1_000_000,
    ],
    ids=["one line", "zeros", "empty lines", "links", "heads", "ends"],
)
def test_large_garbage_takes_seconds(text):
    start = time.process_time()
    assert not explain(text, read=lambda _: None).is_known
    assert time.process_time() - start < 20


@pytest.mark.parametrize("kind", ["float", "numpy.float64"])
def test_what_python_says_of_its_own_objects_is_anyones_without_frames_of_keras(kind):
    error = f"TypeError: '{kind}' object cannot be interpreted as an integer"
    frame = '  File "/lib/site-packages/keras/src/trainers/epoch_iterator.py", line 128, in steps\n'
    assert not explain(error).is_known
    assert (
        explain(f"Traceback (most recent call last):\n{frame}    loop()\n{error}").rule == "KD307"
    )


def test_a_class_that_takes_none_of_the_usual_keywords_is_told_from_keras_own():
    text = (
        "TypeError: Error when deserializing class '{}' using config={{'trainable': True}}.\n\n"
        "Exception encountered: {}.__init__() got an unexpected keyword argument '{}'"
    )
    assert (
        "`Block.__init__` does not take it"
        in explain(text.format("Block", "Block", "dtype")).meaning
    )
    assert "does not take it" not in explain(text.format("Block", "Block", "rate")).meaning


def test_a_warning_with_the_line_that_python_shows_below_it_is_known():
    text = (
        "/usr/lib/python3/dist-packages/keras/src/layers/core/dense.py:87: UserWarning: Do not pass an "
        "`input_shape`/`input_dim` argument to a layer. When using Sequential models, prefer using "
        "an `Input(shape)` object as the first layer in the model instead.\n"
        "  super().__init__(activity_regularizer=activity_regularizer, **kwargs)\n"
    )
    found = explain(text)
    assert any("input-shape-of-a-layer" in each for each in found.evidence)
    assert found.concerns_keras


def test_a_warning_that_goes_through_the_log_is_known():
    text = (
        "WARNING:absl:You are saving your model as an HDF5 file via `model.save()` or "
        "`keras.saving.save_model(model)`. This file format is considered legacy.\n"
    )
    assert any("saved-as-hdf5" in each for each in explain(text).evidence)


@pytest.mark.parametrize(
    ("copied", "written"),
    [
        (
            "module keras.backend has no attribute sum",
            "module 'keras.backend' has no attribute 'sum'",
        ),
        (GONE.replace("'", ""), GONE),
        (GONE.replace("_", "\\_"), GONE),
        (GONE.replace("'S", "\u2018S").replace("l'", "l\u2019"), GONE),
        (
            "cannot import name to_categorical from keras.utils.np_utils",
            "cannot import name 'to_categorical' from 'keras.utils.np_utils'",
        ),
        ("No module named keras.legacy.", "No module named 'keras.legacy'."),
        (
            "fit() got an unexpected keyword argument nb_epoch",
            "fit() got an unexpected keyword argument 'nb_epoch'",
        ),
        (
            "add_weight() got multiple values for argument shape",
            "add_weight() got multiple values for argument 'shape'",
        ),
    ],
)
def test_what_a_shell_a_page_or_markdown_did_to_the_signs_is_undone(copied, written):
    assert restored(copied) == written
    found = explain(copied)
    assert found.concerns_keras
    assert found.meaning == explain(written).meaning


def test_backslashes_of_a_path_of_windows_stay():
    text = f'  File "C:\\work\\_old\\net.py", line 3, in build\n{GONE}'
    assert restored(text) == text
