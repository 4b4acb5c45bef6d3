"""Classes of the user's that derive from Keras', and lines that do not say what their objects are."""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault, StepKind

KERAS = '  File "/v/lib/python3.11/site-packages/keras/src/{0}", line 9, in {1}\n    {2}\n'
FILTER = KERAS.format("utils/traceback_utils.py", "error_handler", "raise e from None")


def traceback(line, error, function="call", below=""):
    return (
        "Traceback (most recent call last):\n"
        '  File "/home/kim/run.py", line 30, in <module>\n    net(x)\n'
        f"{FILTER}"
        f'  File "/home/kim/net.py", line 12, in {function}\n    {line}\n{below}{error}\n'
    )


@pytest.mark.parametrize(
    ("line", "error", "base"),
    [
        (
            "self.add_update([(self.seen, x)])",
            "AttributeError: 'Seen' object has no attribute 'add_update'",
            "Layer",
        ),
        (
            "x, y = self.validation_data[:2]",
            "AttributeError: 'Report' object has no attribute 'validation_data'",
            "Callback",
        ),
    ],
)
def test_what_a_class_has_inherited_is_gone_from_its_base(line, error, base):
    found = explain(traceback(line, error))
    assert found.rule == "KD205"
    assert f"Keras' `{base}`" in found.meaning
    assert f"derives from Keras' {base}" in found.only_if
    assert found.steps


def test_a_class_that_has_nothing_to_do_with_keras_is_left_alone():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/kim/shop.py", line 12, in buy\n    self.add_update(basket)\n'
        "AttributeError: 'Shop' object has no attribute 'add_update'\n"
    )
    assert not explain(text).is_known


def test_a_line_is_taken_for_one_of_keras_where_a_rule_foretells_the_error():
    found = explain(traceback('print(self.params["samples"])', "KeyError: 'samples'"))
    assert found.rule == "KD219"
    assert found.only_if == "`self` is a callback of Keras"


def test_another_error_on_such_a_line_is_not():
    found = explain(traceback('print(self.params["samples"])', "TypeError: unhashable thing"))
    assert found.rule != "KD219"


def test_the_object_of_another_library_is_not_guessed_to_be_one_of_keras():
    below = (
        '  File "/v/lib/python3.11/site-packages/othernet/base.py", line 9, in __getitem__\n'
        "    return self.all[key]\n"
    )
    text = traceback('print(self.params["samples"])', "KeyError: 'samples'", below=below)
    assert explain(text).rule != "KD219"


@pytest.mark.parametrize(
    "message",
    [
        "TypeError: Layer.add_weight() got multiple values for argument 'shape'",
        "TypeError: add_weight() got multiple values for argument 'shape'",
        "TypeError: add_weight() got multiple values for argument 'name'",
    ],
)
def test_an_order_of_arguments_that_has_changed_is_told(message):
    found = explain(message)
    assert "in another order" in found.meaning
    assert "(name, shape, dtype, initializer, …) up to keras 2.15.0" in found.meaning
    assert found.only_if
    assert "name=…, shape=…" in found.steps[0].text


def test_a_layer_takes_nothing_by_position():
    line, error = (
        "super().__init__(name)",
        "Layer.__init__() takes 1 positional argument but 2 were given",
    )
    found = explain(traceback(line, f"TypeError: {error}", function="__init__"))
    assert "none by position on keras 3" in found.meaning
    assert "name=…" in found.steps[0].text


def test_other_callables_that_get_an_argument_twice_are_left_alone():
    assert not explain("TypeError: add_item() got multiple values for argument 'shape'").is_known


def test_an_argument_that_a_class_hands_on_to_its_layer_is_told():
    below = KERAS.format("layers/layer.py", "__init__", "raise ValueError(")
    error = "ValueError: Unrecognized keyword arguments passed to Mine: {'dynamic': True}"
    found = explain(traceback("super().__init__(dynamic=True)", error, "__init__", below))
    assert "`keras.layers.Layer`" in found.meaning
    assert found.rule == "KD303"


