"""``kdoctor verify FILE``: definitions before the fix on Keras 2, after it on Keras 3."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

import pytest

QUIET = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
UNHEARD = {"VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS", "NO_COLOR", "FORCE_COLOR"}

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

DIFFERENT = """
import keras
from keras import backend as K

def third(y_true, y_pred):
    axis = -1 if keras.__version__.startswith("2") else 0
    return K.mean(K.square(y_true - y_pred), axis=axis)

def network():
    first = keras.Input((5,))
    start = 0.1 if keras.__version__.startswith("2") else 0.7
    hidden = keras.layers.Dense(4, name="one")(first)
    hidden = keras.layers.LeakyReLU(start, name="two")(hidden)
    return keras.Model(first, keras.layers.Dense(1, name="three")(hidden))
"""
FINE = """
from keras import backend as K

def fine(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred), axis=-1)
"""
HOSTILE = """
import os
import re
import subprocess
import sys
import time
import tensorflow as tf
from keras import backend as K

def loops(y_true, y_pred):
    while True:
        pass

def leaves(y_true, y_pred):
    sys.exit(0)

def vanishes(y_true, y_pred):
    os._exit(0)

def forks(y_true, y_pred):
    os.fork()
    return K.mean(y_pred)

def starts(y_true, y_pred):
    subprocess.Popen(["sleep", "987654"])
    return K.mean(y_pred)

def writes(y_true, y_pred):
    open(MINE, "w").write("lost")
    return K.mean(y_pred)

def writes_in_c(y_true, y_pred):
    tf.io.write_file(MINE, "lost")
    return K.mean(y_pred)

def writes_beside_it(y_true, y_pred):
    open("here.txt", "w").write("in the scratch folder")
    return K.mean(y_pred)

def eats(y_true, y_pred):
    kept = []
    while True:
        kept.append(os.urandom(1 << 26) * 4)

def goes_on(y_true, y_pred):
    return K.mean(y_pred)
"""

ENDLESS = """
from keras import backend as K


def first(y_true, y_pred):
    while True:
        K.mean(y_pred)


def second(y_true, y_pred):
    while True:
        K.mean(y_pred)
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


