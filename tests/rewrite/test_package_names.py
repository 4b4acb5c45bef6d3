"""What ``import keras.gone`` bound stays bound, once, wherever it is read."""

import pytest

from kdoctor.engine import fix


def fixed(source):
    result = fix(["-"], stdin=source.encode(), select=["KD102"])
    return result.files[0].after.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import keras.layers.core\nimport keras.utils.layer_utils\nkeras.Model\n",
            "import keras\nkeras.Model\n",
        ),
        (
            "import keras.layers.core, keras.utils.layer_utils\nkeras.Model\n",
            "import keras\nkeras.Model\n",
        ),
        (
            "import keras.layers.core\nimport keras.layers\nkeras.Model\n",
            "import keras.layers\nkeras.Model\n",
        ),
        (
            "import keras.layers.core\nkeras.Model\nimport keras.layers\n",
            "import keras\nkeras.Model\nimport keras.layers\n",
        ),
        (
            "import keras.layers.core\nkeras.layers.core.Dense(3)\nimport keras.layers\n",
            "import keras\nkeras.layers.Dense(3)\nimport keras.layers\n",
        ),
        (
            "import keras.layers.core\ndef f():\n    return keras.Model\nimport keras.layers\n",
            "import keras\ndef f():\n    return keras.Model\nimport keras.layers\n",
        ),
        (
            "import keras.layers.core\ndef f():\n    import keras.layers\n    keras.Model\nkeras.Model\n",
            "import keras\ndef f():\n    import keras.layers\n    keras.Model\nkeras.Model\n",
        ),
        (
            "import keras.layers\ndef f():\n    import keras.layers.core\n    return keras.Model\n",
            "import keras.layers\ndef f():\n    return keras.Model\n",
        ),
        (
            "import keras.layers.core\nimport keras.utils.layer_utils\nkeras.layers.core.Dense(3)\n",
            "import keras\nkeras.layers.Dense(3)\n",
        ),
    ],
)
def test_imports_of_gone_modules_leave_their_package_bound_once(before, after):
    assert fixed(before) == after