def test_an_argument_of_a_function_is_told():
    error = "TypeError: load_model() got an unexpected keyword argument 'options'"
    found = explain(traceback("net = keras.models.load_model(path, options=o)", error))
    assert (found.rule, found.only_if) == ("KD605", "")
    assert explain(error).rule == "KD605"


def test_a_function_of_that_name_that_never_had_the_argument_is_left_alone():
    assert not explain("TypeError: load_model() got an unexpected keyword argument 'hue'").is_known


def test_an_argument_that_is_spelled_wrong_gets_the_right_one():
    error = "TypeError: softmax() got an unexpected keyword argument 'axes'"
    found = explain(traceback("y = keras.activations.softmax(x, axes=1)", error))
    assert found.steps[0].text == "Did you mean `axis=`?"


def test_tensorflow_asking_a_model_for_what_another_keras_has_is_the_installation():
    text = (
        '  File "/home/kim/lite.py", line 8, in <module>\n    small = converter.convert()\n'
        '  File "/v/lib/python3.11/site-packages/tensorflow/lite/python/tflite_keras_util.py", '
        "line 4, in model_input_signature\n    specs = model._get_save_spec()\n"
        "AttributeError: 'Sequential' object has no attribute '_get_save_spec'\n"
    )
    found = explain(text)
    assert found.fault is Fault.INSTALLATION
    assert any("from_saved_model" in step.text for step in found.steps)


def test_a_symbolic_tensor_is_said_to_have_no_value():
    (step,) = explain("AttributeError: 'KerasTensor' object has no attribute 'numpy'").steps
    assert step.kind is StepKind.ADVICE


def test_the_name_that_stood_for_the_users_object_is_not_shown():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/kim/run.py", line 3, in <module>\n'
        "    tf.keras.mixed_precision.experimental.set_policy(p)\n"
        "AttributeError: module 'tensorflow.keras.mixed_precision' has no attribute 'experimental'\n"
    )
    assert all("kdoctor_owner" not in f"{step.text}{step.note}" for step in explain(text).steps)


def test_a_private_name_is_not_said_never_to_have_been():
    found = explain("AttributeError: module 'keras.backend' has no attribute '_THREADS'")
    assert "no known release" not in found.meaning


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("optimizer identifier: Adan", "knows no optimizer by the name `Adan`"),
        ("optimizer identifier: 0.9", "`0.9` was given as the optimizer"),
        (
            "optimizer identifier: <class 'keras.src.optimizers.adam.Adam'>",
            "The class `Adam` itself",
        ),
        ("metric identifier: categorical_accuracy", "an older or different Keras was running"),
    ],
)
def test_what_keras_cannot_make_an_object_of_is_told(value, said):
    found = explain(f"ValueError: Could not interpret {value}")
    assert said in found.meaning
    assert found.steps


@pytest.mark.parametrize(
    ("value", "rule", "cure"),
    [
        ("loss identifier: logcosh", "KD305", "'log_cosh'"),
        ("metric identifier: logcosh", "KD305", "'LogCoshError'"),
        ("regularizer identifier: l1_l2", "KD305", "keras.regularizers.L1L2(l1=0.01, l2=0.01)"),
        ("activation function identifier: mine", "KD313", "itself"),
        ("constraint identifier: mine", "KD313", "itself"),
        ("metric identifier: log_cosh", "KD305", "'LogCoshError'"),
        ("metric identifier: huber", "", "metrics=[keras.metrics.huber]"),
        ("loss identifier: mine", "KD313", "itself"),
        ("optimizer identifier: Lamb", "", "optimizer=keras.optimizers.Lamb()"),
        ("quantizer identifier: mine", "", "quantizer=mine"),
    ],
)
def test_a_name_that_is_not_taken_leads_to_the_rule_that_finds_it(value, rule, cure):
    found = explain(f"ValueError: Could not interpret {value}", target="keras==3.15.1")
    assert (found.rule, found.fault) == (rule, Fault.YOUR_CODE)
    assert any(cure in step.text for step in found.steps)


