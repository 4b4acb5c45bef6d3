"""Which name an error is about, and whether the installed Keras has it.

Findings are told by ``code``, ``message`` and ``symbol``, as ``kdoctor scan --format json`` does.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

LOOK_UP = Path(__file__).with_name("look_up_names.py")
# "keras.layers.Dense(weights)": an argument.
ARGUMENT = re.compile(r"[\w.]+\(\w+\)")
# "a layer has no `output_shape` any more", "`add_loss` of a model raises": the class of the user's
# own does not matter.
NO_MEMBER = re.compile(r"an? (?P<kind>callback|layer|model|optimizer) has no `(?P<name>\w+)`")
RAISING_MEMBER = re.compile(r"`(?P<name>\w+)` of an? (?P<kind>layer|model) raises")


def name_in(*, code: str, message: str, symbol: str) -> str:
    """Return the name, member or argument that is not there, or nothing: it says something else."""
    member = NO_MEMBER.match(message) or RAISING_MEMBER.match(message)
    if member:
        return f"{member['kind'].capitalize()}.{member['name']}"
    is_name = code.startswith("KD1") or "AttributeError" in message
    is_argument = code.startswith("KD3") and ARGUMENT.fullmatch(symbol)
    return symbol if is_name or is_argument else ""


def look_up(symbols: Iterable[str], python: str | Path) -> dict[str, str | None]:
    """Return for each symbol ``exists``, the error that using it raises, or None: no name.

    Args:
        symbols: Dotted names, as :func:`name_in` returns them; empty ones are left out.
        python: The interpreter whose Keras is asked, in a process of its own.
    """
    done = subprocess.run(
        [str(python), str(LOOK_UP)],
        input=json.dumps(sorted({symbol for symbol in symbols if symbol})),
        capture_output=True,
        text=True,
        check=True,
    )
    verdicts: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    return verdicts
