"""Functions of ``keras.backend`` that read and write values and variables."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none, statement_position
from kdoctor.rules.names._backend.unknown_rank import rank_is_known
from kdoctor.rules.names._backend.value_guards import (
    made_a_number,
    no_array,
    no_plain_number,
    no_slash_in,
    not_symbolic,
    outside_of_classes,
    plain_name,
    plain_number,
    somewhere,
)

_ASSIGNMENTS = {
    "set_value(x, value)": "x.assign(value)",
    "update(x, new_x)": "x.assign(new_x)",
    "update_add(x, increment)": "x.assign_add(increment)",
    "update_sub(x, decrement)": "x.assign_sub(decrement)",
    "moving_average_update(x, value, momentum)": "x.assign_sub((x - value) * (1 - momentum))",
}
ASSIGNING = frozenset(each.partition("(")[0] for each in _ASSIGNMENTS)
"""The functions that change the variable that they are given first."""
_VALUE = "keras.ops.convert_to_numpy(x)[()]"
_VARIABLE = "keras.backend.variable(value, dtype=None, name=None, constraint=None)"
_PLAIN = plain_name("name") & equals("constraint", None)

REWRITES = (
    # Plain numbers and NumPy arrays they gave back as they were; convert_to_numpy makes an array
    # of the one and a copy of the other. Without axes they gave a number, which cannot be changed
    # in place: [()] takes it out of the array, and leaves an array with axes as it is.
    *(
        rewrite(f"keras.backend.{old}(x)", new, when=guard)
        for old in ("eval", "get_value")
        for new, guard in (
            ("x", plain_number("x")),
            ("keras.ops.convert_to_numpy(x)", not_symbolic("x") & made_a_number()),
            (_VALUE, not_symbolic("x") & no_plain_number("x") & no_array("x")),
            (_VALUE, not_symbolic("x") & somewhere()),
        )
    ),
    rewrite(
        "keras.backend.batch_get_value(tensors)",
        "[keras.ops.convert_to_numpy(tensor)[()] for tensor in tensors]",
    ),
    # What they are given must be a variable, else Keras 2 raises. Where the result is used, it was
    # the operation in a graph, and is the new value.
    *(
        rewrite(f"keras.backend.{old}", new, when=guard)
        for old, new in _ASSIGNMENTS.items()
        for guard in (statement_position() & rank_is_known(), None)
    ),
    # In a layer Keras 3 takes it for a weight: trained, saved. Standalone Keras 2 did not.
    *(
        rewrite(_VARIABLE, f"keras.Variable(value, dtype={dtype}, name=name)", when=guard & place)
        for dtype, guard in (
            ("keras.config.floatx()", equals("dtype", None) & _PLAIN),
            ("dtype", not_none("dtype") & _PLAIN),
        )
        for place in (outside_of_classes(), somewhere())
    ),
    # The name is put together at run time.
    *(
        rewrite(
            _VARIABLE,
            f"keras.Variable(value, dtype={dtype}, name=name)",
            when=guard & no_slash_in("name") & equals("constraint", None) & somewhere(),
        )
        for dtype, guard in (
            ("keras.config.floatx()", equals("dtype", None)),
            ("dtype", not_none("dtype")),
        )
    ),
)

BY_HAND = {
    "eval": "write keras.ops.convert_to_numpy(x)[()] for a tensor with values, and keep a number "
    "or a NumPy array as it is; a symbolic tensor has no value: build a keras.Model from it "
    "and call that",
    "get_value": "write keras.ops.convert_to_numpy(x)[()] for a tensor or variable, and keep a "
    "number or a NumPy array as it is",
    "variable": "write keras.Variable(value, dtype=..., name=...), with the dtype as a keyword; in "
    "a layer write self.add_weight(...), or the value is neither trained nor saved; a name must "
    "not contain a slash",
    "batch_set_value": "write `for variable, value in pairs: variable.assign(value)`",
    "set_value": "write x.assign(value); for a learning rate optimizer.learning_rate = value; "
    "any other hyperparameter of an optimizer must first be made a keras.Variable",
    "update": "write x.assign(new_x); it returns the new value; Keras 2 returned the variable or "
    "the operation",
    "update_add": "write x.assign_add(increment)",
    "update_sub": "write x.assign_sub(decrement)",
    "moving_average_update": "write x.assign_sub((x - value) * (1 - momentum))",
    "gradients": "record with tf.GradientTape: `with tf.GradientTape() as tape: loss = ...`, then "
    "tape.gradient(loss, variables)",
    "function": "write keras.Model(inputs, outputs), and keras.ops.convert_to_numpy of its results "
    "(not a list for a single output); instead of the learning phase call the model with "
    "training=True; the inputs and outputs must be symbolic tensors",
    "Function": "write keras.Function(inputs, outputs)",
    "print_tensor": "write tf.print(message, x) on a line of its own, and use x",
    "is_variable": "write isinstance(x, keras.Variable)",
}
