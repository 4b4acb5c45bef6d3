"""Functions of ``keras.backend`` that read and write values and variables."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.guards import statement_position
from kdoctor.rules.names._backend.questions import is_variable, not_symbolic

REWRITES = (
    rewrite(
        "keras.backend.eval(x)",
        "keras.ops.convert_to_numpy(x)",
        when=not_symbolic("x"),
    ),
    rewrite(
        "keras.backend.get_value(x)",
        "keras.ops.convert_to_numpy(x)",
        when=not_symbolic("x"),
    ),
    rewrite(
        "keras.backend.batch_get_value(tensors)",
        "[keras.ops.convert_to_numpy(tensor) for tensor in tensors]",
    ),
    rewrite(
        "keras.backend.set_value(x, value)",
        "x.assign(value)",
        when=is_variable("x") & statement_position(),
    ),
    rewrite(
        "keras.backend.update(x, new_x)",
        "x.assign(new_x)",
        when=is_variable("x") & statement_position(),
    ),
    rewrite(
        "keras.backend.update_add(x, increment)",
        "x.assign_add(increment)",
        when=is_variable("x") & statement_position(),
    ),
    rewrite(
        "keras.backend.update_sub(x, decrement)",
        "x.assign_sub(decrement)",
        when=is_variable("x") & statement_position(),
    ),
    rewrite(
        "keras.backend.moving_average_update(x, value, momentum)",
        "x.assign_sub((x - value) * (1 - momentum))",
        when=is_variable("x") & statement_position(),
    ),
)

BY_HAND = {
    "eval": "write keras.ops.convert_to_numpy(x) for a tensor with values; a symbolic tensor has "
    "none: make a keras.Model of it and call that",
    "get_value": "write keras.ops.convert_to_numpy(x) for a tensor or variable",
    "variable": "write keras.Variable(value, dtype=..., name=...), with the dtype as a keyword; in "
    "a layer write self.add_weight(...), or the value is not trained and not saved",
    "batch_set_value": "write `for variable, value in pairs: variable.assign(value)`",
    "set_value": "write x.assign(value); for a learning rate optimizer.learning_rate = value",
    "update": "write x.assign(new_x)",
    "update_add": "write x.assign_add(increment)",
    "update_sub": "write x.assign_sub(decrement)",
    "moving_average_update": "write x.assign_sub((x - value) * (1 - momentum))",
    "gradients": "record with tf.GradientTape: `with tf.GradientTape() as tape: loss = ...`, then "
    "tape.gradient(loss, variables)",
    "function": "write keras.Model(inputs, outputs) or keras.Function(inputs, outputs) and call "
    "it; with one output a model returns the tensor itself, not a list",
    "Function": "write keras.Function(inputs, outputs)",
    "print_tensor": "write tf.print(message, x) on a line of its own, and use x",
    "is_variable": "write isinstance(x, keras.Variable)",
}
