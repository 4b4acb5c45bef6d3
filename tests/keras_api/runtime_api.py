"""Run in a process of its own: what the installed frameworks really have, as JSON on stdout."""

import collections.abc
import importlib
import inspect
import json
import os
import pkgutil
import sys
import types
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
warnings.simplefilter("ignore")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_keras  # noqa: E402

PACKAGES = {"keras", "tf_keras"}


def walk(top):
    """Every public name below ``top`` with its kind and its parameters."""
    found = {}

    def visit(prefix, module):
        found[prefix] = ["module", None]
        for name in sorted({*dir(module), *vars(module)}):
            if (name.startswith("_") and name != "__version__") or (
                not prefix and name in {"src", "api"}
            ):
                continue
            dotted = f"{prefix}.{name}" if prefix else name
            value = getattr(module, name)
            if not isinstance(value, types.ModuleType):
                found[dotted] = [kind_of(value), parameters(value)]
            elif value.__name__.split(".")[0] in PACKAGES and ".src." not in value.__name__:
                visit(dotted, value)
            else:
                found[dotted] = ["module", None]

    visit("", top)
    return found


def kind_of(value):
    if inspect.isclass(value):
        return "class"
    return "function" if inspect.isroutine(value) else "value"


def parameters(value):
    if inspect.isclass(value):
        if value.__init__ is object.__init__:
            return []
        value, skip = value.__init__, 1
    else:
        skip = 0
    try:
        found = list(inspect.signature(value).parameters.values())[skip:]
    except (TypeError, ValueError):
        return None
    return [[p.name, p.kind.name, p.default is not p.empty] for p in found]


def importable(root):
    """Every module below ``root`` that ``import`` finds, private ones included, by asking it."""
    found = {}
    spelled = root.replace("tf.", "tensorflow.")
    top = importlib.import_module(spelled)
    for info in pkgutil.walk_packages(top.__path__, prefix=f"{spelled}.", onerror=lambda _: None):
        if "_test" in info.name or ".src" in info.name:
            continue
        try:
            module = importlib.import_module(info.name)
        except Exception:  # noqa: BLE001, S112 - some need packages that are not here
            continue
        found[info.name] = sorted(vars(module))
    return found


def members(top):
    """What ``dir()`` shows of Keras classes, and of instances after ``compile`` and ``fit``."""
    found = {}
    for name, (kind, _) in walk(top).items():
        if kind == "class":
            value = top
            for part in name.split("."):
                value = getattr(value, part)
            found[f"{value.__module__}.{value.__qualname__}"] = dir(value)
    inputs = top.Input((4,))
    outputs = top.layers.Dense(2)(inputs)
    functional = top.Model(inputs, outputs)
    sequential = top.Sequential([top.Input((4,)), top.layers.Dense(2)])
    for model in (functional, sequential):
        model.compile("adam", "mse", metrics=["mae"])
        history = model.fit(np.zeros((2, 4)), np.zeros((2, 2)), verbose=0)
    instances = [
        *(functional, sequential, *functional.layers, functional.optimizer, history),
        *(top.losses.MeanSquaredError(), top.metrics.MeanAbsoluteError(), inputs, outputs),
        *(top.callbacks.EarlyStopping(), top.layers.LSTM(3), top.layers.BatchNormalization()),
        outputs._keras_history,
    ]
    if top is keras:
        instances.append(functional.weights[0])
    for instance in instances:
        cls = type(instance)
        found[f"{cls.__module__}.{cls.__qualname__}"] = dir(instance)
    return found


