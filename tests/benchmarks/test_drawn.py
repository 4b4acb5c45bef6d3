"""Repositories without tests: what is tried, that it is compared, and what is counted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.migration import repairs
from benchmarks.migration.drawn import arguments, figures
from benchmarks.migration.drawn.__main__ import PROGRAM


def right(told: object) -> figures.Outcome:
    return {"ok": True, "told": told}


WRONG: figures.Outcome = {"ok": False, "type": "TypeError", "message": "", "frames": []}


def test_what_is_right_before_and_after_is_counted_by_what_keras_2_gives() -> None:
    keras2 = {"a.py": {"import": right(0), "f": right(["num", 1.0]), "g": WRONG, "h": right(1)}}
    before = {"a.py": {"import": right(0), "f": right(["num", 2.0]), "h": WRONG}}
    safe = {"a.py": {"import": right(0), "f": right(["num", 1.0001]), "h": WRONG}}
    unsafe = {"a.py": {"import": WRONG, "f": right(["num", 1.0]), "h": right(1)}}
    found = figures.figures(keras2, before, safe, unsafe)
    assert (found.keras2, found.before, found.safe, found.unsafe) == (3, 1, 2, 2)
    assert (found.gap, found.cured_safe, found.cured_unsafe, found.lost) == (2, 1, 2, 1)
    (lost,) = figures.left(keras2, before, unsafe)
    assert (lost.tried, lost.lost, lost.got) == ("import", True, WRONG)
    assert figures.summary([found]) == (
        "gap 2, lost 1; safe 50%, mean of 1 50%; unsafe 100%, mean of 1 100%"
    )


def test_of_what_could_not_be_tried_the_error_of_the_import_is_told() -> None:
    keras2 = {"a.py": {"import": right(0), "Mine.fit": right(0)}}
    after = {"a.py": {"import": WRONG}}
    assert [each.got for each in figures.left(keras2, after, after)] == [WRONG, WRONG]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (["trained", [[2]], ["num", 1.0], "random"], ["trained", [[2]], ["num", 3.0], "random"], 1),
        (["trained", [[2]], ["num", 1.0], "random"], ["trained", [[3]], ["num", 1.0], "random"], 0),
        (["trained", [[2]], ["num", 1.0]], ["trained", [[2]], ["num", 3.0]], 0),
        (["num", "nan"], ["num", "nan"], 1),
        (["num", "nan"], ["num", 0.0], 0),
        (["tensor", ["2"], "float32"], ["tensor", ["2"], "int32"], 0),
    ],
)
def test_numbers_are_compared_unless_they_are_drawn(one: object, other: object, alike: int) -> None:
    items = [{"a.py": {"f": right(each)}} for each in (one, other)]
    assert figures.is_right(items[0], items[1], "a.py", "f") is bool(alike)


def test_the_same_arguments_are_tried_each_time() -> None:
    def block(x: object, filters: object, use_bias: object = 0) -> None:
        """Arguments with a default are left alone."""

    tried = list(arguments.recipes(block, "function"))
    assert tried == list(arguments.recipes(block, "function"))
    assert tried[0] == {"x": "sym:img", "filters": "4"}
    assert len({repr(each) for each in tried}) == len(tried)


LAYERS = """
from keras import backend as K
from keras.layers import Dense, Input, Layer
from keras.models import Model
import missing_package
missing_package.begin()


class Scaled(Layer):
    def call(self, x):
        return x * 2.0


def square_loss(y_true, y_pred):
    return K.mean(K.square(y_pred - y_true), axis=-1)


def build_model(input_shape):
    inputs = Input(input_shape)
    return Model(inputs, Dense(3)(inputs))


if __name__ == '__main__':
    build_model((4,)).load_weights('not-there.h5')
"""
NOTEBOOK = {"cells": [{"cell_type": "code", "source": ["%pip install x\n", "import keras\n"]}]}


@pytest.mark.frameworks
def test_a_file_is_imported_called_and_trained_alike_on_both(tmp_path: Path) -> None:
    runs = {}
    for world in ("keras2", "keras3"):
        root = tmp_path / world
        root.mkdir()
        (root / "layers.py").write_text(LAYERS)
        (root / "look.ipynb").write_text(json.dumps(NOTEBOOK))
        known = [str(tmp_path / "keras2.json")] if world == "keras3" else []
        command = [sys.executable, "-m", PROGRAM, world, str(root), f"{root}.json", "9", *known]
        subprocess.run(command, cwd=repairs.HOME, check=True, capture_output=True)
        runs[world] = json.loads(Path(f"{root}.json").read_text())["items"]
    two, three = runs["keras2"], runs["keras3"]
    assert {key for key, each in two["layers.py"].items() if not each["ok"]} == set()
    assert {"Scaled.model", "build_model.train", "square_loss", "__main__"} <= {*two["layers.py"]}
    assert two["look_notebook.py"]["import"]["ok"]
    failed = {each.tried for each in figures.left(two, three, three)}
    assert failed == {"square_loss"}  # `K.mean` is gone; the rest gives the same numbers
