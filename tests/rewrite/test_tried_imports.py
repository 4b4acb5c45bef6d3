"""What is imported in a ``try`` stands above what fails in it."""

import pytest

from kdoctor.engine import fix


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "try:\n    from keras.backend import square\nexcept ImportError:\n    pass\nsquare(2.0)\n",
            (
                "try:\n    from keras import ops\n    from keras.backend import square\n"
                "except ImportError:\n    pass\nops.square(2.0)\n"
            ),
        ),
        (
            "try: from keras.backend import square\nexcept ImportError: pass\nsquare(2.0)\n",
            (
                "try: from keras import ops; from keras.backend import square\n"
                "except ImportError: pass\nops.square(2.0)\n"
            ),
        ),
        (
            (
                "def f():\n    try:\n        from keras.layers.recurrent import Recurrent\n"
                "        from keras import backend as K\n    except ImportError:\n        K = None\n"
                "    return K.square(2.0)\n"
            ),
            (
                "def f():\n    try:\n        from keras import ops\n"
                "        from keras.layers.recurrent import Recurrent\n"
                "        from keras import backend as K\n    except ImportError:\n        K = None\n"
                "    return ops.square(2.0)\n"
            ),
        ),
        (
            (
                "try:\n    from keras.layers.recurrent import Recurrent\n    from keras import backend as K\n"
                "except ImportError:\n    pass\nK.square(K.abs(2.0))\n"
            ),
            (
                "try:\n    from keras import ops\n    from keras.layers.recurrent import Recurrent\n"
                "    from keras import backend as K\nexcept ImportError:\n    pass\nops.square(ops.abs(2.0))\n"
            ),
        ),
        (
            (
                "try:\n    from keras import backend as K\n    from keras.layers.recurrent import Recurrent\n"
                "except ImportError:\n    pass\nK.square(2.0)\n"
            ),
            (
                "try:\n    from keras import backend as K\n    from keras import ops\n"
                "    from keras.layers.recurrent import Recurrent\n"
                "except ImportError:\n    pass\nops.square(2.0)\n"
            ),
        ),
    ],
)
def test_an_import_stands_above_what_fails(before, after):
    result = fix(["-"], stdin=before.encode(), select=["KD101"])
    assert result.files[0].after.decode() == after
