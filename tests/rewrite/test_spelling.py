"""The new name is written with the file's own root, by its aliases, in its habit."""

import subprocess
import sys

import pytest

from kdoctor.keras_api import known_releases, newest_target, oracle
from kdoctor.keras_api.surface import surface_at
from kdoctor.rewrite.spelling import HIDDEN_MODULES, TWINS

SQUARE = ("keras.backend.square(x)", "keras.ops.square(x)")
NORMAL = ("keras.backend.random_normal(shape)", "keras.random.normal(shape)")
VARIABLE = ("keras.backend.variable(value)", "keras.Variable(value)")
COUNT = ("keras.backend.count_params(x)", "math.prod(x.shape)")
FLOATX = ("keras.backend.floatx()", "keras.config.floatx()")
PRINT = ("keras.backend.print_tensor(x)", "tensorflow.print(x)")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from keras import backend as K\nK.square(x)", "from keras import ops\nops.square(x)"),
        (
            "from tensorflow.keras import backend as K\nK.square(x)",
            "from tensorflow.keras import ops\nops.square(x)",
        ),
        ("import keras.backend as K\nK.square(x)", "from keras import ops\nops.square(x)"),
        *(  # any word may be a name of the file then
            (
                f"from keras import backend as K\n{bound}\nK.square(x)",
                f"from keras import ops as keras_ops\n{bound}\nkeras_ops.square(x)",
            )
            for bound in ("vars().update(flags)", "locals()[key] = value")
        ),
        ("import keras\nkeras.backend.square(x)", "import keras\nkeras.ops.square(x)"),
        ("import keras as k\nk.backend.square(x)", "import keras as k\nk.ops.square(x)"),
        (
            "import tensorflow as tf\ntf.keras.backend.square(x)",
            "import tensorflow as tf\ntf.keras.ops.square(x)",
        ),
        (
            "from tensorflow import keras\nkeras.backend.square(x)",
            "from tensorflow import keras\nkeras.ops.square(x)",
        ),
        (
            "import tensorflow.compat.v1 as tf\ntf.keras.backend.square(x)",
            "import tensorflow.compat.v1 as tf\ntf.keras.ops.square(x)",
        ),
        (
            "from tensorflow.compat import v2 as tf\nK = tf.keras.backend\nK.square(x)",
            "from tensorflow.compat import v2 as tf\nK = tf.keras.backend\ntf.keras.ops.square(x)",
        ),
        (
            "from tensorflow.compat.v1 import keras\nkeras.backend.square(x)",
            "from tensorflow.compat.v1 import keras\nkeras.ops.square(x)",
        ),
        ("from keras.backend import square\nsquare(x)", "from keras import ops\nops.square(x)"),
        (
            "from tf_keras import backend as K\nK.square(x)",
            "from tf_keras import ops\nops.square(x)",
        ),
        (
            "from tensorflow.python.keras import backend as K\nK.square(x)",
            "from tensorflow.keras import ops\nops.square(x)",
        ),
        (
            "from keras import backend as K\nimport keras.ops as kops\nK.square(x)",
            "import keras.ops as kops\nkops.square(x)",
        ),
        (
            "from keras import backend as K, ops as o\nK.square(x)",
            "from keras import ops as o\no.square(x)",
        ),
        (
            "from keras.ops import square as sq\nfrom keras import backend as K\nK.square(x)",
            "from keras.ops import square as sq\nsq(x)",
        ),
        (
            "import keras\nKB = keras.backend\nKB.square(x)",
            "import keras\nKB = keras.backend\nkeras.ops.square(x)",
        ),
        (
            "import keras\nfrom keras import backend as K\nK.square(x)",
            "import keras\nfrom keras import ops\nops.square(x)",
        ),
        # Of two packages at hand, the one that is read there already.
        (
            "import tensorflow as tf\nfrom tensorflow import keras\ntf.keras.backend.square(x)",
            "import tensorflow as tf\nfrom tensorflow import keras\ntf.keras.ops.square(x)",
        ),
        (
            "import tensorflow as tf\nfrom tensorflow import keras\nkeras.backend.square(x)",
            "import tensorflow as tf\nfrom tensorflow import keras\nkeras.ops.square(x)",
        ),
        (
            "import tensorflow as tf\nfrom tensorflow.keras import ops\ntf.keras.backend.square(x)",
            "from tensorflow.keras import ops\nops.square(x)",
        ),
    ],
)
def test_root_and_habit_are_kept(fix, before, after):
    assert fix(before + "\n", SQUARE).text == after + "\n"


@pytest.mark.parametrize("package", ["tensorflow.compat.v1", "tensorflow.compat.v2"])
def test_a_package_that_finds_its_keras_out_for_itself_is_not_crossed_into(fix, package):
    before = f"import {package} as tf\nfrom tensorflow.keras import backend as K\nK.floatx()\n"
    after = f"import {package} as tf\nfrom tensorflow.keras import config\nconfig.floatx()\n"
    assert fix(before, FLOATX).text == after


def test_another_root_at_hand_is_not_the_same(fix):
    before = (
        "from keras import ops\nfrom tensorflow.keras import backend as K\nK.square(ops.abs(x))\n"
    )
    after = (
        "from keras import ops\nfrom tensorflow.keras import ops as keras_ops\n"
        "keras_ops.square(ops.abs(x))\n"
    )
    assert fix(before, SQUARE).text == after


