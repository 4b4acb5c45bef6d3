"""KD414: names that have one literal, and what the gate makes of them."""

import pytest

from kdoctor.engine import scan

SGD = "from keras.optimizers import SGD\n\n"
MANY = "".join(f"def made_{n}():\n    decay = 0.{n}\n    return decay\n\n\n" for n in range(1, 15))


def findings(source, *, gated=True):
    return scan(["-"], stdin=source.encode(), select=["KD414"], gate=gated).findings


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("decay = 1e-6\nSGD(0.1, 0.9, decay)\n", 1),
        ("def made():\n    decay = 1e-6\n    return SGD(0.1, 0.9, decay)\n", 1),
        (MANY + "decay = 1e-6\nSGD(0.1, 0.9, decay)\n", 1),
        (MANY + "SGD(0.1, 0.9, decay)\n", 0),
        ("decay = given()\nSGD(0.1, 0.9, decay)\n", 0),
        ("decay = 1e-6\ndecay = True\nSGD(0.1, 0.9, decay)\n", 0),
        ("decay, other = 1e-6, 1\nSGD(0.1, 0.9, decay)\n", 0),
        ("fast = True\nSGD(0.1, 0.9, fast)\n", 0),
    ],
)
def test_a_name_with_one_literal_says_what_is_meant(source, count):
    assert len(findings(SGD + source)) == count
    assert findings(SGD + source) == findings(SGD + source, gated=False)
