"""Run scenarios on tensorflow_addons and print what they gave, as JSON.

Runs beside tensorflow_addons, and imports nothing of kdoctor but files of one folder.
"""

import importlib
import inspect
import json
import sys
import types
import typing

import numpy as np
import tensorflow as tf
import tensorflow_addons as tfa


def _found(name):  # noqa: ANN001, ANN202
    rooms = (tfa.activations, tfa.losses, tfa.metrics, tfa.optimizers, tfa.layers, tfa.image)
    rooms = (*rooms, tfa.seq2seq, tfa.text, tfa.rnn, tfa.callbacks, tfa.types)
    return next(getattr(room, name) for room in rooms if hasattr(room, name))


def _as_json(value):  # noqa: ANN001, ANN202
    if isinstance(value, (bool, str, list)):
        return value
    array = np.asarray(value)
    numbers = [float(f"{each:.7g}") for each in array.astype("float64").ravel()]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": numbers}


def _names():  # noqa: ANN202
    """Return the parameters and the file of each public class and function."""
    found = {}
    for room in (
        "activations",
        "callbacks",
        "image",
        "layers",
        "losses",
        "metrics",
        "optimizers",
        "rnn",
        "seq2seq",
        "text",
        "options",
    ):
        for name, value in sorted(vars(getattr(tfa, room)).items()):
            if name.startswith("_") or not callable(value):
                continue
            found[f"{room}.{name}"] = _about(value)
    found["register_all"] = _about(tfa.register_all)
    for name, value in sorted(vars(tfa.types).items()):
        if typing.get_origin(value) is typing.Union:
            found[f"types.{name}"] = {"parameters": "", "file": "utils.types"}
    return found


def _about(value):  # noqa: ANN001, ANN202
    """Return the parameters and the file of a class or function."""
    asked = value.__init__ if inspect.isclass(value) else value
    parameters = list(inspect.signature(asked).parameters.values())
    parameters = parameters[1:] if inspect.isclass(value) else parameters
    file = getattr(value, "__module__", "").replace("tensorflow_addons.", "")
    return {"parameters": ", ".join(map(_parameter, parameters)), "file": file}


def _parameter(each):  # noqa: ANN001, ANN202
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    default = "" if each.default is each.empty else f"={each.default!r}"
    return f"{stars}{each.name}{default}"


def _loaded(folder, name):  # noqa: ANN001, ANN202
    """Load a file by the name that it has in kdoctor, which is not there."""
    package = "kdoctor.verify.addons"
    for each in ("kdoctor", "kdoctor.verify", package):
        sys.modules.setdefault(each, types.ModuleType(each)).__path__ = []
    sys.modules[package].__path__ = [folder]
    return importlib.import_module(f"{package}.{name}")


def main(folder, *names):  # noqa: ANN001, ANN002, ANN201
    """Print the results of scenarios, of all where none is named."""
    scenarios = _loaded(folder, "scenarios")
    cases = _loaded(folder, "cases")
    results, failed = {}, []
    for name, run in cases.SCENARIOS.items():
        if names and name not in names:
            continue
        tf.keras.backend.clear_session()
        try:
            side = scenarios.Side(_found(name), tf.keras, tf)
            results[name] = {about: _as_json(value) for about, value in run(side)}
        except Exception as error:  # noqa: BLE001 - all are told at once
            failed.append(f"{name}: {type(error).__name__}: {error}")
    source = f"tensorflow_addons {tfa.__version__} on TensorFlow {tf.__version__}"
    print(json.dumps({"source": source, "names": _names(), "results": results}))
    count = sum(map(len, results.values()))
    print(f"{count} results of {len(results)} names, {source}", file=sys.stderr)
    if failed:
        sys.exit("\n".join(failed))


main(*sys.argv[1:])
