"""An import that raises on the target, and that nothing uses, may go."""

import pytest

from kdoctor.engine import fix

GONE = "from keras.utils import layer_utils\n"
REST = "\n\ndef size(model):\n    return len(model.weights)\n"


def fixed(folder, files, path="code.py"):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    result = fix([folder / path], target="keras==3.15.1")
    return result.files[0].after.decode() if result.files else files[path]


@pytest.mark.parametrize("line", [GONE, "import keras.utils.layer_utils\n", f"import os\n{GONE}"])
def test_it_goes_as_a_safe_fix(tmp_path, line):
    assert "layer_utils" not in fixed(tmp_path, {"code.py": f"{line}{REST}"})


def test_the_package_that_it_binds_stays(tmp_path):
    source = "import keras.utils.layer_utils\n\nlayer = keras.layers.Dense(3)\n"
    assert fixed(tmp_path, {"code.py": source}) == "import keras\n\nlayer = keras.layers.Dense(3)\n"


@pytest.mark.parametrize(
    "files",
    [
        {"code.py": f"{GONE}{REST}", "other.py": "from code import layer_utils\n"},
        {"code.py": f"{GONE}{REST}", "other.py": "import code\n\ncode.layer_utils\n"},
        {"code.py": f"{GONE}{REST}", "other.py": "from unittest import mock\n\nmock.patch('code.layer_utils')\n"},
        {"code.py": f"{GONE.rstrip()}  # noqa: F401\n{REST}"},
        {"code.py": f"{GONE}__all__ = ['layer_utils']\n{REST}"},
        {"code.py": f"try:\n    {GONE}except ImportError:\n    layer_utils = None\n{REST}"},
    ],
)  # fmt: skip
def test_it_stays_where_somebody_may_need_it(tmp_path, files):
    assert "layer_utils" in fixed(tmp_path, files).partition("def")[0]


def test_the_face_of_a_package_keeps_it(tmp_path):
    files = {"pk/__init__.py": f"{GONE}{REST}"}
    assert GONE in fixed(tmp_path, files, "pk/__init__.py")
