"""Write the models of the matrix: runs under each Keras that writes, on Python 3.7 and later.

    python writing.py MODULE FOLDER ONE_IN [NAMES]

``MODULE`` is ``keras``, ``tf_keras`` or ``tensorflow``. One in ``ONE_IN`` models is written, the
same by each release; ``NAMES``, with commas, are written instead. What a release cannot make or
save is said in ``FOLDER/not-written.json``.
"""

import importlib
import json
import os
import sys
import warnings
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from tools.model_files import models

TOGETHER = 50  # models, until a session is cleared: it takes longer than a model
ENDINGS = ("h5", "keras")
WEIGHTS = ("only.h5", "weights.h5")  # of weights alone: as Keras 2 has them, and as Keras 3


def main(module, folder, one_in, names):
    """Write each model in each format that the release has."""
    warnings.simplefilter("ignore")
    keras = importlib.import_module(module)
    if module == "tensorflow":
        keras = keras.keras
    os.makedirs(folder, exist_ok=True)
    lost = {}
    for number, (name, make) in enumerate(models.models(keras)):
        if name not in names if names else zlib.crc32(name.encode()) % one_in:
            continue
        try:
            model = make()
        except Exception as error:  # noqa: BLE001 - whatever a release cannot make
            lost[name] = type(error).__name__
            continue
        for ending in ENDINGS:
            path = os.path.join(folder, name + "." + ending)
            try:
                model.save(path)
            except Exception as error:  # noqa: BLE001
                lost[name + "." + ending] = type(error).__name__
                if os.path.exists(path):
                    os.remove(path)
        write_weights(model, os.path.join(folder, name), lost)
        if not number % TOGETHER:
            keras.backend.clear_session()
    with open(os.path.join(folder, "not-written.json"), "w") as file:
        json.dump({"keras": getattr(keras, "__version__", "?"), "lost": lost}, file)


def write_weights(model, path, lost):
    """Write the weights of a model alone, each with values of its own: zeros tell no place."""
    rng = np.random.RandomState(len(path))
    try:
        model.set_weights([_drawn(rng, each) for each in model.get_weights()])
    except Exception as error:  # noqa: BLE001 - a table is no array
        lost[os.path.basename(path) + ".weights"] = type(error).__name__
        return
    for ending in WEIGHTS:
        try:
            model.save_weights(path + "." + ending)
        except Exception as error:  # noqa: BLE001
            lost[os.path.basename(path) + "." + ending] = type(error).__name__
            if os.path.exists(path + "." + ending):
                os.remove(path + "." + ending)


def _drawn(rng, weight):
    if weight.dtype.kind != "f":
        return weight
    return (rng.rand(*weight.shape) + 0.5).astype(weight.dtype)


if __name__ == "__main__":
    main(*sys.argv[1:3], int(sys.argv[3]), set(filter(None, "".join(sys.argv[4:]).split(","))))
