"""New code reads no import that stands below it: a script may have run it by then."""

import pytest

from kdoctor.engine import fix


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            (
                "from keras import backend as K\ndef f():\n    return K.variable(1.0)\nf()\n"
                "import keras\nkeras.Model\n"
            ),
            (
                "from keras import Variable, config\ndef f():\n"
                "    return Variable(1.0, dtype=config.floatx())\nf()\nimport keras\nkeras.Model\n"
            ),
        ),
        (
            (
                "from keras.backend import square\ndef f():\n    return square(2.0)\nf()\n"
                "from keras import ops\nops.abs\n"
            ),
            (
                "from keras import ops as keras_ops\ndef f():\n    return keras_ops.square(2.0)\nf()\n"
                "from keras import ops\nops.abs\n"
            ),
        ),
        (
            (
                "def f():\n    from keras import backend as K\n    return K.square(2.0)\nf()\n"
                "import keras.models\nkeras.models.Model\n"
            ),
            (
                "def f():\n    from keras import ops\n    return ops.square(2.0)\nf()\n"
                "import keras.models\nkeras.models.Model\n"
            ),
        ),
        (
            (
                "class A:\n    from keras import backend as K\n    x = K.square(2.0)\n"
                "import keras.models\nkeras.models.Model\n"
            ),
            (
                "from keras import ops\nclass A:\n    x = ops.square(2.0)\n"
                "import keras.models\nkeras.models.Model\n"
            ),
        ),
    ],
)
def test_what_is_read_is_imported_above(before, after):
    result = fix(["-"], stdin=before.encode(), select=["KD101"])
    assert result.files[0].after.decode() == after
