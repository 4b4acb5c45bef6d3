"""KD4 beyond the rules' examples: near misses, and hand-written lists held against Keras."""

import inspect

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.engine import fix, scan
from kdoctor.keras_api import newest_target, tables
from kdoctor.rules.behaviour.default_changed import MATTERS, SAME, changed_defaults
from kdoctor.rules.behaviour.monitor_without_mode import KNOWN, keras_2_mode
from kdoctor.rules.behaviour.training_in_the_graph import DIFFER_IN_TRAINING


def findings(source: str, code: str, target: str | None = None):
    return scan(["-"], stdin=source.encode(), select=[code], target=target).findings


def mended(source: str, code: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=[code], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


DECAY = "import keras\nrate = keras.optimizers.schedules.CosineDecay(0.1, 10)\n"


def test_a_rate_that_is_a_schedule_already_is_left_to_the_user() -> None:
    (found,) = findings(f"{DECAY}keras.optimizers.SGD(rate, decay=0.1)", "KD401")
    assert found.fix is None
    assert "already a schedule" in found.no_fix_because


def test_a_decay_with_a_comment_keeps_it() -> None:
    source = "import keras\nkeras.optimizers.SGD(\n    0.1,\n    decay=0.1,  # tuned\n)\n"
    assert "# tuned" in mended(source, "KD401")


def test_the_old_name_of_the_rate_keeps_its_keyword() -> None:
    source = "import keras\nkeras.optimizers.SGD(lr=0.1, decay=0.1)\n"
    wanted = (
        "import keras\nkeras.optimizers.SGD("
        "lr=keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.1))\n"
    )
    assert mended(source, "KD401") == wanted


def test_two_frozen_models_are_thawed_each_for_itself() -> None:
    source = (
        "import keras\na, b = keras.Sequential(), 1\nb = keras.Sequential()\n"
        "b.compile('sgd', 'mse')\nb.trainable = False\nfor _ in range(3):\n\tb.fit(x, y)\n"
    )
    after = mended(source, "KD403")
    assert "\tb.trainable = True\n\tb.fit(x, y)\n\tb.trainable = False\n" in after


def test_a_model_that_is_trained_in_a_condition_is_thawed_there() -> None:
    source = (
        "import keras\nb = keras.Sequential()\nb.compile('sgd', 'mse')\nb.trainable = False\n"
        "if b.fit(x, y):\n    pass\n"
    )
    (found,) = findings(source, "KD403")
    assert found.fix is None


@pytest.mark.parametrize("metrics", ["metrics", "[score]", "['AUC']", "[keras.metrics.AUC()]"])
def test_metrics_that_are_not_all_in_sight_may_have_the_name(metrics: str) -> None:
    source = (
        "import keras\nmodel = keras.Sequential()\n"
        f"model.compile('sgd', 'mse', metrics={metrics})\n"
        "keras.callbacks.EarlyStopping('val_auc')\n"
    )
    assert not findings(source, "KD408")


@pytest.mark.frameworks
def test_the_known_metrics_are_those_of_keras() -> None:
    import keras  # noqa: PLC0415
    from keras.src import metrics  # noqa: PLC0415

    keras.utils.clear_session()  # else the second of a kind is called `…_1`
    made = {name for name in metrics.ALL_OBJECTS_DICT if isinstance(name, str) and name.islower()}
    for name, cls in inspect.getmembers(keras.metrics, inspect.isclass):
        if issubclass(cls, keras.metrics.Metric) and name not in {"Metric", "MeanMetricWrapper"}:
            made.add(_made(cls).name)
    assert KNOWN - {"acc", "accuracy", "ce", "crossentropy"} <= made
    assert made - {"metric", "mean_metric_wrapper"} <= KNOWN


def _made(cls):
    for arguments in ((), (0.5,), (2,), (2, [0])):
        try:
            return cls(*arguments)
        except (TypeError, ValueError):
            continue
    raise AssertionError(cls)


@pytest.mark.frameworks
@pytest.mark.parametrize("monitor", ["val_acc", "val_auc", "val_dice", "acc_2", "fmeasure"])
@pytest.mark.parametrize("cls", ["EarlyStopping", "ReduceLROnPlateau", "ModelCheckpoint"])
def test_the_old_guess_is_that_of_keras_2(cls: str, monitor: str) -> None:
    import tf_keras  # noqa: PLC0415

    arguments = {"filepath": "x"} if cls == "ModelCheckpoint" else {}
    callback = getattr(tf_keras.callbacks, cls)(monitor=monitor, **arguments)
    more_is_better = bool(callback.monitor_op(2.0, 1.0))
    assert keras_2_mode(cls, monitor) == ("max" if more_is_better else "min")


@pytest.mark.parametrize(
    ("root", "prefix"), [("keras", "keras."), ("tf.keras", "tensorflow.keras.")]
)
def test_every_default_that_changed_is_decided(root: str, prefix: str) -> None:
    facts = TargetFacts(newest_target())
    open_ones = [
        (name, parameter, old, new)
        for name in tables.names_table(root).names
        for parameter, old, new, _ in changed_defaults(facts, f"{prefix}{name}")
        if parameter not in SAME and parameter not in MATTERS.get(name, ())
    ]
    assert open_ones == []


KERAS_2_STILL = "from tensorflow.python import keras\n"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("KD401", "tf.keras.optimizers.SGD(0.1, decay=0.1)"),
        ("KD404", "tf.keras.layers.Activation('hard_sigmoid')"),
        ("KD405", "tf.keras.regularizers.l1_l2()"),
        ("KD407", "tf.keras.optimizers.Adam(epsilon=None)"),
        ("KD408", "tf.keras.callbacks.EarlyStopping('val_dice')"),
        ("KD414", "tf.keras.Sequential([], 'mine')"),
        ("KD417", "tf.keras.callbacks.ReduceLROnPlateau(epsilon=0.1)"),
        ("KD602", "tf.keras.callbacks.ModelCheckpoint('a.hdf5')"),
    ],
)
def test_the_copy_of_keras_2_in_tensorflow_is_left_alone(code: str, line: str) -> None:
    assert not findings(f"{KERAS_2_STILL}{line.removeprefix('tf.')}\n", code)
    for imports in ("import tensorflow as tf", "import tensorflow.compat.v1 as tf"):
        assert findings(f"{imports}\n{line}\n", code)


