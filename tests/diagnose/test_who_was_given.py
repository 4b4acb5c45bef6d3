"""Objects that `compile` cannot use are told from those of another Keras, and names from files."""

from __future__ import annotations

import pytest

from kdoctor import explain


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("<keras.src.optimizers.adam.Adam object at 0x7f00>", "optimizer-of-another-keras"),
        ("<tf_keras.src.optimizers.sgd.SGD object at 0x7f00>", "optimizer-of-another-keras"),
        ("<__main__.Lookahead object at 0x7f00>", "optimizer-that-is-none-of-keras"),
        ("<adabelief_tf.AdaBelief object at 0x7f00>", "optimizer-that-is-none-of-keras"),
        ("(<keras.src.optimizers.sgd.SGD object at 0x7f00>,)", "optimizer-is-in-a-tuple"),
    ],
)
def test_what_was_given_as_the_optimizer_is_told_by_its_class(given, known):
    found = explain(f"ValueError: Could not interpret optimizer identifier: {given}")
    assert f"({known})" in found.evidence[0]


def traceback(line, frame):
    return (
        f'Traceback (most recent call last):\n  File "/home/me/a.py", line 3, in <module>\n'
        f'    {line}\n  File "/v/lib/python3.10/site-packages/{frame}", line 9, in f\n    g()\n'
    )


def test_no_batch_of_a_generator_is_taken_for_a_loss_that_is_called():
    text = traceback("model.fit(batches())", "optree/ops.py")
    error = "ValueError: Expected an instance of tuple, got array([[1.]], dtype=float32).\n"
    assert "(batches-of-several-forms)" in explain(text + error, read=lambda _: None).evidence[0]
    text = traceback("value = loss(rows, y)", "optree/ops.py")
    error = "ValueError: Expected an instance of list, got array([[1.]], dtype=float32).\n"
    assert "(loss-of-a-list-and-an-array)" in explain(text + error, read=lambda _: None).evidence[0]


@pytest.mark.parametrize(
    ("line", "is_known"), [("n = x.shape[0] // 2", True), ("n = first // 2", False)]
)
def test_a_none_is_that_of_a_shape_only_where_the_line_has_one(line, is_known):
    text = f'Traceback (most recent call last):\n  File "/home/me/a.py", line 3, in f\n    {line}\n'
    error = "TypeError: unsupported operand type(s) for //: 'NoneType' and 'int'\n"
    found = explain(text + error, read=lambda _: None)
    assert any("none-of-a-shape" in each for each in found.evidence) is is_known


@pytest.mark.parametrize("imports", ["keras", "torch"])
def test_a_read_only_rate_is_keras_own_where_the_file_of_the_class_names_keras(imports):
    source = f"from {imports}.optimizers import Optimizer\n\n        self.lr = rate\n"
    text = 'Traceback (most recent call last):\n  File "/home/me/a.py", line 3, in __init__\n'
    error = "    self.lr = rate\nAttributeError: can't set attribute\n"
    found = explain(text + error, read=lambda _: source.encode())
    assert any("lr-is-read-only" in each for each in found.evidence) is (imports == "keras")


def test_several_shapes_for_one_are_no_open_batch_size():
    found = explain(
        "ValueError: Cannot convert '((3, 3), (3, 2))' to a shape. Found invalid entry '(3, 3)'. "
        "Dynamic shapes (shapes with `None` entries) are not allowed with the tensorflow"
    )
    assert "(list-of-one-tensor)" in found.evidence[0]
