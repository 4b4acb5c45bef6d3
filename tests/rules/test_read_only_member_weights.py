"""KD214: where `self.trainable_weights = […]` says only what Keras finds by itself."""

import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability

CLASS = "import keras\nfrom keras import backend as K\n\n\nclass Mine(keras.layers.{base}):\n{body}"
BUILD = "    def build(self, shape):\n"
W, B = "        self.w = self.add_weight(shape=(3,))\n", "        self.b = self.add_weight()\n"
LISTED = "        self.trainable_weights = [self.w]\n"


def fix_of(body, base="Layer"):
    source = CLASS.format(base=base, body=body).encode()
    found = scan(["-"], stdin=source, select=["KD214"]).findings
    return found[0].fix


def mended(body):
    source = CLASS.format(base="Layer", body=body)
    after = fix(["-"], stdin=source.encode(), select=["KD214"], unsafe=True).files[0].after
    return after.decode().removeprefix(CLASS.format(base="Layer", body=""))


def test_the_line_goes_and_all_else_stays():
    body = BUILD + W + "        # all\n" + LISTED + "        super().build(shape)  # last\n"
    assert mended(body) == body.replace(LISTED, "")
    assert fix_of(body).applicability is Applicability.SAFE


def test_a_tuple_in_init():
    body = (
        "    def __init__(self):\n        super().__init__()\n"
        + W
        + B
        + "        self.trainable_weights = (self.w, self.b)\n"
    )
    assert "trainable_weights" not in mended(body)


def test_variables_of_the_backend_are_weights_once_they_are_mended():
    body = BUILD + "        self.w = K.variable([1.0])\n" + LISTED
    assert fix_of(body).applicability is Applicability.UNSAFE


@pytest.mark.parametrize(
    "body",
    [
        # Not all, not in order, not to be trained.
        BUILD + W + B + LISTED,
        BUILD + W + B + "        self.trainable_weights = [self.b, self.w]\n",
        BUILD + W + B + "        self.trainable_weights = [self.w, self.w]\n",
        BUILD + "        self.w = self.add_weight(trainable=False)\n" + LISTED,
        BUILD + "        self.w = self.add_weight(**given)\n" + LISTED,
        # They are not all made here, nor each time.
        BUILD + W + LISTED + "\n    def more(self):\n" + B,
        BUILD + W + LISTED + B,
        BUILD + "        if shape:\n    " + W + LISTED,
        BUILD + "        self.w = keras.initializers.Zeros()((3,))\n" + LISTED,
        BUILD + "        self.trainable_weights = []\n        self.w = keras.layers.Dense(3)\n",
        BUILD + W + "        self.rows = [self.add_weight()]\n" + LISTED,
        BUILD + W + "        self.trainable_weights = [self.w] + self.inner.trainable_weights\n",
        # The list is used on, and the comment would go.
        BUILD + W + LISTED + "        self.trainable_weights += [self.b]\n",
        BUILD + W + LISTED + "        self.trainable_weights.append(self.b)\n",
        BUILD + W + LISTED.replace("\n", "  # only this\n"),
        BUILD + W + "        self.trainable_weights = self.own = [self.w]\n",
        BUILD + W + "        other = 1; self.trainable_weights = [self.w]\n",
    ],
)
def test_of_these_it_is_not_sure(body):
    assert fix_of(body) is None


def test_what_it_is_made_from_has_weights():
    assert fix_of(BUILD + "        super().build(shape)\n" + W + LISTED, "Dense") is None
