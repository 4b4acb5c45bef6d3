"""Names with a slash, which Keras 3 refuses: written out, or put together of texts."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.model import Edit
from kdoctor.rules.arguments._refused import Refused
from kdoctor.syntax import Module

_ERROR = "ValueError: Argument `name` must be a string and cannot contain character `/`."
_Text = cst.SimpleString | cst.FormattedStringText


def slashed_name(module: Module, given: cst.Arg | None) -> Iterator[Refused]:
    """Yield the name that is passed, where a slash surely is in it."""
    texts = [] if given is None else [each for each in _texts(given.value) if "/" in each.value]
    if not texts:
        return
    assert given is not None
    whole = texts[0] is given.value and isinstance(texts[0], cst.SimpleString)
    edits = [Edit(module.span(each), (each.value.replace("/", "_"),)) for each in texts]
    yield Refused(
        given,
        f"{_ERROR} Received: name={texts[0].raw_value}"
        if whole and isinstance(texts[0], cst.SimpleString)
        else _ERROR,
        "Use another sign, wherever the name is used.",
        tuple(edits),
        f"Write {edits[0].parts[0]}" if whole else "Write `_` instead of `/`",
        unsafe_because="`get_layer` and saved weights may know it by the old name",
    )


def _texts(node: cst.BaseExpression) -> Iterator[_Text]:
    """Yield the texts that are part of what an expression gives."""
    match node:
        case cst.SimpleString():
            yield node
        case cst.FormattedString(parts=parts):
            yield from (each for each in parts if isinstance(each, cst.FormattedStringText))
        case (
            cst.ConcatenatedString(left=left, right=right)
            | cst.BinaryOperation(left=left, operator=cst.Add(), right=right)
        ):
            yield from _texts(left)
            yield from _texts(right)
        case (
            cst.BinaryOperation(left=left, operator=cst.Modulo())
            | cst.Call(func=cst.Attribute(value=left, attr=cst.Name(value="format")))
        ):
            yield from _texts(left)
