"""Run a piece of code and report how it ended. Imports no framework by itself."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ended:
    """The error that stopped the code (None: none), and the requested value as plain data."""

    raised: str | None
    value: Any = None


def execute(code: str, value: str = "", *, on_keras_2: bool = False) -> Ended:
    """Run ``code``, then evaluate the expression ``value``."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.ExitStack() as stack:
        if on_keras_2:
            from kdoctor.verify.keras_2 import keras_2  # noqa: PLC0415 - imports TensorFlow

            stack.enter_context(keras_2())
        try:
            # Examples are the project's own code, not the user's.
            exec(compile(code, "<example>", "exec"), namespace)  # noqa: S102
            return Ended(None, plain(eval(value, namespace)) if value else None)  # noqa: S307
        except BaseException as error:  # noqa: BLE001 - includes sys.exit()
            return Ended(f"{type(error).__name__}: {error}")


def plain(value: Any) -> Any:
    """Convert a value of either framework to numbers, texts, lists and dicts."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {str(key): plain(each) for key, each in value.items()}
        case list() | tuple() | set():
            return [plain(each) for each in value]
    import numpy as np  # noqa: PLC0415 - of the framework that made the value

    found = np.asarray(value)
    return str(value) if found.dtype == object else found.tolist()
