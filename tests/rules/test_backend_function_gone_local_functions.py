"""A parameter is what the calls pass, where the file shows all of them."""

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

HEAD = "from keras import backend as K\nimport keras\n\nx = keras.Input((4, 4, 3))\n\n"
BODY = "return x + K.arange(size)"  # of whole numbers
INNER = f"def net():\n    def up(x, size):\n        {BODY}\n"
PRIVATE = f"def _up(x, size=2):\n    {BODY}\n\n"


def told(folder, source, *, gate=True):
    (folder / "layers.py").write_text(HEAD + source + "\n")
    (finding,) = scan(
        [folder], target="keras==3.15.1", isolated=True, select=["KD101"], gate=gate
    ).findings
    return finding.fix


def is_not_safe(fix):
    return fix is None or fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize(
    "source",
    [
        f"{INNER}    return up(x, 2)",
        f"{INNER}    size = 8\n    return up(up(x, size), size=size * 2)",
        f"{INNER}    def twice(x, factor):\n        return up(x, factor)\n    return twice(x, 2)",
        f"{INNER}    return up(x, 2)".replace("return K", "size = size * 2\n        return K"),
        f"{PRIVATE}size = 8\ny = _up(x, size)",
        f"{PRIVATE}y = _up(x)",
        f"{PRIVATE}y = _up(x, size=8)".replace("x, size=2", "x, *, size"),
    ],
)
def test_what_all_calls_pass_is_known(tmp_path, source):
    fix = told(tmp_path, source)
    assert fix == told(tmp_path, source, gate=False)
    assert fix is not None
    assert fix.applicability is Applicability.SAFE


@pytest.mark.parametrize(
    "source",
    [
        # Another number, or one that is not known.
        f"{INNER}    return up(up(x, 2), 1.5)",
        f"{INNER}    return [up(x, each) for each in sizes]",
        f"{PRIVATE}y = _up(x)".replace("size=2", "size=1.5"),
        f"{PRIVATE}y = _up(*given)",
        f"{PRIVATE}y = _up(x, **given)",
        # It may be called elsewhere, or by something else.
        f"{PRIVATE}y = _up(x, 8)".replace("_up", "up"),
        f"{PRIVATE}y = map(_up, [x], [8])",
        f"{PRIVATE}y = _up(x, 8)\nresize = _up",
        f"{INNER}    up(x, 2)\n    return up",
        f"{INNER}    return up(x, 2)".replace("    def up", "    @wrapped\n    def up"),
        f"class Net:\n    def _up(self, x, size=2):\n        {BODY}\n\ny = Net()._up(x, 8)",
        # Which function it is, or whether it is called at all, is not known.
        f"{PRIVATE}if x:\n    def _up(x, size):\n        pass\ny = _up(x, 8)",
        PRIVATE,
        f"{PRIVATE}y = _up(x, 8)".replace("size=2", "*size"),
    ],
)
def test_what_another_call_may_pass_is_not(tmp_path, source):
    assert is_not_safe(told(tmp_path, source))


@pytest.mark.parametrize("taken", ["from layers import _up", "import layers\n\nlayers._up"])
def test_a_private_function_that_another_file_takes_may_get_anything(tmp_path, taken):
    (tmp_path / "train.py").write_text(f"{taken}\n")
    assert is_not_safe(told(tmp_path, f"{PRIVATE}y = _up(x, 8)"))
