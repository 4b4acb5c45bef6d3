"""``kdoctor verify FILE``: definitions before the fix on Keras 2, after it on Keras 3."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.verify.user.verify_command import FINE, QUIET, kdoctor_cli, verdicts

RIGHT = """
import numpy as np
import keras
import keras.backend as K
from keras.layers import BatchNormalization, Dense, Dropout, Input, Lambda, Layer
from keras.models import Model

SMOOTH = 1.0
RATES = np.random.rand(3)
measured = np.load("never_there.npy")


def overlap(y_true, y_pred, smooth=SMOOTH):
    a, b = K.flatten(y_true), K.flatten(y_pred)
    both = K.sum(a * b)
    return (2.0 * both + smooth) / (K.sum(a) + K.sum(b) + smooth)


def dice_loss(y_true, y_pred):
    return 1.0 - overlap(y_true, y_pred)


def jaccard(y_true, y_pred, smooth=1):
    a, b = K.flatten(y_true), K.flatten(y_pred)
    both = K.sum(a * b)
    return (both + smooth) / (K.sum(a) + K.sum(b) - both + smooth)


def huber(y_true, y_pred, delta=1.0):
    e = y_true - y_pred
    line = delta * K.abs(e) - 0.5 * delta**2
    return K.mean(K.switch(K.abs(e) <= delta, 0.5 * K.square(e), line), axis=-1)


def drawn_at_first(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred), axis=-1) * RATES[0]


def distance(vects):
    x, y = vects
    return K.sqrt(K.maximum(K.sum(K.square(x - y), axis=1, keepdims=True), K.epsilon()))


def jittered(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred + K.random_normal((1,))), axis=-1)


def dropped(x):
    return K.dropout(x, 0.5)


class Attending(Layer):
    def __init__(self, sizes, **kwargs):
        super().__init__(**kwargs)
        self.size = sizes["first"]

    def call(self, x, mask):
        return x * mask[self.size]


def with_pictures(y_true, y_pred):
    import pictures_that_nobody_has

    return pictures_that_nobody_has.mean(y_pred)




class Scale(Layer):
    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(1,), initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        return K.dropout(inputs, 0.0) * self.factor if False else inputs * self.factor

    def compute_output_shape(self, input_shape):
        return input_shape


