"""The same traceback, as pages, logs, mails and terminals show it."""

from __future__ import annotations

import html
import json
import textwrap

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault

PLAIN = (
    "Traceback (most recent call last):\n"
    '  File "/home/kim/net.py", line 12, in <module>\n'
    "    net.fit_generator(batches)\n"
    "AttributeError: 'Functional' object has no attribute 'fit_generator'\n"
)


def backticked(text):
    return "\n".join(f"`{line}`" for line in text.splitlines())


@pytest.mark.parametrize(
    "dressed",
    [
        html.escape(PLAIN),
        f"<pre><code class='log'>{html.escape(PLAIN)}</code></pre>",
        f"It breaks:\n\n{textwrap.indent(PLAIN, '    ')}\nWhat can I do?\n",
        repr(PLAIN),
        json.dumps({"level": "error", "stack": PLAIN}),
        backticked(PLAIN),
    ],
    ids=["entities", "tags", "indented", "literal", "json", "backticks"],
)
def test_the_dress_does_not_change_the_answer(dressed):
    plain, found = explain(PLAIN), explain(dressed)
    assert (found.rule, found.meaning) == (plain.rule, plain.meaning)
    assert found.place == plain.place


def test_a_quotation_ends_with_its_own_sign():
    found = explain("I get `AttributeError: 'KerasTensor' object has no attribute 'graph'`")
    assert found.error is not None
    assert found.error.message == "'KerasTensor' object has no attribute 'graph'"


def test_a_quoted_name_keeps_its_signs():
    found = explain("ValueError: no such thing: `adam`")
    assert found.error is not None
    assert found.error.message == "no such thing: `adam`"


def test_cells_of_vs_code_are_places_of_the_users():
    text = (
        "[d:\\lab](file:///d:/lab) one\\net.ipynb Cell 4 line 2\n"
        "      [1](vscode-notebook-cell:/d%3A/lab#X3?line=0) x = load()\n"
        "----> [2](vscode-notebook-cell:/d%3A/lab#X3?line=1) net.fit_generator(x)\n\n"
        "AttributeError: 'Functional' object has no attribute 'fit_generator'\n"
    )
    found = explain(text)
    assert found.place is not None
    assert (found.place.path, found.place.line) == ("Cell In[4]", 2)
    assert found.place.source == "net.fit_generator(x)"


def test_lines_that_a_terminal_has_cut_are_joined():
    message = (
        "ValueError: File format not supported: filepath=/srv/models/of/the/third/experiment/best. "
        "Keras 3 only supports V3 `.keras` files, legacy H5 format files (`.h5` extension)."
    )
    cut = "\n".join(textwrap.wrap(message, 70, drop_whitespace=False, break_on_hyphens=False))
    lines = [message[at : at + 70] for at in range(0, len(message), 70)]
    assert explain("\n".join(lines)).rule == explain(message).rule == "KD604"
    assert cut != message


def test_what_follows_a_message_is_no_part_of_it():
    text = f"{RATE}\n\nProcess finished with exit code 1\n"
    assert explain(text).meaning == explain(RATE).meaning


RATE = (
    "ValueError: Argument `learning_rate` should be float, or an instance of LearningRateSchedule, "
    "or a callable. Received instead: learning_rate=fast"
)


def test_a_short_message_is_not_made_telling_by_what_follows_it():
    text = "TypeError: 'str' object is not callable\n\nDoes anyone know what that can mean here?\n"
    assert not explain(text).is_known


def test_the_rest_of_a_cut_statement_is_not_lost():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/kim/net.py", line 12, in build\n'
        '    self.scale = self.add_weight("scale",\n'
        '  File "/v/lib/python3.11/site-packages/keras/src/layers/layer.py", line 5, in add_weight\n'
        "    raise ValueError(\n"
        "TypeError: Layer.add_weight() got multiple values for argument 'shape'\n"
    )
    (step, *_) = explain(text).steps
    assert '+self.scale = self.add_weight(name="scale", …' in step.text


def test_errors_inside_a_layer_that_keras_only_asks_for_its_shape_are_explained():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/home/kim/net.py", line 12, in call\n'
        "    return K.batch_dot(x, y)\n"
        "AttributeError: Exception encountered when calling Mine.call().\n\n"
        "Could not automatically infer the output shape / dtype of 'mine' (of type Mine). Either "
        "the `Mine.call()` method is incorrect, or you need to implement the "
        "`Mine.compute_output_spec() / compute_output_shape()` method. Error encountered:\n\n"
        "module 'keras.backend' has no attribute 'batch_dot'\n\n"
        "Arguments received by Mine.call():\n  • args=('<KerasTensor shape=(None, 4)>',)\n"
    )
    assert explain(text).rule == "KD101"


def test_a_package_that_is_shown_without_its_folder_is_still_keras():
    text = (
        "keras_core/metrics/__init__.py in get(identifier)\n"
        "    188         return obj\n"
        "--> 190         raise ValueError(identifier)\n\n"
        "ValueError: Could not interpret metric identifier: categorical_accuracy\n"
    )
    assert explain(text).fault is not Fault.NOT_KERAS


def test_the_values_that_loguru_draws_under_a_line_are_no_part_of_it():
    line = "    net.fit_generator(batches)\n"
    drawn = (
        "    │   │             └ [1, 2]\n    │   └ <function f at 0x7f>\n    └ <Functional net>\n"
    )
    found = explain(PLAIN.replace(line, line + drawn).replace("  File", "> File"))
    assert found.place.source == line.strip()
    assert found.rule == explain(PLAIN).rule
