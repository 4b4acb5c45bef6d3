"""Write down which functions of TensorFlow refuse Keras 3's symbolic tensors, and their aliases.

    python -m tools.tensorflow_names

``refuses``: each public function is called with a symbolic tensor, alone and with what else such
functions take; it counts if it raises Keras' own ``ValueError``. ``aliases``: the other public
names of the functions that the rewrites of KD503 are about. A name of TensorFlow 1 is an alias if
it takes the same parameters in the same order, however many follow. ``only_1``: the public names
of TensorFlow 1 (of ``tf.compat.v1``, ``contrib`` and ``estimator``) that ``tensorflow`` has lost,
with the name under which it has the very same object, "" where it has none. ``modules``: what
Python calls the modules that have lost some. ``first``: what ``tf.compat.v1`` lacks itself beside
Keras 3, with what Python calls that, "" for modules that are there and have nothing. ``second``:
what of ``only_1`` ``tf.compat.v2`` has kept. ``keywords``: the arguments that a function of
TensorFlow 1 takes and that of TensorFlow 2 refuses, as a call shows, with what TensorFlow's own
converter, ``tf_upgrade_v2``, calls them now, "" where it has no new name.

    python -m tools.tensorflow_names lent

writes only which modules of Keras TensorFlow 2 lends: ``kdoctor/keras_api/lent_modules.py``.

    python -m tools.tensorflow_names backends

writes only the names of the functions that KD801 tells of, and the other names of those that it
knows beside those of KD503.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import tensorflow as tf
from tensorflow.tools.compatibility import tf_upgrade_v2

from kdoctor.keras_api import surface
from kdoctor.rules.backends import _tensorflow as of_backends
from kdoctor.rules.idioms import _tensorflow

FILE = Path(_tensorflow.__file__).with_name("names.json")
OF_BACKENDS = Path(of_backends.__file__).with_name("names.json")
LENT = Path(surface.__file__).with_name("lent_modules.py")
LENT_HEAD = '''"""Modules of Keras that TensorFlow 2 lends: `tf.losses` is `tf.keras.losses`.

