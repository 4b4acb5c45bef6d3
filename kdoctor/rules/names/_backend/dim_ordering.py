"""`K.image_dim_ordering()` where it is compared: with the name that the order has today."""

from __future__ import annotations

import libcst as cst

from kdoctor.model import Applicability, Edit, Fix, Precedence
from kdoctor.rewrite import Speller
from kdoctor.syntax import Module, Reference

_ORDERS = {"th": "channels_first", "tf": "channels_last"}


def compared_ordering(module: Module, reference: Reference, proven: Applicability) -> Fix | None:
    """``K.image_dim_ordering() == "th"`` → ``config.image_data_format() == "channels_first"``."""
    literal = _compared_with(module, reference.call)
    if literal is None:
        return None
    written, need = Speller.at(module, reference).spell("keras.config.image_data_format")
    old = literal.raw_value
    order = literal.value.replace(old, _ORDERS[old])
    return Fix(
        f"Compare `{written}()` with `{order}`",
        (
            Edit(module.span(reference.node), (written,), Precedence.PRIMARY),
            Edit(module.span(literal), (order,)),
        ),
        proven,
        (need,) if need is not None else (),
    )


def _compared_with(module: Module, call: cst.Call | None) -> cst.SimpleString | None:
    """Return the old name of an order that a call is compared with, and with nothing else."""
    target = None if call is None or call.args else module.parent(call)
    whole = module.parent(target) if isinstance(target, cst.ComparisonTarget) else target
    if not isinstance(whole, cst.Comparison) or len(whole.comparisons) != 1:
        return None
    [compared] = whole.comparisons
    if not isinstance(compared.operator, cst.Equal | cst.NotEqual):
        return None
    other = compared.comparator if whole.left is call else whole.left
    if not isinstance(other, cst.SimpleString) or other.prefix:
        return None
    return other if other.raw_value in _ORDERS else None
