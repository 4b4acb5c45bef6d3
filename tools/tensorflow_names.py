"""Write down which functions of TensorFlow refuse Keras 3's symbolic tensors, and their aliases.

    python -m tools.tensorflow_names

``refuses``: each public function is called with a symbolic tensor, alone and with what else such
functions take; it counts if it raises Keras' own ``ValueError``. ``aliases``: the other public
names of the functions that the rewrites of KD503 are about. A name of TensorFlow 1 is an alias if
it takes the same parameters in the same order, however many follow.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import tensorflow as tf

from kdoctor.rules.idioms import _tensorflow

FILE = Path(_tensorflow.__file__).with_name("names.json")
REFUSAL = "A KerasTensor cannot be used as input to a TensorFlow function."
MODULES = ("", "math", "nn", "linalg", "image", "signal", "random", "bitwise", "debugging")
# What would change how everything after it runs.
STATEFUL = "disable_ enable_ print"
# Of these TensorFlow 1 has another meaning for the same arguments.
CHANGED = {"where", "argmax", "argmin", "round"}


def main() -> None:
    """Write the file."""
    now = {name for name, _ in public(tf)}
    known = aliases()
    data = {
        "refuses": dict.fromkeys(sorted(refusing()), ""),
        "aliases": known,
        "gone": {name: "" for name in known if name not in now and "compat" not in name},
    }
    FILE.write_text(json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n", "utf-8")
    print({key: len(value) for key, value in data.items()}, file=sys.stderr)


def public(tensorflow: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions of a TensorFlow, by dotted name."""
    for part in MODULES:
        module = getattr(tensorflow, part) if part else tensorflow
        for name in sorted(dir(module)):
            if not name.startswith(("_", *STATEFUL.split())):
                found = getattr(module, name)
                if inspect.isroutine(found):
                    yield f"{part}.{name}" if part else name, found


def refusing() -> Iterator[str]:
    """Yield the names of the functions that refuse a symbolic tensor."""
    for name, function in public(tf):
        if any(_refuses(function, others) for others in ((), (1,), (2, 3), (_tensor(),))):
            yield name


def aliases() -> dict[str, str]:
    """Return the other names of what the rewrites are about."""
    functions: dict[str, str] = {}
    for row in _tensorflow.REWRITES:
        name = row.pattern.name.removeprefix("tensorflow.")
        functions[name] = name
    found: dict[str, str] = {}
    wanted = {id(_get(tf, name)): name for name in functions}
    for name, function in public(tf):
        known = wanted.get(id(function))
        if known and known != name:
            found[name] = known
    now = {name for name, _ in public(tf)}
    for name, function in public(tf.compat.v1):
        known = _equivalent(name, function, {**wanted}, found)
        if known:
            found[f"compat.v1.{name}"] = known
            if name not in now:
                found[name] = known
    return dict(sorted(found.items()))


def _equivalent(name: str, function: Any, wanted: dict[int, str], found: dict[str, str]) -> str:
    if id(function) in wanted:
        return wanted[id(function)]
    known = found.get(name, name)
    if known not in wanted.values() or known in CHANGED:
        return ""
    old, new = _parameters(function), _parameters(_get(tf, known))
    return known if new and old[: len(new)] == new else ""


def _parameters(function: Any) -> list[str]:
    return [each for each in inspect.signature(function).parameters if each != "layout"]


def _get(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def _tensor() -> Any:
    return keras.Input((4, 4))


def _refuses(function: Any, others: tuple[Any, ...]) -> bool:
    try:
        function(_tensor(), *others)
    except ValueError as error:
        return str(error).startswith(REFUSAL)
    except Exception:  # noqa: BLE001 - anything else says nothing of symbolic tensors
        return False
    return False


if __name__ == "__main__":
    main()
