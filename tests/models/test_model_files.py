"""Files that Keras 2 and Keras 3 write here, drawn anew each time: the verdict is what Keras does.

`make model-files` does it for all of them, by more releases.
"""

import warnings
from functools import cache

import pytest

from kdoctor.keras_api import newest_target
from kdoctor.models import Verdict, explained
from tests.frameworks import keras, tf_keras
from tools.model_files.judging import explanation
from tools.model_files.models import models

TARGET = newest_target()
CASES = 240
WRITERS = {"keras": keras, "tf_keras": tf_keras}


@cache
def names(writer):
    return [name for name, _ in models(WRITERS[writer])]


def written(writer, number, folder):
    """Return the files of a model, in each format in which the release makes and saves it."""
    wanted = names(writer)[number * len(names(writer)) // CASES]
    if explanation(wanted):
        return
    make = next(make for name, make in models(WRITERS[writer]) if name == wanted)
    try:
        model = make()
    except Exception:  # noqa: BLE001 - no tensors are for this layer alone
        return
    for ending in ("h5", "keras"):
        path = folder / f"{wanted}.{ending}"
        try:
            model.save(path)
        except Exception:  # noqa: BLE001, S112
            continue
        yield path


def error_of(path, **given):
    try:
        keras.models.load_model(path, **given)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.frameworks
@pytest.mark.sampled(40)
@pytest.mark.parametrize("number", range(CASES))
@pytest.mark.parametrize("writer", WRITERS)
def test_the_verdict_is_what_keras_does(writer, number, tmp_path):
    warnings.simplefilter("ignore")
    for path in written(writer, number, tmp_path):
        found = explained(path, TARGET)
        error = error_of(path)
        said = [f"{each.place}: {each.cause}" for each in found.obstacles]
        assert (found.verdict is not Verdict.LOADS) is bool(error), (path.name, error, said)
        if found.arguments and "custom_objects" not in found.arguments:
            given = dict.fromkeys(found.arguments, False)
            loaded = not error_of(path, **given)
            assert loaded is (found.verdict is Verdict.LOADS_WITH), (path.name, said)
