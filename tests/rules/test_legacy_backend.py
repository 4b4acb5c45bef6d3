"""What KD121 says of each function is what Keras 3's `tf.keras.backend` does."""

import json
import subprocess
import sys

import pytest

from kdoctor.rules.names.legacy_backend import ON_SYMBOLIC, ON_VARIABLE

PROGRAM = """
import json, sys
import keras, tensorflow as tf

K = tf.keras.backend
SETS = [lambda x: (x,), lambda x: (x, 1), lambda x: (x, x), lambda x: (x, 1, 2),
        lambda x: (x, x, x), lambda x: ([x, x],), lambda x: (x, (0, 2, 1)),
        lambda x: (x, "float32"), lambda x: (x, 2, 1)]

def errors(name, make):
    found = []
    for arguments in SETS:
        try:
            getattr(K, name)(*arguments(make()))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found

wanted = json.load(sys.stdin)
shapes = [(4, 4), (4, 4, 3), (4, 4, 4, 3)]
print(json.dumps({
    "symbolic": {n: [e for s in shapes for e in errors(n, lambda: keras.Input(s))]
                 for n in wanted["symbolic"]},
    "variable": {n: errors(n, lambda: keras.Variable([1.0, 2.0])) for n in wanted["variable"]},
}))
"""
pytestmark = pytest.mark.frameworks


@pytest.fixture(scope="module")
def raised():
    wanted = {"symbolic": list(ON_SYMBOLIC), "variable": list(ON_VARIABLE)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(wanted), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("name", "error"), ON_SYMBOLIC.items())
def test_a_symbolic_tensor_raises_what_is_said(raised, name, error):
    assert any(each.startswith(error) for each in raised["symbolic"][name]), raised["symbolic"][
        name
    ]


@pytest.mark.parametrize(("name", "error"), ON_VARIABLE.items())
def test_a_variable_raises_what_is_said(raised, name, error):
    assert any(each.startswith(error) for each in raised["variable"][name])
