"""The record of what ``keras_contrib`` gave, and how a result is held to it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import keras

from kdoctor.verify.addons.recorded import compare_with, recorded_in
from kdoctor.verify.contrib.cases import SCENARIOS
from kdoctor.verify.contrib.scenarios import Side

RESULTS = Path(__file__).with_name("results.json")
_CRF = "kdoctor.reference.contrib.crf"


def compare(code: str, new: Callable[..., Any]) -> None:
    """Hold what stands for a name of ``keras_contrib`` to all that was recorded of it.

    Raises:
        AssertionError: it gives something else, and where.
    """
    name = code.removeprefix("contrib.")
    keras.utils.clear_session()
    side = Side(new, keras, lambda other: getattr(import_module(_CRF), other))
    compare_with(recorded_in(RESULTS)[name], SCENARIOS[name](side), code)