class Remembering(Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.width = width

    def build(self, input_shape):
        size = (input_shape[-1], self.width)
        self.kept = self.add_weight(name="kept", shape=size, initializer="zeros", trainable=False)
        self.kernel = self.add_weight(name="kernel", shape=size, initializer="random_normal")
        super().build(input_shape)

    def call(self, x):
        self.kept.assign(K.dot(x, self.kernel) + self.kept)
        return self.kept


class GradientClip(Layer):
    def __init__(self, limit, **kwargs):
        super().__init__(**kwargs)
        self.limit = limit

    def call(self, x):
        return x

    def compute_output_shape(self, input_shape):
        return input_shape


class Noisy(Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.dense, self.drop, self.norm = Dense(units), Dropout(0.5), BatchNormalization()

    def call(self, x, training=None):
        return self.norm(self.drop(self.dense(x), training=training), training=training)


def weighted(weight):
    def loss(y_true, y_pred):
        return weight * K.mean(K.square(y_true - y_pred), axis=-1)

    return loss


def squash(x):
    return x * K.sigmoid(x)


def build(units=4):
    image = Input((6,))
    hidden = Dense(units, activation=squash)(image)
    return Model(image, Dense(2)(BatchNormalization()(hidden)))


def by_data(x):
    return K.dot(x, measured)


def old_only(y_true, y_pred):
    return K.mean(K.no_such_thing(y_pred))


class OldImages(Layer):
    def call(self, images):
        height, width = images.shape[1:3]
        return K.no_such_resize(images)


model = build(5)
Lambda(distance)
model.compile("sgd", loss=weighted(0.3))
GradientClip(1.0)
model.fit(measured, measured)
"""


BROKEN = """
from keras import backend as K
from steps import nothing

c = open("c")
b = open("b")
a = open("a")


def fine(y_true, y_pred):
    return K.mean(y_pred)


def lacks(y_true, y_pred):
    return K.mean(y_pred) + nothing()


def shows(y_true, y_pred):
    K.mean(y_pred)
    raise ValueError(f"no use for {fine}")


def three(y_true, y_pred):
    return K.mean(y_pred) + len(b.read() + c.read() + a.read())
"""


BRANCHES = """import keras
from keras import backend as K

if keras.__version__ > "2":
    def guarded(y_true, y_pred):
        return K.mean(y_true - y_pred)

try:
    pass
finally:
    def tried(y_true, y_pred):
        return K.sum(y_true - y_pred)

if keras.__version__.startswith("2."):
    def of_two(y_true, y_pred):
        return K.max(y_pred)

if __name__ == "__main__":
    def of_main(y_true, y_pred):
        return K.min(y_pred)
"""


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    pytest.importorskip("tf_keras")
    path = tmp_path_factory.mktemp("right") / "train.py"
    path.write_text(RIGHT)
    ran = kdoctor_cli("verify", path, "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert path.read_text() == RIGHT
    assert [each.name for each in path.parent.iterdir()] == ["train.py"]
    return verdicts(ran)


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("overlap", "loss or metric"),
        ("dice_loss", "loss or metric"),
        ("jaccard", "loss or metric"),
        ("huber", "loss or metric"),
        ("drawn_at_first", "loss or metric"),
        ("weighted", "maker of a loss or metric"),
        ("distance", "function of a tensor"),
        ("squash", "function of a tensor"),
        ("Scale", "layer"),
        ("Noisy", "layer"),
        ("build", "model builder"),
    ],
)
def test_right_fixes_are_equal(right, name, kind):
    assert right[name]["state"] == "equal", right[name]
    assert right[name]["kind"] == kind
    assert right[name]["cases"] > 0
    assert right[name]["largest"] <= 1e-4
    assert right[name]["share"] <= 1


@pytest.mark.frameworks
def test_random_differences_are_not_blamed_on_the_fix(right):
    assert right["jittered"]["state"] == "not tried", right["jittered"]
    assert "its value is random" in right["jittered"]["why"]
    assert right["dropped"]["state"] == "equal", right["dropped"]
    assert right["dropped"]["notes"] == ["random values are compared by their distribution"]
    assert right["squash"]["notes"] == []


@pytest.mark.frameworks
def test_a_definition_that_needs_the_running_program_is_not_tried(right):
    assert right["by_data"]["state"] == "not tried"
    assert "np.load()" in right["by_data"]["why"]


@pytest.mark.frameworks
def test_unknown_arguments_are_not_blamed_on_keras_2(right):
    assert right["Attending"]["state"] == "not tried", right["Attending"]
    assert "with those it tried it raises TypeError: 'int' object" in right["Attending"]["why"]


@pytest.mark.frameworks
def test_a_missing_package_is_named_with_the_remedy(right):
    assert right["with_pictures"]["state"] == "not tried", right["with_pictures"]
    assert (
        f"it needs pictures_that_nobody_has, which {sys.executable}"
        in right["with_pictures"]["why"]
    )
    assert "--python" in right["with_pictures"]["why"]


@pytest.mark.frameworks
def test_code_that_never_ran_on_keras_2_is_reported_with_its_error(right):
    assert right["old_only"]["state"] == "cannot be run on Keras 2"
    assert "no_such_thing" in right["old_only"]["why"]
    # Other inputs, which it does not take, came before the one that shows it.
    assert right["OldImages"]["state"] == "cannot be run on Keras 2"
    assert "no attribute 'no_such_resize'" in right["OldImages"]["why"]


@pytest.mark.frameworks
def test_layers_that_do_not_do_what_their_name_says_get_a_hint(right):
    assert right["Remembering"]["state"] == "equal"
    assert "kdoctor reference RunningSum" in right["Remembering"]["hints"][0]
    assert "kdoctor reference GradientClipping" in right["GradientClip"]["hints"][0]
    assert right["Scale"]["hints"] == []
    assert right["dice_loss"]["hints"] == []
    assert "dice() in the reference" in right["dice_loss"]["notes"][0]


@pytest.mark.frameworks
def test_only_user_code_finds_private_names_of_tf_keras():
    pytest.importorskip("tf_keras")
    program = (
        "from kdoctor.verify.keras_2 import keras_2\n"
        "for with_all in (True, False):\n"
        "    with keras_2(with_all=with_all):\n"
        "        from keras.layers import merge\n"
        "        from keras.utils import conv_utils\n"
        "        print(hasattr(merge, '_Merge'), hasattr(conv_utils, 'normalize_tuple'))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | QUIET,
    )
    assert ran.stdout.split() == ["True", "True", "False", "False"]


def test_a_python_without_tensorflow_is_one_sentence(tmp_path):
    (tmp_path / "fine.py").write_text(FINE)
    bare = subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True
    )
    assert bare.returncode == 0
    ran = kdoctor_cli("verify", tmp_path / "fine.py", "--python", tmp_path / "bare")
    assert ran.returncode == 2
    assert "has no TensorFlow" in ran.stderr
    assert "pip install" in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


@pytest.mark.frameworks
def test_the_report_depends_on_no_hash_no_random_name_and_no_number_of_processes(tmp_path):
    pytest.importorskip("tf_keras")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "steps.py").write_text("import keras\n\n\ndef other():\n    pass\n")
    (tmp_path / "broken.py").write_text(BROKEN)
    given = ("verify", "broken.py", "fine.py", "--json")
    (tmp_path / "fine.py").write_text(FINE)
    ran = [
        kdoctor_cli(*given, "--jobs", jobs, folder=tmp_path, PYTHONHASHSEED=jobs)
        for jobs in ("1", "3")
    ]
    assert ran[0].stdout == ran[1].stdout
    found = verdicts(ran[0])
    assert found["lacks"]["why"] == (
        "ImportError: cannot import name 'nothing' from 'steps' (steps.py)"
    )
    assert found["shows"]["why"].endswith("it raises ValueError: no use for <function fine>")
    assert found["three"]["why"] == (
        "it needs a: open() reads, writes, trains or uses the network (line 7)"
    )
    assert found["fine"]["state"] == "equal"


def test_standard_input_is_rejected_without_suggesting_it():
    ran = kdoctor_cli("verify", "-")
    assert ran.returncode == 2
    assert ran.stderr.strip() == (
        "kdoctor: verify reads files and folders, not standard input: name a file"
    )


@pytest.mark.frameworks
def test_definitions_in_a_branch_are_tried_if_it_is_taken(tmp_path):
    pytest.importorskip("tf_keras")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "branches.py").write_text(BRANCHES)
    ran = kdoctor_cli("verify", "branches.py", "--json", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    found = verdicts(ran)
    assert found["guarded"]["state"] == found["tried"]["state"] == "equal"
    assert (found["guarded"]["line"], found["tried"]["line"]) == (5, 11)
    told = {name: found[name]["why"] for name in ("of_two", "of_main")}
    assert found["of_two"]["state"] == found["of_main"]["state"] == "not tried"
    assert told == {
        "of_two": "its branch of an `if` or `try` is not taken on Keras 3",
        "of_main": "its branch of an `if` or `try` is not taken on Keras 2",
    }
