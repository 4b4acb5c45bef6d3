"""The functions of ``Lambda`` layers: bytecode, or the name of a function of the user's.

Keras 3 runs bytecode with ``safe_mode=False`` only, under the Python that made it, and in a module
of its own (``keras.src.utils.python_utils``): a global that the function needs is not there, and
the model fails where the layer is first called, which a ``Sequential`` does as it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kdoctor.keras_api.config_arguments import runs_on
from kdoctor.models.at import At, shown
from kdoctor.models.bytecode import Bytecode, read_bytecode
from kdoctor.models.classes import function_obstacles, own_function
from kdoctor.models.obstacle import Fault, Obstacle, Remedy

OLD_ARGUMENTS: Final = frozenset(
    {"module", "function_type", "output_shape_type", "output_shape_module"}
)
"""What Keras 2 wrote of a ``Lambda`` besides its arguments (``LAMBDA_DEP_ARGS``)."""
_MAIN: Final = "__main__"
_FUNCTIONS: Final = ("function", "output_shape", "mask")


def lambda_obstacles(config: Mapping[str, Any], at: At) -> Iterator[Obstacle]:
    """Yield an obstacle for each function of a ``Lambda`` that is bytecode, or the user's."""
    for key in _FUNCTIONS:
        value = config.get(key)
        where = at.down("config", key)
        code = _encoded(value)
        if code is not None:
            yield _of_bytecode(read_bytecode(code), where)
        elif key == "function" and isinstance(value, str):
            yield own_function(value, value, _text(config.get("module")), where)
        elif isinstance(value, dict) and value.get("class_name") == "function":
            yield from function_obstacles(value, where)


def modules_of(model: Any) -> dict[str, set[str]]:
    """Return the modules in which the Lambdas of a model were written, and what they need of each.

    Keras 2 looks there for the globals of bytecode, and for functions that a file only names.
    """
    needed: dict[str, set[str]] = {}
    waiting = [model]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            config = value.get("config")
            if value.get("class_name") == "Lambda" and isinstance(config, dict):
                for module, names in _needed(config):
                    needed.setdefault(module, set()).update(names)
    return needed


def _needed(config: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in _FUNCTIONS:
        value, code = config.get(key), _encoded(config.get(key))
        module = config.get("module" if key == "function" else f"{key}_module")
        if isinstance(value, dict) and isinstance(value.get("module"), str):
            module = value["module"]
        if not isinstance(module, str):
            module = _MAIN
        if code is not None:
            yield module, read_bytecode(code).globals
        elif key == "function" and isinstance(value, str):
            yield module, (value,)
        elif isinstance(value, dict) and isinstance(value.get("config"), str):
            yield module, (value["config"],)


def _encoded(value: Any) -> str | None:
    """Return the bytecode of a function as the file has it; None where it is something else."""
    match value:
        case [str(code), *_] | {"class_name": "__lambda__", "config": {"code": str(code)}}:
            return code if not _is_axes(value) else None
        case {"class_name": "__lambda__", "config": {"value": [str(code), *_] | str(code)}}:
            return code
        case {"class_name": "__lambda__"}:
            return ""
        case _:
            return None


def _is_axes(value: Any) -> bool:
    return isinstance(value, list) and len(value) != 3  # code, defaults, closure


def _of_bytecode(found: Bytecode, at: At) -> Obstacle:
    python = f" of Python {_span(found.pythons)}" if found.pythons else ""
    usable = [each for each in found.pythons if runs_on(each, at.target.keras_version)]
    cause = f"its function is bytecode{python}, "
    if found.pythons and not usable:
        cause += f"on which {at.target} does not run"
    else:
        cause += "which is not loaded by default"
    needed = ", ".join(f"`{shown(each)}`" for each in found.globals)
    if needed:
        cause += f"; it needs {needed}, which Keras does not give it"
    again = (
        "Give the source of the function to `kdoctor model --convert` (`--source train.py`); or "
        "write it into a layer of your own that is registered, build the model again, and load "
        "the weights."
    )
    if needed or not usable:
        return at.obstacle(Fault.LAMBDA, cause, again, Remedy.CODE, at.place)
    return at.obstacle(
        Fault.LAMBDA,
        cause,
        f"If you trust the file, pass `safe_mode=False` to `load_model`, under Python "
        f"{_span(usable)}. For good: {again[0].lower()}{again[1:]}",
        Remedy.SAFE_MODE_FALSE,
        at.place,
    )


def _span(pythons: Sequence[str]) -> str:
    between = " or " if len(pythons) == 2 else " to "
    return between.join(dict.fromkeys((pythons[0], pythons[-1])))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
