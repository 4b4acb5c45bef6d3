"""KD401: a decay becomes a schedule safely only where nothing else can set the rate."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

HEAD = "import keras\nfrom keras.optimizers import SGD\nfrom other import make, tune, unknown\n\n"
MADE = "opt = SGD(0.1, decay=0.5)\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
COMPILED = f"{MADE}model.compile(opt, 'mse')\n"
FIT = "model.fit(x, y)\n"


BUILDER = (
    "def built(units):\n    model = keras.Sequential([keras.layers.Dense(units)])\n"
    "    model.compile(SGD(0.1, decay=0.5), 'mse')\n    return model\n\n"
)


def applicability(source: str) -> Applicability:
    result = scan(["-"], stdin=(HEAD + source).encode(), target="keras==3.15.1", select=["KD401"])
    (finding,) = result.findings
    assert finding.fix is not None
    return finding.fix.applicability


@pytest.mark.parametrize(
    "source",
    [
        COMPILED + FIT,
        f"{COMPILED}model.fit(x, y, callbacks=None)\n",
        f"{COMPILED}watch = [keras.callbacks.TerminateOnNaN()]\nmodel.fit(x, y, callbacks=watch)\n",
        f"{COMPILED}model.train_on_batch(x, y)\nprint(model.loss)\n{FIT}",
        f"{BUILDER}model = built(3)\n{FIT}print(model.predict(x))\n",
        f"{BUILDER}def main():\n    made = built(3)\n    made.fit(x, y)\n\nmain()\nbuilt(4)\n",
        f"{BUILDER}def twice():\n    one = built(3)\n    return one\n\nmodel = twice()\n{FIT}",
    ],
)
def test_it_is_safe_where_all_is_seen(source: str) -> None:
    assert applicability(source) is Applicability.SAFE


@pytest.mark.parametrize(
    "source",
    [
        COMPILED,
        f"{COMPILED}tune(opt)\n{FIT}",
        f"{COMPILED}tune(model)\n{FIT}",
        f"{COMPILED}tune(model.optimizer)\n{FIT}",
        f"{COMPILED}keras.callbacks.CallbackList([], model=model)\n{FIT}",
        (
            f"{MADE.replace('SGD(0.1, decay=0.5)', 'make(SGD(0.1, decay=0.5))')}"
            f"model.compile(opt, 'mse')\n{FIT}"
        ),
        f"{BUILDER}model = built(3)\n",
        f"{BUILDER}model = built(3)\ntune(model)\n{FIT}",
        f"{BUILDER}model = built(3)\n{FIT}tune(built)\n",
        f"{BUILDER}model = built(3)\n{FIT}tune(built(4))\n",
        f"{BUILDER}model = built(3)\n{FIT}class Kept:\n    model = built(4)\nself.m = built(5)\n",
        f"{BUILDER.replace('def', '@tune' + chr(10) + 'def', 1)}model = built(3)\n{FIT}",
        f"{COMPILED}model.fit(x, y, **options)\n",
        f"{COMPILED}model.fit(x, y, 1, 1, 1, [unknown()])\n",
        f"{COMPILED}model.fit(x, y, callbacks=unknown)\n",
        f"{COMPILED}watch = []\ntune(watch)\nmodel.fit(x, y, callbacks=watch)\n",
        f"{COMPILED}watch = []\nwatch.append(unknown())\nmodel.fit(x, y, callbacks=watch)\n",
        f"{COMPILED}class Mine(unknown): pass\nmodel.fit(x, y, callbacks=[Mine()])\n",
        (
            f"{COMPILED}class Mine(keras.callbacks.Callback):\n    def on_epoch_end(self, *a):\n"
            "        tune(self.model)\n\nmodel.fit(x, y, callbacks=[Mine()])\n"
        ),
    ],
)
def test_it_is_not_where_somebody_may_set_the_rate(source: str) -> None:
    assert applicability(source) is Applicability.UNSAFE


TRAINS = "model.fit(1, 2, callbacks=[keras.callbacks.LearningRateScheduler(print)])\n"


@pytest.mark.parametrize(
    ("source", "other"),
    [
        (COMPILED + FIT, "from mine import model\n"),
        (COMPILED + FIT, "from mine import *\n"),
        (f"{BUILDER}model = built(3)\n{FIT}", "import mine\nmodel = mine.built(4)\n"),
    ],
)
def test_it_is_not_where_another_file_trains(tmp_path: Path, source: str, other: str) -> None:
    (tmp_path / "mine.py").write_text(HEAD + source)
    for text, is_safe in (("", True), (f"import keras\n{other}{TRAINS}", False)):
        (tmp_path / "theirs.py").write_text(text)
        (finding,) = scan([tmp_path], target="keras==3.15.1", select=["KD401"]).findings
        assert finding.fix is not None
        assert (finding.fix.applicability is Applicability.SAFE) is is_safe
