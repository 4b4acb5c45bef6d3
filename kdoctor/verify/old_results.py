"""Recorded results of functions on a Keras that does not run on today's TensorFlow.

``python -m tools.old_oracle`` writes them. The replacement of such a function in a proof must give
the same result in every recorded run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from kdoctor.verify.compare import Bounds, difference
from kdoctor.verify.results import Different, Result, to_result

RESULTS = Path(__file__).with_name("old_results.json")


class Contradicted(ValueError):
    """The replacement of an old function contradicts a recorded run."""


def check_recorded(function: str, call: Callable[..., Any]) -> str:
    """Describe the recorded runs that ``call`` reproduces; "" if none are recorded.

    Raises:
        Contradicted: its result differs in one of them.
    """
    entry = _recorded().get(function)
    if entry is None:
        return ""
    for arguments, answer in entry["runs"]:
        given = {name: _argument(value) for name, value in arguments.items()}
        try:
            difference(_result(answer), to_result(call(**given)), Bounds(coarsest="float32"))
        except Different as different:
            raise Contradicted(
                f"{entry['source']} gave something else for {function}: {different}"
            ) from None
    return f"as {entry['source']} gave in {len(entry['runs'])} recorded runs"


@cache
def _recorded() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    return recorded


def _argument(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    data = np.array(value["data"], value["dtype"]).reshape(value["shape"])
    if value["role"] == "variable":
        return tf.Variable(data)
    return data if value["role"] == "numpy" else tf.constant(data)


def _result(answer: dict[str, Any]) -> Result:
    if "parts" in answer:
        return Result(answer["kind"], parts=tuple(map(_result, answer["parts"])))
    if "dtype" in answer:
        data = np.array(answer["data"], answer["dtype"]).reshape(answer["shape"])
        return Result(answer["kind"], answer["dtype"], data)
    return Result(answer["kind"], data=answer["value"])
