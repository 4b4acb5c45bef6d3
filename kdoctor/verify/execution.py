"""Run a piece of code to its end, and tell how it ended. Imports no framework of its own accord."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ended:
    """What stopped the code (None: nothing), and the value that was asked for, as plain data."""

    raised: str | None
    value: Any = None


def execute(code: str, value: str = "", *, on_keras_2: bool = False) -> Ended:
    """Run ``code``, evaluate the expression ``value`` after it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.ExitStack() as stack:
        if on_keras_2:
            from kdoctor.verify.keras_2 import keras_2  # noqa: PLC0415 - imports TensorFlow

            stack.enter_context(keras_2())
        try:
            # Examples are the project's own code, not the user's.
            exec(compile(code, "<example>", "exec"), namespace)  # noqa: S102
            return Ended(None, plain(eval(value, namespace)) if value else None)  # noqa: S307
        except BaseException as error:  # noqa: BLE001 - also sys.exit() ends an example
            return Ended(f"{type(error).__name__}: {error}")


def plain(value: Any) -> Any:
    """Return a value of either framework as numbers, texts, lists and dicts."""
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