GAN = """\
from keras.layers import Input, Dense
from keras.models import Sequential, Model
import numpy as np

class GAN():
    def __init__(self):
        self.discriminator = self.build_discriminator()
        self.discriminator.compile(loss='binary_crossentropy', optimizer='adam')
        self.generator = self.build_generator()
        z = Input(shape=(100,))
        img = self.generator(z)
        self.discriminator.trainable = False
        self.combined = Model(z, self.discriminator(img))
        self.combined.compile(loss='binary_crossentropy', optimizer='adam')

    def build_discriminator(self):
        model = Sequential()
        model.add(Dense(1))
        img = Input(shape=(4,))
        return Model(img, model(img))

    def build_generator(self):
        return Sequential([Dense(4)])

    def train(self, epochs):
        for epoch in range(epochs):
            imgs = self.imgs()
            # Train the discriminator
            d_loss_real = self.discriminator.train_on_batch(imgs, valid)
            d_loss_fake = self.discriminator.train_on_batch(gen_imgs, fake)
            d_loss = 0.5 * np.add(d_loss_real, d_loss_fake)
            g_loss = self.combined.train_on_batch(noise, valid)
"""


def test_the_gan_of_every_tutorial_trains_its_discriminator_again() -> None:
    (found,) = findings(GAN, "KD403")
    assert found.severity == "change"
    indent = " " * 12
    assert (
        f"{indent}# Train the discriminator\n"
        f"{indent}self.discriminator.trainable = True\n"
        f"{indent}d_loss_real = self.discriminator.train_on_batch(imgs, valid)\n"
        f"{indent}d_loss_fake = self.discriminator.train_on_batch(gen_imgs, fake)\n"
        f"{indent}self.discriminator.trainable = False\n"
        f"{indent}d_loss = "
    ) in mended(GAN, "KD403")
    assert mended(mended(GAN, "KD403"), "KD403") == mended(GAN, "KD403")


