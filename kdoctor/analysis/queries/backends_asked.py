"""A condition: somebody asked for code that runs on other backends than TensorFlow."""

from __future__ import annotations

from typing import Final

from kdoctor.analysis.triggers import Trigger

BACKENDS_ASKED: Final = Trigger(lambda _, facts: bool(facts.backends))
"""Whether backends beside TensorFlow are asked for (``--backend``)."""
