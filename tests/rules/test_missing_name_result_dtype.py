"""A function that moved may give another type of number: a safe fix keeps the old one."""

import pytest

from kdoctor.engine import scan

from .before_and_after import fixed

IMPORT = "from keras.utils import np_utils\n"
HELD = {
    f"{IMPORT}y = np_utils.to_categorical([0, 1])\n": "([0, 1]).astype('float32')",
    f"{IMPORT}\n\ndef f(y, n):\n    return np_utils.to_categorical(y, n)\n": (
        "(y, n).astype('float32')"
    ),
    f"{IMPORT}y = np_utils.to_categorical(y=[1], dtype=bool)\n": "(x=[1]).astype(bool)",
    (
        "from keras.datasets import mnist\nfrom keras.utils.np_utils import to_categorical\n"
        "(x, y), _ = mnist.load_data()\ny = to_categorical(y, 10)\n"
    ): "(y, 10).astype('float32')",
    (
        "import numpy as np\nimport tensorflow as tf\n"
        f"{IMPORT}tf.constant(1)\ny = np_utils.to_categorical(np.array([1]))\n"
    ): "(np.array([1])).astype('float32')",
    "import keras\ny = keras.utils.to_categorical(y=[1])\n": "(x=[1]).astype('float32')",
    "import keras\ny = keras.utils.to_categorical([1], dtype='float32')\n": (
        "([1]).astype('float32')"
    ),
}
NOT_SAFE = {
    "handed on": f"{IMPORT}\n\ndef f(ys):\n    return map(np_utils.to_categorical, ys)\n",
    "with keywords that nobody sees": f"{IMPORT}\n\n"
    "def f(y, **kw):\n    return np_utils.to_categorical(y, **kw)\n",
    "of a tensor": f"import tensorflow as tf\n{IMPORT}"
    "y = np_utils.to_categorical(tf.constant([1]))\n",
    "of what may be a tensor": f"import tensorflow as tf\n{IMPORT}\n\n"
    "def f(data):\n    for x, y in data:\n        tf.print(np_utils.to_categorical(y))\n",
    "of a tensor of the backend": f"from keras import backend as K\n{IMPORT}"
    "y = K.argmax(K.ones((2, 3)))\nz = np_utils.to_categorical(y)\n",
    "with the old keyword, of a tensor": (
        "import tensorflow as tf\nimport keras\ny = keras.utils.to_categorical(y=tf.constant([1]))\n"
    ),
    "with the type, of what may be a tensor": (
        "import tensorflow as tf\nimport keras\n\n\ndef f(data):\n    for x, y in data:\n"
        "        tf.print(keras.utils.to_categorical(y, 3, dtype='int32'))\n"
    ),
    "a part of a call": "import keras\nfrom functools import partial\n"
    "f = partial(keras.utils.to_categorical, y=[1])\n",
}


@pytest.mark.parametrize("source", HELD)
def test_what_to_categorical_gives_keeps_its_type(source):
    after = fixed(source, "KD102", "KD303")
    assert f"to_categorical{HELD[source]}" in after


@pytest.mark.parametrize("source", NOT_SAFE.values(), ids=NOT_SAFE)
def test_no_safe_fix_changes_the_type_that_to_categorical_gives(source):
    assert fixed(source, "KD102", "KD303") == source


def test_the_reason_names_the_default_that_is_gone():
    result = scan(["-"], stdin=NOT_SAFE["handed on"].encode(), select=["KD102"])
    (finding,) = result.findings
    assert "`dtype` was 'float32' by default" in finding.fix.unsafe_because


def test_a_name_whose_results_have_their_old_type_is_only_renamed():
    source = f"import numpy as np\n{IMPORT}x = np_utils.normalize(np.ones((2, 3)))\n"
    assert fixed(source, "KD102").endswith("x = utils.normalize(np.ones((2, 3)))\n")


@pytest.mark.parametrize(
    "given",
    ["[[1.0, 2.0]]", "list(rows)", "rows.tolist()", "[row for row in rows]", "kept", "*rows"],
)
def test_no_safe_fix_passes_a_list_to_what_makes_a_tensor_of_it(given):
    source = f"{IMPORT}kept = [[1, 2]]\n\n\ndef f(rows):\n    return np_utils.normalize({given})\n"
    assert fixed(source, "KD102") == source
    assert "utils.normalize(" in fixed(source, "KD102", unsafe=True)


def test_a_function_of_arrays_that_is_handed_on_may_get_lists():
    source = f"{IMPORT}\n\ndef f(rows):\n    return map(np_utils.normalize, rows)\n"
    assert fixed(source, "KD102") == source
