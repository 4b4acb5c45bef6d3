"""The user's Markdown documents: what raises on Keras 3.15 is reported once, and nothing else.

The documents stand beside a checkout (``../shared/seeds``) and are not part of the repository.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from kdoctor.engine import scan

SEEDS = Path(os.environ.get("KDOCTOR_SEEDS", Path(__file__).parents[3] / "shared" / "seeds"))
pytestmark = pytest.mark.skipif(
    not SEEDS.is_dir(),
    reason=f"optional: the user's documents are no part of the repository, and not at {SEEDS}",
)

TARGET = "keras==3.15.1"
EAGER = "'tensorflow.python.framework.ops.EagerTensor'"
SEGMENTATION_MODELS = "AttributeError: module 'keras.utils' has no attribute 'generic_utils'"


def gone(name: str) -> tuple[str, str]:
    """A function of keras.backend: the error, and code that meets it."""
    error = f"AttributeError: module 'keras.backend' has no attribute '{name}'"
    return error, f"import keras; keras.backend.{name}"


# (document, line, column): the error, and the least code that meets it.
RAISES = {
    ("000", 30, 5): gone("constant"),
    ("000", 31, 5): gone("constant"),
    ("000", 32, 5): gone("dot"),
    ("000", 35, 7): gone("eval"),
    ("000", 38, 9): gone("unique_object_name"),
    ("000", 69, 9): (
        "AttributeError: 'KerasTensor' object has no attribute 'unique_object_name'",
        """import keras; layer = keras.layers.Dense(2); layer(keras.Input((3,)))
layer.output.unique_object_name""",
    ),
    ("000", 98, 18): gone("dot"),
    # The layer of the document is never built; once it is, its weight has no such attribute.
    ("000", 109, 9): (
        "AttributeError: 'Variable' object has no attribute 'unique_object_name'",
        """import keras; layer = keras.layers.Dense(2); layer.build((None, 3))
layer.kernel.unique_object_name""",
    ),
    ("001", 21, 1): (SEGMENTATION_MODELS, "import segmentation_models"),
    ("001", 57, 1): (SEGMENTATION_MODELS, "import segmentation_models"),
    ("001", 91, 1): (SEGMENTATION_MODELS, "import segmentation_models"),
    ("002", 34, 16): gone("relu"),
    ("002", 34, 41): gone("sigmoid"),
    ("002", 71, 26): gone("clip"),
    ("002", 76, 33): (
        "ImportError: cannot import name 'Input' from 'keras.models'",
        "from keras.models import Input",
    ),
    ("002", 95, 16): gone("mean"),
    ("002", 98, 22): gone("clip"),
    ("002", 122, 27): gone("dot"),
    ("003", 36, 11): (
        f"AttributeError: {EAGER} object has no attribute '_keras_history'",
        "import tensorflow as tf; tf.random.normal((10, 784))._keras_history",
    ),
    ("003", 98, 1): (
        "TypeError: cannot unpack non-iterable float object",
        """import keras; model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile('sgd', 'mse'); x = keras.ops.ones((4, 2))
loss, accuracy = model.evaluate(x, x[:, :1])""",
    ),
}

# What runs and is worth telling all the same.
_BACKEND_OF_TENSORFLOW = ((25, 16), (26, 16), (27, 20), (28, 44), (28, 62))
_AND_AGAIN = ((62, 16), (63, 16), (64, 20), (65, 13), (65, 31))
RUNS = {
    **{("001", *at): ("KD121", "legacy") for at in (*_BACKEND_OF_TENSORFLOW, *_AND_AGAIN)},
    ("002", 43, 21): ("KD301", "legacy"),
    ("002", 43, 40): ("KD302", "change"),
    ("002", 69, 9): ("KD501", "change"),
    ("003", 23, 47): ("KD301", "legacy"),
    ("003", 66, 11): ("KD203", "legacy"),
    ("003", 83, 47): ("KD301", "legacy"),
}

PROBE = """
import json, sys
met = []
for code in json.load(sys.stdin):
    try:
        exec(code, {})
        met.append(None)
    except Exception as error:
        met.append(f"{type(error).__name__}: {error}")
print("MET" + json.dumps(met))
"""


def findings():
    paths = sorted(SEEDS.glob("00[0-3]_*.txt"))
    assert len(paths) == 4
    result = scan(paths, kind="markdown", target=TARGET)
    assert not result.unreadable
    return result.findings


def where(finding) -> tuple[str, int, int]:
    return Path(finding.place.path).name[:3], finding.place.line, finding.place.column


def test_each_name_that_raises_is_reported_once_at_its_place_with_the_real_error() -> None:
    errors = [each for each in findings() if each.severity == "error"]
    places = Counter(map(where, errors))
    assert places == Counter(RAISES.keys())
    for finding in errors:
        error, _ = RAISES[where(finding)]
        assert error in finding.message


def test_what_runs_is_not_called_an_error() -> None:
    others = {
        where(each): (each.code, str(each.severity))
        for each in findings()
        if each.severity != "error"
    }
    assert others == RUNS


def test_on_keras_2_nothing_of_keras_3_is_reported() -> None:
    paths = sorted(SEEDS.glob("00[0-3]_*.txt"))
    result = scan(paths, kind="markdown", target="keras==2.15")
    errors = {where(each) for each in result.findings if each.severity == "error"}
    # There is no keras.backend.unique_object_name in 2.15 either, nor `Input` in keras.models.
    assert {place for place in errors if place in RAISES} == errors
    assert not errors & {("000", 30, 5), ("002", 34, 16), ("002", 122, 27)}


@pytest.mark.frameworks
def test_the_errors_are_those_that_keras_really_raises() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        input=json.dumps([code for _, code in RAISES.values()]),
        capture_output=True,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if k != "SM_FRAMEWORK"}
        | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    line = next((x for x in done.stdout.splitlines() if x.startswith("MET")), None)
    assert line, done.stderr[-4000:]
    for (error, code), met in zip(RAISES.values(), json.loads(line[3:]), strict=True):
        if met == "ModuleNotFoundError: No module named 'segmentation_models'":
            continue  # an optional part of the environment
        assert met is not None, code
        assert met.startswith(error), code
