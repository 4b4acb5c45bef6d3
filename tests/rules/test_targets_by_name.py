"""KD451 beyond the rule's examples: who feeds the model, and what else the dict may be for."""

import pytest

from kdoctor.engine import fix, scan

MODEL = (
    "import keras\nimport numpy as np\n\nx = keras.Input((2,))\n"
    "y = keras.layers.Lambda(lambda z: z, output_shape=(2,), name='ctc')(x)\n"
    "model = keras.Model(inputs=[x], outputs=y)\n"
    "model.compile('sgd', loss={'ctc': lambda y_true, y_pred: y_pred})\n"
)


def findings(source, target=None):
    return scan(["-"], stdin=source.encode(), select=["KD451"], target=target).findings


def mended(source):
    result = fix(["-"], stdin=source.encode(), select=["KD451"], unsafe=True)
    return result.files[0].after.decode() if result.files else source


def test_a_method_of_an_object_feeds_the_model():
    source = MODEL + (
        "\n\nclass Images:\n    def batches(self):\n        while True:\n"
        "            outputs = {'ctc': np.zeros((4, 2))}\n            yield (self.some(), outputs)\n"
        "\n\nimages = Images()\n"
        "model.fit_generator(generator=images.batches(), validation_data=images.batches())\n"
    )
    assert len(findings(source)) == 1
    assert "yield (self.some(), outputs['ctc'])" in mended(source)


def test_a_batch_that_a_method_makes():
    source = MODEL + (
        "\n\nclass Batches(keras.utils.PyDataset):\n    def __getitem__(self, index):\n"
        "        return self.named(1, 2)\n\n    def named(self, x, y):\n"
        "        return {'x': x}, {'ctc': y}\n\n\nmodel.fit(Batches())\n"
    )
    assert len(findings(source)) == 1
    assert "return {'x': x}, y" in mended(source)


def test_before_3_8_the_name_was_looked_up():
    source = MODEL + "model.fit(1, {'ctc': 2})\n"
    assert findings(source, "keras==3.8.0")
    assert not findings(source, "keras==3.7.0")


@pytest.mark.parametrize(
    "use",
    [
        "model.predict({'x': 1})\n",
        "model.fit(1, {**kept})\n",
        "model.fit(1, {name: 2 for name in names})\n",
        "model.fit(*given, y={'ctc': 2})\n",
        "model.fit(1, {'ctc': 2}, **others)\n",
        "if keras.__version__ < '3':\n    model.fit(1, {'ctc': 2})\n",
        "model.fit = other\nmodel.fit(1, {'ctc': 2})\n",
        "\n\ndef batches():\n    yield 1, {'ctc': 2}\n\n\nmodel.predict(batches())\n",
        "\n\ndef batches():\n    yield {'x': 1}\n\n\nmodel.fit(batches())\n",
    ],
)
def test_of_these_nothing_is_known(use):
    assert not findings(MODEL + use)


def test_no_comment_is_lost():
    source = MODEL + "model.fit(1, {\n    'ctc': 2,  # of each image\n})\n"
    (found,) = findings(source)
    assert found.no_fix_because == "there is a comment in the dict"
    assert mended(source) == source


def test_a_name_that_is_not_written_out():
    named = MODEL + "targets = {model.output_names[0]: 2}\nmodel.fit(1, targets)\n"
    assert findings(named)[0].no_fix_because == "the name of the output is not a literal"
    direct = MODEL + "model.fit(1, {model.output_names[0]: 2})\n"
    assert mended(direct).endswith("model.fit(1, 2)\n")


def test_a_model_of_ones_own_may_do_it_in_another_way():
    source = (
        "import keras\n\n\nclass Own(keras.Model):\n    def train_step(self, data):\n"
        "        return {}\n\n\nx = keras.Input((2,))\nmodel = Own(x, keras.layers.Dense(1)(x))\n"
        "model.compile('sgd', loss='mse')\nmodel.fit(1, {'out': 2})\n"
    )
    assert not findings(source)
