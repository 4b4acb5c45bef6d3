"""What Python says of the user's code is for the user's own runs: a scan is silent about it."""

import warnings
from pathlib import Path

import pytest

import kdoctor

CODE = '''\
import re
from keras import backend as K
from keras.layers import Dense

__all__ = ["loss", "\\d"]


def loss(y_true: "K.\\d", y_pred: "re.Pattern['\\d']"):
    """Say \\d."""
    return K.sum(y_true, axis="\\d")


layer = Dense(1, name="a\\d", activation="\\s")
layer.add_weight(initializer="\\w", dtype="flo\\at")
K.set_image_dim_ordering("\\d")
'''
PAGE = f"```python\n{CODE}```\n\n>>> from keras import backend as K\n>>> K.sum('\\d')\n"


@pytest.fixture(autouse=True)
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(CODE)
    Path("other.py").write_text(
        "from own import loss\nfrom keras import backend as K\nK.sum(loss)\n"
    )
    Path("page.md").write_text(PAGE)
    Path("setup.py").write_text("install_requires = ['keras']\ntext = '\\d'\n")


@pytest.mark.parametrize("command", [kdoctor.scan, kdoctor.fix])
def test_nothing_is_said_of_escapes_that_are_none(command):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        command(["."], jobs=1, gate=False)
        command(["."], jobs=1)
    assert [str(each.message) for each in said] == []
