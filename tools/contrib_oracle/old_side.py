"""Run scenarios on keras_contrib and print what they gave, as JSON.

Runs beside keras_contrib on Python 3.7, and imports nothing of kdoctor but the files of one folder.
"""

import importlib
import importlib.util
import inspect
import json
import sys
import types

import keras
import numpy as np
import tensorflow as tf

# Otherwise a step may read weights that it has written already, now and then.
tf.compat.v1.enable_resource_variables()
ROOMS = (
    "activations", "applications", "callbacks", "constraints", "initializers", "layers", "losses",
    "metrics", "optimizers", "datasets.conll2000", "applications.densenet", "applications.nasnet",
)  # fmt: skip


def _room(name):
    return importlib.import_module("keras_contrib." + name)


def _found(name):
    return next(getattr(_room(room), name) for room in ROOMS if hasattr(_room(room), name))


def _as_json(value):
    if isinstance(value, list):
        return [
            each if isinstance(each, (str, float)) or each is None else _whole(each)
            for each in value
        ]
    if isinstance(value, (bool, str)):
        return value
    array = np.asarray(value)
    numbers = [float("{:.7g}".format(each)) for each in array.astype("float64").ravel()]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": numbers}


def _whole(value):
    """Return a size of a shape, or what else there is in a list."""
    return value if isinstance(value, (bool, list)) else int(value)


def _names():
    """Return the parameters and the file of each public class and function."""
    found = {}
    for room in ROOMS:
        for name, value in sorted(vars(_room(room)).items()):
            file = getattr(value, "__module__", "")
            if name.startswith("_") or not callable(value) or "keras_contrib." not in file:
                continue
            asked = value.__init__ if inspect.isclass(value) else value
            parameters = list(inspect.signature(asked).parameters.values())
            parameters = parameters[1:] if inspect.isclass(value) else parameters
            text = ", ".join(_parameter(each) for each in parameters)
            known = {"parameters": text, "file": file.replace("keras_contrib.", "")}
            found["{}.{}".format(room, name)] = known
    return found


def _parameter(each):
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    default = "" if each.default is each.empty else "={!r}".format(each.default)
    default = "=..." if " object at " in default else default
    return "{}{}{}".format(stars, each.name, default)


def _loaded(folder, name):
    """Load a file by the name that it has in kdoctor, which is not there."""
    package = "kdoctor.verify.contrib"
    for each in ("kdoctor", "kdoctor.verify", package):
        sys.modules.setdefault(each, types.ModuleType(each))
    spec = importlib.util.spec_from_file_location(package + "." + name, folder + "/" + name + ".py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main(folder, *names):
    """Print the results of scenarios, of all where none is named."""
    scenarios = _loaded(folder, "scenarios")
    _loaded(folder, "rare")
    results, failed = {}, []
    for name, run in _loaded(folder, "cases").SCENARIOS.items():
        if names and name not in names:
            continue
        keras.backend.clear_session()
        try:
            side = scenarios.Side(_found(name), keras, _found)
            results[name] = {about: _as_json(value) for about, value in run(side)}
        except Exception as error:
            failed.append("{}: {}: {}".format(name, type(error).__name__, error))
    source = "keras_contrib on keras {}".format(keras.__version__)
    print(json.dumps({"source": source, "names": _names(), "results": results}))
    count = sum(map(len, results.values()))
    sys.stderr.write("{} results of {} names, {}\n".format(count, len(results), source))
    if failed:
        sys.exit("\n".join(failed))


main(*sys.argv[1:])