def kdoctor_cli(*arguments, folder=None, **settings):
    environment = {key: value for key, value in os.environ.items() if key not in UNHEARD}
    return subprocess.run(
        [sys.executable, "-m", "kdoctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=580,
        check=False,
        cwd=folder,
        env=environment | QUIET | settings,
    )


def verdicts(ran):
    assert ran.stdout, ran.stderr
    return {each["name"]: each for each in json.loads(ran.stdout)["definitions"]}


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
    assert right["dropped"]["notes"] == [
        "random values are compared by mean, variance and share of zeros"
    ]
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


@pytest.mark.frameworks
def test_only_files_that_verify_are_written(tmp_path):
    pytest.importorskip("tf_keras")
    (tmp_path / "different.py").write_text(DIFFERENT)
    (tmp_path / "fine.py").write_text(FINE)
    ran = kdoctor_cli("fix", "--apply", "--verify", ".", folder=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert (tmp_path / "different.py").read_text() == DIFFERENT
    assert "different.py: not written: not the same after the fix: third" in ran.stderr
    assert "ops.mean(" in (tmp_path / "fine.py").read_text()
    assert "network (model builder): different in layer two" in ran.stderr
    assert "on Keras 2" in ran.stderr
    assert re.search(r"Run with tensorflow [\d.]+, tf_keras [\d.]+ and tensorflow", ran.stderr)


PARTS = """
import numpy as np
from keras import backend as K
from keras.layers.core import Dense
from keras.models import Sequential


def loss(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred))


def read(path):
    data = np.load(path)
    return K.sum(data)


def helper(x):
    return K.sum(x, axis=-1)


def metric(y_true, y_pred):
    return helper(K.abs(y_true - y_pred))


print(K.int_shape(Sequential([Dense(3)]).output))
"""
BESIDE = """
from keras import backend as K


def total(x):
    return K.sum(x, axis=-1)
"""
USES = """
from keras import backend as K
from beside import total


def far(y_true, y_pred):
    return total(K.abs(y_true - y_pred))


def near(y_true, y_pred):
    return K.mean(K.abs(y_true - y_pred))
"""
HALF = """
from keras import backend as K


def half(x, mode="plain"):
    if mode == "summed":
        return K.sum(x)
    return K.square(x)
"""


@pytest.mark.frameworks
def test_only_fixes_that_ran_and_were_equal_are_written_and_the_rest_is_named(tmp_path):
    pytest.importorskip("tf_keras")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}] * 2
    cells[0] = {**cells[0], "source": ["from keras import backend as K\n", "print(K.sum([1.0]))"]}
    cells[1] = {**cells[1], "source": USES.partition("def near")[1:][1].splitlines(keepends=True)}
    cells[1]["source"][0] = "def near" + cells[1]["source"][0]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for name, text in (("parts", PARTS), ("uses", USES), ("beside", BESIDE), ("half", HALF)):
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "book.ipynb").write_text(json.dumps(notebook))
    ran = kdoctor_cli(
        *("fix", "--apply", "--verify", "parts.py", "uses.py", "book.ipynb", "half.py"),
        folder=tmp_path,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    parts = (tmp_path / "parts.py").read_text()
    assert "ops.mean(ops.square(y_true - y_pred))" in parts
    assert "return ops.sum(x, axis=-1)" in parts
    assert "return helper(ops.abs(y_true - y_pred))" in parts
    assert "    return K.sum(data)\n" in parts
    assert "from keras.layers.core import Dense\n" in parts
    assert "print(K.int_shape(" in parts
    assert "from keras import backend as K\nfrom keras import ops\n" in parts
    assert "parts.py: partly fixed: " in ran.stderr
    assert "read (not tried), lines 4, 25 (outside of what was verified)" in ran.stderr
    # What ran was `far` with a fixed `total`, and beside.py is not among the paths.
    uses = (tmp_path / "uses.py").read_text()
    assert "return total(K.abs(y_true - y_pred))" in uses
    assert "return ops.mean(ops.abs(y_true - y_pred))" in uses
    assert (
        "uses.py: partly fixed: 1 of 3 fixes left out: far (needs a fix that is left out)"
        in ran.stderr
    )
    assert (tmp_path / "beside.py").read_text() == BESIDE
    # Its other branch ran, and was equal.
    assert (tmp_path / "half.py").read_text() == HALF
    assert "half (line 7 of the fixed code did not run)" in ran.stderr
    book = (tmp_path / "book.ipynb").read_text()
    assert "print(K.sum([1.0]))" in book
    assert "return ops.mean(ops.abs(y_true - y_pred))" in book
    left = kdoctor_cli("scan", "--format", "concise", "parts.py", folder=tmp_path).stdout
    assert re.findall(r"KD\d+", left) == ["KD102", "KD101", "KD101", "KD218"], left


@pytest.mark.frameworks
def test_hostile_code_is_a_verdict_and_leaves_nothing_behind(tmp_path):
    pytest.importorskip("tf_keras")
    mine = tmp_path / "mine.txt"
    mine.write_text("kept")
    path = tmp_path / "hostile.py"
    path.write_text(HOSTILE.replace("MINE", repr(str(mine))))
    ran = kdoctor_cli("verify", path, "--json", "--seconds", "5", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = verdicts(ran)
    told = {
        "loops": "5 s of CPU time",
        "leaves": "SystemExit",
        "vanishes": "its process exited with code",
        "forks": "start a process",
        "starts": "start a program",
        "writes": "write outside",
        "writes_in_c": "ermission",
        "eats": "memory",
    }
    for name, why in told.items():
        state = "cannot be run on Keras 2" if name == "leaves" else "not tried"
        assert found[name]["state"] == state, found[name]
        # On a machine that is slow to give memory, the time is over first.
        assert why in found[name]["why"] or name == "eats", found[name]
    assert found["writes_beside_it"]["state"] == found["goes_on"]["state"] == "equal"
    assert mine.read_text() == "kept"
    assert {each.name for each in tmp_path.iterdir()} == {"mine.txt", "hostile.py"}
    running = subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True, check=True)
    assert "987654" not in running.stdout


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


@pytest.mark.frameworks
def test_on_a_signal_it_deletes_its_folder_and_ends_its_processes(tmp_path):
    pytest.importorskip("tf_keras")
    path, room = tmp_path / "endless.py", tmp_path / "room"
    path.write_text(ENDLESS)
    room.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "kdoctor", "verify", str(path), "--jobs", "2"],
        env={**os.environ, **QUIET, "TMPDIR": str(room)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + 100
    while len(list(room.glob("kdoctor-*/keras_2-[01]"))) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    running.terminate()
    said = running.communicate(timeout=60)
    assert running.returncode == 143, said
    assert list(room.iterdir()) == []
    processes = subprocess.run(
        ["ps", "ax", "-o", "args"], capture_output=True, text=True, check=True
    )
    assert str(room) not in processes.stdout


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
