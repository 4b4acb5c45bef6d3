"""Environment variables and ``keras.json``: their values, and whether they take effect."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from packaging.version import Version

from kdoctor.diagnose.environment.environment import (
    LEGACY,
    LEGACY_ON,
    LEGACY_SINCE,
    Environment,
    release,
)
from kdoctor.diagnose.environment.health_report import Check, Remedy, broken, ok, warning

BACKEND: Final = "KERAS_BACKEND"
_FILE: Final = "keras.json"
# keras/src/backend/__init__.py of each release, and keras/backend/load_backend.py of 2.3.
_KERAS_3: Final = {"tensorflow", "jax", "torch", "numpy"}
_OPENVINO_SINCE: Final = Version("3.8")
_KERAS_2: Final = {"tensorflow", "theano", "cntk"}
_ONE_BACKEND: Final = Version("2.4")  # from here to 2.15 TensorFlow is the only one
_DATA_FORMATS: Final = ("channels_last", "channels_first")
_FLOATS: Final = ("float16", "float32", "float64")


def check(environment: Environment) -> Iterator[Check]:
    """Check whether each setting takes effect."""
    if environment.keras is not None or environment.tensorflow is not None:
        yield from _backend(environment)
        yield from _legacy(environment)
        yield from _file(environment)


def _backend(environment: Environment) -> Iterator[Check]:
    keras, named = environment.keras, environment.variables.get(BACKEND)
    in_file = _settings(environment).get("backend")
    value, from_file = (named, False) if named else (in_file, True)
    if keras is None:
        return
    version = release(keras.version)
    if version.major >= 3 and value in {None, "tensorflow"}:
        yield from _on_tensorflow(environment, named)
        return
    if not isinstance(value, str):
        return
    subject = _FILE if from_file else BACKEND
    said = f'"backend": "{value}"' if from_file else f"{BACKEND}={value}"
    remedy = _to_tensorflow(environment, value) if from_file else environment.unset(BACKEND)
    if _ONE_BACKEND <= version < Version("3"):
        if value != "tensorflow" and not from_file:
            message = f"{said} has no effect: keras {keras.version} runs only on TensorFlow"
            yield warning(BACKEND, message, remedy)
        return
    known = _known(version)
    if value not in known:
        message = (
            f"{said}: importing keras {keras.version} raises ValueError, as it knows only "
            f"{', '.join(sorted(known))}" + ("; so does tf.keras" if version.major >= 3 else "")
        )
        yield broken(subject, message, remedy, str(environment.config_file) if from_file else "")
        return
    if environment.module(value) is None:
        cure = Remedy(remedy.command, f"or, to run on {value}, install it")
        message = f"{said}, but {value} is not installed: importing keras fails"
        yield broken(subject, message, cure, str(environment.config_file) if from_file else "")
        return
    if from_file:
        return
    if value != "tensorflow" and environment.tensorflow is not None:
        message = (
            f"{said}: Keras runs on {value}, tf.keras included; it is read at the first import"
        )
        yield ok(BACKEND, message)
        return
    yield ok(BACKEND, f"{said}, read when keras is first imported")


def _on_tensorflow(environment: Environment, named: str | None) -> Iterator[Check]:
    """Check Keras 3 on TensorFlow, its default backend."""
    assert environment.keras is not None
    if environment.module("tensorflow") is not None:
        if named:
            yield ok(BACKEND, f"{BACKEND}={named}, read when keras is first imported")
        return
    said = f"{BACKEND}={named}" if named else f"{BACKEND} is not set"
    message = (
        f"{said}: keras {environment.keras.version} then runs on TensorFlow, which is not "
        "installed, and importing it fails"
    )
    other = next((name for name in ("jax", "torch") if environment.module(name)), None)
    cure = environment.install("tensorflow") if other is None else environment.set(BACKEND, other)
    yield broken(BACKEND, message, cure)


def _known(version: Version) -> set[str]:
    if version.major < 3:
        return _KERAS_2
    return _KERAS_3 | ({"openvino"} if version >= _OPENVINO_SINCE else set())


def _to_tensorflow(environment: Environment, value: str) -> Remedy:
    """Return the command that puts ``tensorflow`` in the place of a backend in ``keras.json``."""
    return _edit(environment.config_file, "backend", value, "tensorflow")


def _edit(file: Path, key: str, old: object, new: str) -> Remedy:
    if os.name == "nt":
        return Remedy(note=f'write "{key}": "{new}" into {file}')
    pattern = rf's/"{key}" *: *"{old}"/"{key}": "{new}"/'
    return Remedy(shlex.join(["sed", "-i.bak", pattern, str(file)]))


def _legacy(environment: Environment) -> Iterator[Check]:
    value, tensorflow = environment.variables.get(LEGACY), environment.tensorflow
    if value is None or tensorflow is None:
        return
    said = f"{LEGACY}={value}"
    if release(tensorflow.version) < LEGACY_SINCE:
        message = f"{said} has no effect: tensorflow {tensorflow.version} does not read it"
        yield warning(LEGACY, message, environment.unset(LEGACY))
        return
    if value not in LEGACY_ON:
        if value not in {"", "0", "false", "False"}:
            message = f"{said} does not enable it: TensorFlow accepts 1, true and True"
            yield warning(LEGACY, message, environment.set(LEGACY, "1"))
            return
        yield ok(LEGACY, f"{said} does not change tf.keras")
        return
    if environment.tf_keras is None:
        return  # said of tf.keras
    if environment.has_keras_3:
        assert environment.keras is not None
        yield ok(
            LEGACY,
            f"{said} affects only tf.keras: `import keras` is still keras "
            f"{environment.keras.version}, and objects of the two do not mix",
        )
        return
    yield ok(LEGACY, f"{said}, read when tf.keras is first used")


def _settings(environment: Environment) -> dict[str, Any]:
    return environment.config if isinstance(environment.config, dict) else {}


def _file(environment: Environment) -> Iterator[Check]:
    file, settings = environment.config_file, environment.config
    if isinstance(settings, str):
        message = f"{file} cannot be read ({settings}): Keras silently uses its defaults"
        yield warning(_FILE, message, environment.remove(file), str(file))
        return
    found = list(_values(file, settings))
    yield from found
    if settings and not found:
        yield ok(_FILE, f"{file}: nothing unusual in it", str(file))


def _values(file: Path, settings: dict[str, Any]) -> Iterator[Check]:
    layout = settings.get("image_data_format")
    if layout == "channels_first":
        message = f'{file} says "channels_first": layers expect images that way, on a CPU they fail'
        cure = _edit(file, "image_data_format", layout, "channels_last")
        yield warning(_FILE, message, cure, str(file))
    elif layout is not None and layout not in _DATA_FORMATS:
        message = f'{file} says "image_data_format": "{layout}": importing keras raises'
        cure = _edit(file, "image_data_format", layout, "channels_last")
        yield broken(_FILE, message, cure, str(file))
    floats = settings.get("floatx")
    if floats is not None and floats not in _FLOATS:
        message = f'{file} says "floatx": "{floats}": importing keras raises'
        yield broken(_FILE, message, _edit(file, "floatx", floats, "float32"), str(file))
    elif floats not in {None, "float32"}:
        message = f'{file} says "floatx": "{floats}": weights and results are of that type'
        yield warning(_FILE, message, _edit(file, "floatx", floats, "float32"), str(file))
    if "image_dim_ordering" in settings and layout is None:
        message = f"{file} is from Keras 1: its image_dim_ordering is no longer read"
        yield warning(_FILE, message, Remedy(shlex.join(["rm", str(file)])), str(file))
