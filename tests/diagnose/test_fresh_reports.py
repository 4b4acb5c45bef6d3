"""Errors of a day of breaking programs on Keras 3, in the dresses in which people paste them."""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault, StepKind

# What was raised, the line that raised it, and what answers: a message of the table or a rule.
REPORTS = {
    "type-of-the-targets-is-blamed-on-x": (
        "model.fit(x, labels)",
        (
            "ValueError: Unrecognized data type: x=[[0.06 0.38]\n [0.44 0.68]] (of type "
            "<class 'numpy.ndarray'>)"
        ),
    ),
    "item-of-the-one-number-of-evaluate": (
        "accuracy = model.evaluate(x, y)[1]",
        "TypeError: 'float' object is not subscriptable",
    ),
    "tensor-of-unknown-rank": (
        "model.fit(x, y)",
        "ValueError: Cannot iterate over a shape with unknown rank.",
    ),
    "lr-is-a-plain-number": (
        "print(model.optimizer.lr.numpy())",
        "AttributeError: 'float' object has no attribute 'numpy'",
    ),
    "value-of-a-weight-is-no-method": (
        "w = model.trainable_weights[0].value()",
        "TypeError: 'ResourceVariable' object is not callable",
    ),
    "layer-has-no-weights-yet": (
        "w = model.layers[0].get_weights()[0]",
        "IndexError: list index out of range",
    ),
    "reshape-keeps-the-size": (
        "x = layers.Reshape((3, 5))(x)",
        (
            "ValueError: Exception encountered when calling Reshape.call().\n\nThe total size of the "
            "tensor must be unchanged. Received: input_shape=(4,), target_shape=(3, 5)"
        ),
    ),
    "concatenated-shapes-differ": (
        "x = layers.concatenate([up, skip])",
        (
            "ValueError: A `Concatenate` layer requires inputs with matching shapes except for the "
            "concatenation axis. Received: input_shape=[(None, 4, 3), (None, 5, 3)]"
        ),
    ),
    "attribute-holds-a-tensor-of-a-graph": (
        "model.fit(x, y)",
        (
            "TypeError: The tensor <tf.Tensor 'Add_3:0' shape=() dtype=float32> cannot be accessed "
            "from FuncGraph(name=multi_step_on_iterator, id=1), because it was defined in "
            "FuncGraph(name=one_step_on_data, id=2), which is out of scope."
        ),
    ),
    "model-of-no-strategy-is-compiled-in-its-scope": (
        "model.fit(x, y)",
        (
            'RuntimeError: Need to be inside "with strategy.scope()" for '
            "<tensorflow.python.distribute.mirrored_strategy.MirroredStrategy object at 0x7fa2>"
        ),
    ),
    "file-is-not-there": (
        "model = keras.models.load_model('bad.keras')",
        (
            "ValueError: File not found: filepath=bad.keras. Please ensure the file is an accessible "
            "`.keras` zip file."
        ),
    ),
}
KERAS = "site-packages/keras/src/trainers/trainer.py"
DRESSES = {
    "shell": '$ python train.py\nTraceback (most recent call last):\n  File "/home/me/train.py", '
    'line 9, in <module>\n    {line}\n  File "/v/lib/python3.11/' + KERAS + '", line 1, in f\n'
    "    raise\n{error}\n$ ",
    "PyCharm on Windows": "C:\\me\\venv\\Scripts\\python.exe C:\\me\\train.py\nTraceback (most "
    'recent call last):\n  File "C:\\me\\train.py", line 9, in <module>\n    {line}\n  File '
    '"C:\\me\\venv\\Lib\\' + KERAS.replace("/", "\\") + '", line 1, in f\n    raise\n{error}\n\n'
    "Process finished with exit code 1\n",
    "Colab": "---------------------------------------------------------------------------\n"
    "Error                     Traceback (most recent call last)\n"
    "[/tmp/ipython-input-5-3.py](https://localhost:8080/#) in <cell line: 0>()\n"
    "----> 9 {line}\n\n[/usr/local/lib/python3.12/dist-packages/keras/src/trainers/trainer.py]"
    "(https://localhost:8080/#) in f()\n----> 1 raise\n\n{error}",
    "a progress bar": "Epoch 1/5\n 1/63 ━━━━━━━━━━━━━━━━━━━━ 41s 663ms/step - loss: 0.7\r"
    'Traceback (most recent call last):\n  File "/home/me/train.py", line 9, in <module>\n'
    '    {line}\n  File "/v/lib/python3.11/' + KERAS + '", line 1, in f\n    raise\n{error}\n',
    "chained": 'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in f\n'
    "    cache['x']\nKeyError: 'x'\n\nDuring handling of the above exception, another exception "
    'occurred:\n\nTraceback (most recent call last):\n  File "/home/me/train.py", line 9, in '
    '<module>\n    {line}\n  File "/v/lib/python3.11/' + KERAS + '", line 1, in f\n    raise\n'
    "{error}\n",
    "German words around it": "Fehler beim Training, bitte um Hilfe!\n\nTraceback (most recent "
    'call last):\n  File "/home/ich/lauf.py", line 9, in <module>\n    {line}\n  File '
    '"/v/lib/python3.11/' + KERAS + '", line 1, in f\n    raise\n{error}\n\n'
    "Segen und Dank im Voraus\n",
}


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
@pytest.mark.parametrize("name", REPORTS)
def test_the_report_is_known_and_nothing_is_to_be_removed(name, dress):
    line, error = REPORTS[name]
    found = explain(dress.format(line=line, error=error), target="keras==3.15.1")
    assert found.fault is Fault.YOUR_CODE
    assert any(f"({name})" in each for each in found.evidence), found.meaning
    assert not any(step.kind is StepKind.COMMAND for step in found.steps)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("x = rows[3]", "IndexError: list index out of range"),
        ("print(loss.numpy())", "AttributeError: 'float' object has no attribute 'numpy'"),
        ("best = scores[1]", "TypeError: 'float' object is not subscriptable"),
        ("f()", "TypeError: 'EagerTensor' object is not callable"),
    ],
)
def test_what_python_says_of_other_lines_is_not_taken_for_them(line, error):
    text = f'Traceback (most recent call last):\n  File "a.py", line 9, in f\n    {line}\n{error}\n'
    evidence = explain(text, target="keras==3.15.1").evidence
    assert not any(f"({name})" in each for each in evidence for name in REPORTS)


def test_an_argument_of_a_class_of_one_s_own_is_not_taken_for_one_of_keras():
    found = explain("ValueError: Unrecognized keyword arguments passed to Mine: {'a': 1}")
    assert found.rule != "KD301"