Each with what TensorFlow 1 had under that name. Generated, do not edit: ``python -m
tools.tensorflow_names lent`` asks TensorFlow.
"""

from __future__ import annotations

from typing import Final

'''
REFUSAL = "A KerasTensor cannot be used as input to a TensorFlow function."
MODULES = ("", "math", "nn", "linalg", "image", "signal", "random", "bitwise", "debugging")
# What is asked of no tensor, or is told by other rules.
OF_NO_TENSORS = frozenset({
    *("function", "device", "init_scope", "executing_eagerly", "inside_function", "group"),
    *("get_current_name_scope", "get_logger", "get_static_value", "load_library"),
    *("load_op_library", "no_gradient", "register_tensor_conversion_function"),
    *("is_symbolic_tensor",),
    *("type_spec_from_value", "get_registered_types", "numpy_function", "py_function"),
    *("as_dtype", "random.set_seed", "random.get_global_generator", "random.set_global_generator"),
    *("random.create_rng_state", "make_tensor_proto", "make_ndarray", "as_string", "print"),
})  # fmt: skip
# What would change how everything after it runs.
STATEFUL = "disable_ enable_ print"
# A private module that programs import: the wheel of TensorFlow 2.15.1 has it, that of 2.16.1 not.
PRIVATE = ("python.estimator",)
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
        "only_1": only_1(),
        "modules": modules(),
        "first": first(),
        "second": {name: "" for name in only_1() if _has(tf.compat.v2, name)},
        "keywords": dict(sorted(keywords())),
    }
    FILE.write_text(json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n", "utf-8")
    print({key: len(value) for key, value in data.items()}, file=sys.stderr)


def write_lent() -> None:
    """Write the file on the modules of Keras."""
    lines = "".join(
        f"    {name!r}: frozenset({sorted(names)!r}),\n".replace("'", '"')
        for name, names in sorted(lent().items())
    )
    text = f"{LENT_HEAD}LENT: Final[dict[str, frozenset[str]]] = {{\n{lines}}}\n"
    formatted = [sys.executable, "-m", "ruff", "format", "-"]
    done = subprocess.run(formatted, input=text, capture_output=True, text=True, check=True)
    LENT.write_text(done.stdout.replace("frozenset([])", "frozenset()"), "utf-8")


def lent() -> dict[str, set[str]]:
    """Return the modules in which each name is the very object of ``tf.keras``.

    With the public names of what ``tf.compat.v1`` calls the same.
    """
    found = {}
    for name in dir(tf.keras):
        here, there = getattr(tf, name, None), getattr(tf.keras, name)
        if name.startswith("_") or not isinstance(here, ModuleType):
            continue
        shared = [each for each in dir(there) if not each.startswith("_")]
        if shared and all(getattr(here, each, None) is getattr(there, each) for each in shared):
            first = getattr(tf.compat.v1, name, None)
            found[name] = (
                {each for each in dir(first) if not each.startswith("_")} if first else set()
            )
    return found


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


def write_of_backends() -> None:
    """Write the functions that KD801 tells of, and the other names of those that it knows."""
    known = {row.pattern.name.removeprefix("tensorflow.") for row in of_backends.REWRITES}
    known |= of_backends.BY_HAND.keys()
    shared = {row.pattern.name.removeprefix("tensorflow.") for row in _tensorflow.REWRITES}
    mine = known - aliases().keys() - shared
    data = {
        "aliases": aliases(name for name in sorted(mine) if _has(tf, name)),
        "functions": [name for name, _ in public(tf) if name not in OF_NO_TENSORS],
    }
    OF_BACKENDS.write_text(json.dumps(data, indent=0, sort_keys=True) + "\n", "utf-8")


def aliases(functions: Iterable[str] | None = None) -> dict[str, str]:
    """Return the other names of functions: of those that the rewrites of KD503 are about."""
    if functions is None:
        rows = _tensorflow.REWRITES
        functions = {row.pattern.name.removeprefix("tensorflow."): None for row in rows}
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


def only_1() -> dict[str, str]:
    """Return what only TensorFlow 1 had, and what the same object is called now."""
    names: dict[int, str] = {}
    for name, thing in _walk(tf, depth=3):
        if callable(thing):
            names.setdefault(id(thing), name)
    gone = {name: "" for name in ("contrib", "estimator") if not _has(tf, name)}
    gone |= {name: "" for name in PRIVATE if find_spec(f"tensorflow.{name}") is None}
    for name, thing in _walk(tf.compat.v1, depth=2):
        renamed = names.get(id(thing), "") if callable(thing) else ""
        lost = not _has(tf, name)
        parent = name.rpartition(".")[0]
        if lost and (renamed or not parent or _has(tf, parent)):
            gone[name] = renamed
    return dict(sorted(gone.items()))


def modules() -> dict[str, str]:
    """Return the names that errors give to the modules that have lost something."""
    found = {}
    for parent in sorted({name.rpartition(".")[0] for name in only_1()}):
        if _has(tf, parent):
            try:
                _get(tf, f"{parent}.no_such_name" if parent else "no_such_name")
            except AttributeError as error:
                found[parent] = str(error).split("'")[1]
        elif f"tensorflow.{parent}" in sys.modules:
            found[parent] = f"tensorflow.{parent}"
    return found


def keywords() -> Iterator[tuple[str, str]]:
    """Yield the arguments that only TensorFlow 1 takes, with their new names."""
    renamed = tf_upgrade_v2.TFAPIChangeSpec().function_keyword_renames
    for name, function in _walk(tf, depth=1):
        if not inspect.isroutine(function) or not _has(tf.compat.v1, name):
            continue
        taken, once = (_keywords(each) for each in (function, _get(tf.compat.v1, name)))
        for each in sorted(once - taken):
            if _does_not_take(function, each):
                new = renamed.get(f"tf.{name}", {}).get(each) or ""
                yield f"{name}({each})", new if new in taken else ""


def _keywords(function: Any) -> set[str]:
    """Return what may be passed by keyword, nothing where that is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {each.name for each in parameters if each.kind is not each.VAR_POSITIONAL}


def _does_not_take(function: Any, keyword: str) -> bool:
    """Say whether a call with it fails for that keyword, in the words of most functions."""
    required = [
        None
        for each in inspect.signature(function).parameters.values()
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    try:
        function(*required, **{keyword: None})
    except TypeError as error:
        return str(error) == f"Got an unexpected keyword argument '{keyword}'"
    except Exception:  # noqa: BLE001 - it took the keyword, and failed for what else was passed
        return False
    return False


def first() -> dict[str, str]:
    """Return what ``tf.compat.v1`` had, and has not beside Keras 3."""
    found = {}
    for name in ("contrib", "estimator"):
        try:
            _get(tf.compat.v1, name)
        except AttributeError as error:
            found[name] = str(error).split("'")[1]
    for name, thing in _walk(tf.compat.v1, depth=1):
        if isinstance(thing, ModuleType) and not _name(thing):
            try:
                _get(thing, "no_such_name")
            except AttributeError as error:
                if str(error) == "`no_such_name` is not available with Keras 3.":
                    found[name] = ""
    return found


def _walk(module: Any, depth: int, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        if name.startswith("_") or name in {
            "compat",
            "estimator",
            "keras",
            "raw_ops",
            "tf_decorator",
        }:
            continue
        thing = getattr(module, name, None)
        yield prefix + name, thing
        if depth and isinstance(thing, ModuleType) and _name(thing):
            yield from _walk(thing, depth - 1, f"{prefix}{name}.")


def _name(module: ModuleType) -> str:
    """Return the name of a module of TensorFlow's own, "" of Keras' and all else."""
    name = str(getattr(module, "__name__", ""))
    return name if "tensorflow" in name else ""


def _has(module: Any, name: str) -> bool:
    try:
        _get(module, name)
    except AttributeError:
        return not name
    return True


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
    if "backends" in sys.argv:
        write_of_backends()
    else:
        write_lent()
        if "lent" not in sys.argv:
            main()