FINE = [
    "keras.optimizers.SGD(0.1, decay=0.1)",
    "keras.callbacks.ReduceLROnPlateau(epsilon=0.1)",
    "model.save('a.h5')",
    "model.save('a.h5', include_optimizer=False)",
    "model.load_weights('a.h5', by_name=True)",
    "model.compile('sgd', 'mse', metrics=['acc'])",
    "model.compile('sgd', loss=lambda a, b: a - b)",
    "keras.layers.Embedding(3, 2, input_length=4)",
    "keras.layers.Embedding(3, 2, weights=[table])",
    "keras.layers.Dense(3, input_shape=(2,))",
    "keras.layers.LSTM(2, implementation=1)",
    "keras.layers.Lambda(lambda x: x)",
    "keras.layers.LeakyReLU(alpha=0.1)",
    "keras.callbacks.ModelCheckpoint('a.h5')",
    "keras.layers.Conv2D(32, 3, 3)",
    "model.output_shape, model.input_shape, model._layers",
]


@pytest.mark.parametrize("line", FINE)
def test_what_still_works_is_no_error(line: str) -> None:
    source = f"import keras\nmodel = keras.Sequential([keras.layers.Dense(1)])\n{line}\n"
    result = scan(["-"], stdin=source.encode(), select=["KD4", "KD6"])
    assert [each for each in result.findings if each.severity == "error"] == []


@pytest.mark.parametrize(
    ("code", "line", "before", "since"),
    [
        ("KD408", "keras.callbacks.ReduceLROnPlateau('val_dice')", "3.10.0", "3.11.3"),
        ("KD408", "keras.callbacks.ModelCheckpoint('a.keras', 'val_dice')", "3.10.0", "3.11.3"),
        (
            "KD608",
            (
                "m = keras.Sequential([keras.layers.Lambda(lambda x: x)])\n"
                "m.save('a.h5')\nkeras.models.load_model('a.h5')"
            ),
            "3.10.0",
            "3.11.3",
        ),
    ],
)
def test_a_release_that_did_not_refuse_it_is_spared(
    code: str, line: str, before: str, since: str
) -> None:
    source = f"import keras\n{line}\n"
    assert not findings(source, code, f"keras=={before}")
    assert findings(source, code, f"keras=={since}")


def test_early_stopping_always_asked() -> None:
    line = "import keras\nkeras.callbacks.EarlyStopping('val_dice')\n"
    assert findings(line, "KD408", "keras==3.0.5")


def test_checkpoints_in_h5_came_back() -> None:
    line = "import keras\nkeras.callbacks.ModelCheckpoint('a.h5')\n"
    assert findings(line, "KD602", "keras==3.7.0")
    assert not findings(line, "KD602", "keras==3.8.0")


@pytest.mark.frameworks
def test_the_layers_that_differ_in_training_are_told_of_it() -> None:
    import keras  # noqa: PLC0415

    for name in DIFFER_IN_TRAINING:
        assert "training" in inspect.signature(getattr(keras.layers, name).call).parameters


def test_a_prediction_by_batches_is_left_to_the_user() -> None:
    source = (
        "import keras\nx = keras.Input((4,))\ny = keras.layers.Dropout(0.5)(x, training=True)\n"
        "model = keras.Model(x, y)\nmodel.predict(data, batch_size=8)\n"
    )
    (found,) = findings(source, "KD423")
    assert found.fix is None
    assert "predict" in found.no_fix_because


def test_models_of_generated_code_are_not_all_compared():
    """Of a few, each is told; of thousands, the comparison would take minutes."""
    one = (
        "m{0} = keras.Sequential([keras.layers.Dense(1)])\nm{0}.compile('sgd', 'mse')\n"
        "m{0}.trainable = False\nm{0}.fit(x, y)\n"
    )
    few, many = (
        "import keras\n" + "".join(one.format(each) for each in range(count)) for count in (5, 100)
    )
    assert len(findings(few, "KD403")) == 5
    assert not findings(many, "KD403")