def test_a_root_that_may_be_the_private_copy_is_not_used(fix):
    before = (
        "if old:\n    from tensorflow.python import keras as k\n"
        "else:\n    from tensorflow import keras as k\nk.backend.square(x)\n"
    )
    # The branches would say the same.
    after = "from tensorflow.keras import ops\nops.square(x)\n"
    assert fix(before, SQUARE, oracle=oracle(newest_target())).text == after


@pytest.mark.parametrize(
    "taken",
    [
        "ops = 1",
        "import ops",
        "def ops(): ...",
        "def f(ops): return K.square(1)",
        "for ops in x: pass",
    ],
)
def test_a_name_that_is_taken_is_not_taken_again(fix, taken):
    result = fix(f"from keras import backend as K\n{taken}\nK.square(x)\n", SQUARE).text
    assert "from keras import ops as keras_ops\n" in result
    assert "keras_ops.square(x)" in result


def test_an_import_that_is_hidden_is_not_used(fix):
    before = "from keras import ops\nfrom keras import backend as K\ndef f(ops):\n    return K.square(ops)\n"
    assert "keras_ops.square(ops)" in fix(before, SQUARE).text


def test_an_import_of_another_function_is_not_used(fix):
    before = (
        "from keras import backend as K\n"
        "def f():\n    from keras import ops\n    return ops.abs(1)\n"
        "def g():\n    return K.square(1)\n"
    )
    result = fix(before, SQUARE).text
    assert "return keras_ops.square(1)" in result or result.startswith("from keras import ops\n")


def test_a_module_named_like_the_standard_library_gets_another_name(fix):
    before = "from keras import backend as K\nK.random_normal(s)\n"
    after = "from keras import random as keras_random\nkeras_random.normal(s)\n"
    assert fix(before, NORMAL).text == after


def test_other_modules_are_written_out_where_keras_is_at_hand(fix):
    before = "import keras\nfrom keras import backend as K\nK.random_normal(s)\n"
    assert fix(before, NORMAL).text == "import keras\nkeras.random.normal(s)\n"
    before = (
        "import tensorflow as tf\nfrom tensorflow.keras import backend as K\nK.random_normal(s)\n"
    )
    assert fix(before, NORMAL).text == "import tensorflow as tf\ntf.keras.random.normal(s)\n"


def test_a_name_of_the_root_is_imported_or_written_out(fix):
    before = "from keras import backend as K\nv = K.variable(0)\n"
    assert fix(before, VARIABLE).text == "from keras import Variable\nv = Variable(0)\n"
    assert fix(f"import keras\n{before}", VARIABLE).text == "import keras\nv = keras.Variable(0)\n"


def test_other_packages_come_by_their_own_names_and_aliases(fix):
    before = "from keras import backend as K\nn = K.count_params(w)\n"
    assert fix(before, COUNT).text == "import math\nn = math.prod(w.shape)\n"
    assert (
        fix(f"import math as m\n{before}", COUNT).text == "import math as m\nn = m.prod(w.shape)\n"
    )
    before = "import tensorflow as tf\nfrom keras import backend as K\nK.print_tensor(x)\n"
    assert fix(before, PRINT).text == "import tensorflow as tf\ntf.print(x)\n"
    before = "from keras import backend as K\nK.print_tensor(x)\n"
    assert fix(before, PRINT).text == "import tensorflow as tf\ntf.print(x)\n"


@pytest.mark.parametrize("root", ["keras", "tensorflow.keras"])
def test_the_same_object_is_not_imported_again_by_another_name(fix, root):
    row = ("keras.backend.placeholder(shape)", "keras.Input(shape)")
    source = f"from {root}.layers import Dense, Input\nfrom {root} import backend as K\nK.placeholder(1)\n"
    expected = f"from {root}.layers import Dense, Input\nInput(1)\n"
    assert fix(source, row).text == expected


@pytest.mark.parametrize("root", ["keras", "tf.keras"])
def test_twins_are_one_object_in_every_release_of_keras_3(root):
    for release in known_releases(root):
        surface = surface_at(root, release)
        if release.startswith("3."):
            for one, other in TWINS.items():
                homes = [surface.home(surface.entry(each)) for each in (one, other)]
                assert homes[0] == homes[1], (release, one)
                assert homes[0].rpartition(".")[2] == one


def test_what_attribute_access_does_not_reach_is_imported(fix):
    row = ("keras.backend.get_uid(x)", "keras.saving.get_registered_name(x)")
    source = "from tensorflow import keras\nkeras.backend.get_uid(x)\n"
    expected = "from tensorflow.keras import saving\nsaving.get_registered_name(x)\n"
    assert fix(source, row).text == expected
    of_keras = "import keras\nkeras.backend.get_uid(x)\n"
    assert fix(of_keras, row).text == "import keras\nkeras.saving.get_registered_name(x)\n"


@pytest.mark.frameworks
def test_no_other_module_is_hidden():
    code = (
        "import importlib, pkgutil, tensorflow.keras, keras._tf_keras.keras as facade\n"
        "names = [each.name for each in pkgutil.iter_modules(facade.__path__)]\n"
        "print(*sorted(each for each in names if not hasattr(facade, each)))\n"
        "importlib.import_module('tensorflow.keras.saving')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {f"tensorflow.keras.{each}" for each in done.stdout.split()} == HIDDEN_MODULES
