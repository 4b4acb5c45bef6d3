"""``x.dtype.name``: the dtype of a Keras tensor or a weight is a string."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

# What a `tf.DType` has and a string has not; a test asks both.
OF_A_DTYPE: Final = frozenset(
    {
        *("as_datatype_enum", "as_numpy_dtype", "base_dtype", "real_dtype"),
        *("is_bool", "is_complex", "is_floating", "is_integer", "is_numeric"),
        *("is_numpy_compatible", "is_quantized", "is_unsigned"),
        *("is_compatible_with", "is_subtype_of", "most_specific_common_supertype"),
        *("limits", "max", "min", "name", "size"),
        *("experimental_as_proto", "experimental_from_proto", "experimental_type_proto"),
        *("cast", "from_tensors", "placeholder_value", "to_tensors", "flatten"),
    }
)


@rule(
    "KD244",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads("dtype", on=(Kind.TENSOR, Kind.VARIABLE)).beside(attribute(*OF_A_DTYPE)),
)
def check(read: Read) -> Finding | None:
    """Report each member of `tf.DType` that is asked of such a dtype."""
    asked = read.module.parent(read.node)
    if not isinstance(asked, cst.Attribute) or asked.attr.value not in OF_A_DTYPE:
        return None
    if read.owner.is_tf_variable or read.module.is_guarded(asked):
        return None
    member = asked.attr.value
    spelled, need = speller_at(read.module, read.node).spell("tensorflow.as_dtype")
    span = read.module.span(read.node)
    return read.finding(
        f"the dtype is a string: AttributeError: 'str' object has no attribute '{member}'",
        at=asked,
        symbol=f"{read.symbol}.{member}",
        help=f"Ask `tf.as_dtype(…).{member}`.",
        fix=read.fix(
            f"Ask the dtype of TensorFlow: `{spelled}(…).{member}`",
            Edit(span, (f"{spelled}(", Hole(span), ")")),
            imports=[need],
        ),
    )