def errors(statements):
    """What each statement raises, in a process where nothing else was imported before it."""
    found = {}
    for statement in statements:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                exec(statement, {})  # noqa: S102
                text = ""
            except BaseException as error:  # noqa: BLE001
                text = f"{type(error).__name__}: {error}"
            os.write(write, text.encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        found[statement] = os.read(read, 65536).decode()
        os.close(read)
    return found


def reached(names):
    """What getting at each name raises, as an attribute and by ``from … import``; "" for nothing.

    All attributes first: an import makes attributes.
    """
    tops = {"keras": keras, "tensorflow": tf, "tf_keras": tf_keras}
    by_attribute = [raised(read, tops, name) for name in names]
    by_import = [raised(import_from, name) for name in names]
    return {n: list(pair) for n, *pair in zip(names, by_attribute, by_import, strict=True)}


def in_a_child(function, argument):
    """What the function returns in a process whose imports change nothing here."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(write, "w") as pipe:
            json.dump(function(argument), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        found = json.load(pipe)
    os.waitpid(child, 0)
    return found


def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return ""


def read(tops, name):
    first, *rest = name.split(".")
    value = tops[first]
    for part in rest:
        value = getattr(value, part)


def import_from(name):
    module, _, leaf = name.rpartition(".")
    exec(f"from {module} import {leaf}", {})  # noqa: S102


def returned():
    """The class of what functions and members give, by the name under which ``returns`` has it."""
    inputs = keras.Input((4,))
    dense = keras.layers.Dense(2)
    model = keras.Model(inputs, dense(inputs))
    model.compile("adam", "mse", metrics=["mae"])
    optimizer = model.optimizer
    callback = keras.callbacks.Callback()
    callback.set_model(model)
    normalize = keras.layers.BatchNormalization()
    normalize(inputs)
    embedding = keras.layers.Embedding(4, 2)
    embedding.build()
    history = model.fit(np.zeros((2, 4)), np.zeros((2, 2)), verbose=0)
    given = {
        "Input": inputs,
        "models.clone_model": keras.models.clone_model(model),
        "models.model_from_json": keras.models.model_from_json(model.to_json()),
        "optimizers.get": keras.optimizers.get("sgd"),
        "optimizers.deserialize": keras.optimizers.deserialize(
            keras.optimizers.serialize(optimizer)
        ),
        **{
            f"layers.{name}": getattr(keras.layers, name)([inputs, inputs])
            for name in ("add", "subtract", "multiply", "average", "maximum", "minimum")
        },
        "layers.concatenate": keras.layers.concatenate([inputs, inputs]),
        "layers.dot": keras.layers.dot([inputs, inputs], axes=1),
        **{f"backend.{name}": getattr(tf.keras.backend, name)((2,)) for name in ("zeros", "ones")},
        "backend.variable": tf.keras.backend.variable(1.0),
        "backend.eye": tf.keras.backend.eye(2),
        "backend.constant": tf.keras.backend.constant(1.0),
        "ops.zeros": keras.ops.zeros((2,)),
        "random.normal": keras.random.normal((2,)),
        "applications.MobileNet": keras.applications.MobileNet(
            weights=None, input_shape=(32, 32, 3)
        ),
        "model.layers": model.layers,
        "model.inputs": model.inputs,
        "model.outputs": model.outputs,
        "model.input": model.input,
        "model.output": model.output,
        "model.optimizer": optimizer,
        "model.metrics": model.metrics,
        "model.weights": model.weights,
        "model.history": model.history,
        "layer.trainable_variables": dense.trainable_variables,
        "tensor._keras_history": inputs._keras_history,
        "keras_history.operation": inputs._keras_history.operation,
        "callback.model": callback.model,
        "optimizer.iterations": optimizer.iterations,
        **{f"layer.{name}": getattr(dense, name) for name in ("kernel", "bias")},
        **{
            f"layer.{name}": getattr(normalize, name)
            for name in ("gamma", "beta", "moving_mean", "moving_variance")
        },
        "layer.embeddings": embedding.embeddings,
        "model.get_layer()": model.get_layer(index=1),
        "model.fit()": history,
        "model.__call__()": model(inputs),
        "layer.__call__()": dense(inputs),
        "tensor.__getitem__()": inputs[:, 0],
        "layer.add_weight()": keras.layers.Layer().add_weight(shape=(1,), name="extra"),
    }
    return {
        name: [c.__name__ for c in type(value[0] if isinstance(value, list) else value).__mro__]
        for name, value in given.items()
    }


BASES = {
    "collections.abc.MutableMapping": collections.abc.MutableMapping,
    "tensorflow.__internal__.tracking.AutoTrackable": tf.__internal__.tracking.AutoTrackable,
    "tensorflow.__internal__.tracking.Trackable": tf.__internal__.tracking.Trackable,
    "tensorflow.__internal__.types.Tensor": tf.__internal__.types.Tensor,
    "tensorflow.Module": tf.Module,
}

# Errors first: they depend on what was imported before.
asked = json.loads(sys.stdin.read())
raised_by = errors(asked["statements"])
reached_by = in_a_child(reached, asked["names"])
json.dump(
    {
        "errors": raised_by,
        "reached": reached_by,
        "versions": {"keras": keras.__version__, "tf_keras": tf_keras.__version__},
        "names": {"keras": walk(keras), "tf.keras": walk(tf.keras), "tf_keras": walk(tf_keras)},
        "members": {"keras": members(keras), "tf_keras": members(tf_keras)},
        "modules": {
            root: importable(root)
            for root in ("keras", "tf.keras", "tf_keras", "tensorflow.python.keras")
        },
        "returned": returned(),
        "bases": {name: [n for n in dir(base) if n[0] != "_"] for name, base in BASES.items()},
    },
    sys.stdout,
)
