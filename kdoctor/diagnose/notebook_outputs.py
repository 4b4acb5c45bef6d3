"""The text of the outputs stored in a notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def outputs_of(text: str) -> str:
    r"""Return what the outputs of a notebook's file say, the text itself where it is none.

    >>> outputs_of('{"cells": [{"outputs": [{"output_type": "stream", "text": ["a\\n", "b"]}]}]}')
    'a\nb'
    >>> outputs_of("ValueError: {}")
    'ValueError: {}'
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("{") or '"outputs"' not in text:
        return text
    try:
        content = json.loads(text.lstrip("\ufeff"))
        sheets = content.get("worksheets", [content])  # before nbformat 4
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        return "\n".join(said for cell in cells for said in _said(cell.get("outputs", ())))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return text


def _said(outputs: list[dict[str, Any]]) -> Iterator[str]:
    for each in outputs:
        if "traceback" in each:
            shown = "\n".join(each["traceback"])
            yield shown or f"{each['ename']}: {each['evalue']}"  # taken out to be small
        elif "text" in each:
            yield "".join(each["text"])  # one string, or its lines