@pytest.mark.parametrize(("what", "told"), [("loss", True), ("optimizer", False)])
def test_that_keras_3_does_not_look_among_custom_objects_is_said_where_it_is_so(what, told):
    text = f"ValueError: Could not interpret {what} identifier: mine"
    said = "among the custom objects"
    evidence = explain(text, target="keras==3.15.1").evidence
    assert any(said in each for each in evidence) is told
    assert not any(said in each for each in explain(text, target="keras==2.15").evidence)


def test_the_message_of_an_old_scikeras_is_not_claimed_where_another_line_raised_it():
    error = "ValueError: Could not interpret metric identifier: loss"
    below = KERAS.format("metrics/__init__.py", "get", "raise ValueError(")
    own = explain(traceback("keras.metrics.get('loss')", error, "<module>", below))
    assert own.package == ""
    package = (
        '  File "/v/lib/python3.11/site-packages/scikeras/utils/__init__.py", line 111, in f\n'
    )
    old = explain(traceback("model.fit(x, y)", error, "<module>", package + below))
    assert (old.package, old.fault, old.only_if) == ("scikeras", Fault.INSTALLATION, "")


def test_a_name_that_is_nearly_right_gets_the_right_one():
    found = explain("ValueError: Could not interpret optimizer identifier: Adan")
    assert "`Adam`" in found.steps[0].text


def test_a_property_of_keras_is_not_set_by_a_message_alone():
    error = "AttributeError: property 'metrics' of 'Mine' object has no setter"
    assert explain(error).only_if
    below = KERAS.format("layers/layer.py", "__setattr__", "super().__setattr__(name, value)")
    found = explain(traceback("self.metrics = []", error, "__init__", below))
    assert (found.rule, found.only_if) == ("KD214", "")


def test_an_optimizer_without_a_step_is_told_by_its_frames_alone():
    below = KERAS.format("optimizers/base_optimizer.py", "update_step", "raise NotImplementedError")
    found = explain(traceback("net.fit(x, y)", "NotImplementedError", "<module>", below))
    assert found.rule == "KD512"
    assert not explain("NotImplementedError").is_known


def test_an_argument_that_a_class_of_keras_wants_is_told_by_its_signature():
    error = "TypeError: MeanIoU.__init__() missing 1 required positional argument: 'num_classes'"
    found = explain(traceback("m = keras.metrics.MeanIoU()", error))
    assert found.steps[0].text == "keras.metrics.MeanIoU(num_classes=…)"
    assert found.only_if == ""
    assert explain(error).only_if == "`MeanIoU` is that of Keras"


def test_a_class_of_that_name_that_wants_something_else_is_left_alone():
    error = "TypeError: MeanIoU.__init__() missing 1 required positional argument: 'masks'"
    assert not explain(error).is_known


def test_a_metric_of_ones_own_goes_into_the_list_of_metrics():
    found = explain("ValueError: Could not interpret metric identifier: f1_of_mine")
    assert found.steps[-1].text == "metrics=[f1_of_mine]"


def test_the_import_above_a_bare_message_says_which_module_it_is():
    text = "from keras.engine import Layer\nImportError: cannot import name 'Layer'\n"
    assert "keras.engine" in explain(text).meaning


def test_a_module_that_only_an_import_finds_is_no_broken_installation():
    below = (
        '  File "/v/lib/python3.11/site-packages/tensorflow/python/util/lazy_loader.py", line 211, '
        "in __getattr__\n    return getattr(module, item)\n"
    )
    error = "AttributeError: module 'keras._tf_keras.keras' has no attribute 'saving'"
    line = "@tf.keras.saving.register_keras_serializable()"
    found = explain(traceback(line, error, "<module>", below))
    assert found.fault is Fault.YOUR_CODE
    assert found.steps[-1].text == "from tensorflow.keras import saving"


def test_pythons_own_words_on_a_line_that_does_something_else_are_no_rules():
    below = KERAS.format("optimizers/base_optimizer.py", "apply_gradients", "a, b = zip(*pairs)")
    error = "ValueError: not enough values to unpack (expected 2, got 0)"
    assert not explain(traceback("opt.apply_gradients(pairs)", error, below=below)).is_known
