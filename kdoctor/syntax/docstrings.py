"""The types that a docstring gives to parameters, in the three styles that are in use.

Google's ``model (tf.keras.Model): what to look into``, NumPy's ``model : tf.keras.Model`` and
Sphinx' ``:type model: tf.keras.Model`` or ``:param tf.keras.Model model: …``.
"""

from __future__ import annotations

import re

import libcst as cst

_TYPE = r"[~`]*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*`*"
_STYLES = (
    r"^\s*(?:[-*]\s+)?{name}\s*\(({type})(?:,\s*optional)?\)\s*:",
    r"^\s*{name}\s*:\s*({type})(?:,\s*optional)?\s*$",
    r"^\s*:type\s+{name}:\s*({type})\s*$",
    r"^\s*:param\s+({type})\s+{name}:",
)


def documented_type(function: cst.FunctionDef, parameter: str) -> str | None:
    """Return the dotted name that the docstring of a function gives as the type of a parameter."""
    text = function.get_docstring(clean=False)
    if not text or parameter not in text:
        return None
    for style in _STYLES:
        pattern = style.format(name=re.escape(parameter), type=_TYPE)
        found = re.findall(pattern, text, re.MULTILINE)
        if found:
            return found[0].strip("~`") if len(found) == 1 else None
    return None
