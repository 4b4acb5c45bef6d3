"""Functions of ``keras.backend`` that work on each element alone, and comparisons."""

from __future__ import annotations

import libcst as cst

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import (
    Guard,
    GuardAnswer,
    Question,
    UseSite,
    context,
    equals,
    is_lambda,
    not_none,
)
from kdoctor.rules.names._backend.function_guards import is_no_function, is_no_known_function
from kdoctor.rules.names._backend.number_guards import not_integer, not_negative
from kdoctor.rules.names._backend.unknown_rank import rank_is_known
from kdoctor.rules.names._backend.value_guards import is_scalar, no_tensor, same_shape, somewhere
from kdoctor.value_types import Context


def _not_written_as_none(*parameters: str) -> Guard:
    """None of the arguments is None for sure; they may be."""

    def answer(use_site: UseSite) -> GuardAnswer:
        nodes = [use_site.value(each) for each in parameters]
        written = any(isinstance(each, cst.Name) and each.value == "None" for each in nodes)
        return GuardAnswer.of(not written)

    return Question(
        f"not_written_as_none({', '.join(map(repr, parameters))})",
        f"{' or '.join(f'`{each}`' for each in parameters)} is None",
        answer,
        parameters=frozenset(parameters),
    )


REWRITES = (
    rewrite("keras.backend.abs(x)", "keras.ops.abs(x)"),
    rewrite("keras.backend.square(x)", "keras.ops.square(x)"),
    # K.sqrt takes negative numbers for 0; keras.ops.sqrt gives NaN.
    rewrite("keras.backend.sqrt(x)", "keras.ops.sqrt(x)", when=not_negative("x")),
    rewrite("keras.backend.sqrt(x)", "keras.ops.sqrt(keras.ops.maximum(x, 0))"),
    rewrite("keras.backend.exp(x)", "keras.ops.exp(x)"),
    rewrite("keras.backend.log(x)", "keras.ops.log(x)"),
    rewrite("keras.backend.round(x)", "keras.ops.round(x)"),
    rewrite("keras.backend.sign(x)", "keras.ops.sign(x)"),
    rewrite("keras.backend.sin(x)", "keras.ops.sin(x)"),
    rewrite("keras.backend.cos(x)", "keras.ops.cos(x)"),
    rewrite("keras.backend.pow(x, a)", "keras.ops.power(x, a)"),
    rewrite("keras.backend.maximum(x, y)", "keras.ops.maximum(x, y)"),
    rewrite("keras.backend.minimum(x, y)", "keras.ops.minimum(x, y)"),
    # keras.ops.clip takes no None.
    rewrite(
        "keras.backend.clip(x, min_value, max_value)",
        "keras.ops.clip(x, min_value, max_value)",
        when=not_none("min_value", "max_value"),
    ),
    rewrite(
        "keras.backend.clip(x, min_value, max_value)",
        "keras.ops.maximum(x, min_value)",
        when=equals("max_value", None) & not_none("min_value"),
    ),
    rewrite(
        "keras.backend.clip(x, min_value, max_value)",
        "keras.ops.minimum(x, max_value)",
        when=equals("min_value", None) & not_none("max_value") & no_tensor("max_value"),
    ),
    rewrite(
        "keras.backend.clip(x, min_value, max_value)",
        "keras.ops.minimum(x, max_value)",
        when=equals("min_value", None) & not_none("max_value"),
    ),
    rewrite(
        "keras.backend.clip(x, min_value, max_value)",
        "keras.ops.clip(x, min_value, max_value)",
        when=_not_written_as_none("min_value", "max_value") & somewhere(),
    ),
    rewrite("keras.backend.equal(x, y)", "keras.ops.equal(x, y)"),
    rewrite("keras.backend.not_equal(x, y)", "keras.ops.not_equal(x, y)"),
    rewrite("keras.backend.greater(x, y)", "keras.ops.greater(x, y)"),
    rewrite("keras.backend.greater_equal(x, y)", "keras.ops.greater_equal(x, y)"),
    rewrite("keras.backend.less(x, y)", "keras.ops.less(x, y)"),
    rewrite("keras.backend.less_equal(x, y)", "keras.ops.less_equal(x, y)"),
    # Functions that read symbolic tensors of the model being built fail in keras.ops.cond.
    # A condition of lower rank lines up with the first axes in K.switch, with the last in
    # keras.ops.where.
    rewrite(
        "keras.backend.switch(condition, then_expression, else_expression)",
        "keras.ops.where(condition, then_expression, else_expression)",
        when=same_shape("condition", "then_expression", "else_expression"),
    ),
    rewrite(
        "keras.backend.switch(condition, then_expression, else_expression)",
        "keras.ops.cond(condition, then_expression, else_expression)",
        when=is_scalar("condition")
        & is_lambda("then_expression")
        & is_lambda("else_expression")
        & context(Context.CALL, Context.LOSS_OR_METRIC, Context.EAGER),
    ),
    rewrite(
        "keras.backend.switch(condition, then_expression, else_expression)",
        "keras.ops.where(condition, then_expression, else_expression)",
        when=is_no_function("then_expression") & is_no_function("else_expression") & somewhere(),
    ),
    # Where one branch is a tensor, the other hardly is a function.
    *(
        rewrite(
            "keras.backend.switch(condition, then_expression, else_expression)",
            "keras.ops.where(condition, then_expression, else_expression)",
            when=is_no_function(one) & is_no_known_function(other) & somewhere(),
        )
        for one, other in (
            ("then_expression", "else_expression"),
            ("else_expression", "then_expression"),
        )
    ),
    rewrite(
        "keras.backend.where(condition, x, y)",
        "keras.ops.where(condition, x, y)",
    ),
    # No Keras ever had these four, though people write them.
    # keras.ops.add of 3.15 takes a column for a row: [[1, 1], [1, 1]] + [[1], [2]] gives
    # [[2, 3], [2, 3]].
    rewrite(
        "keras.backend.add(x, y)",
        "keras.ops.add(x, y)",
        when=same_shape("x", "y") & rank_is_known(),
    ),
    rewrite("keras.backend.add(x, y)", "keras.ops.add(x, y)"),
    rewrite("keras.backend.subtract(x, y)", "keras.ops.subtract(x, y)"),
    rewrite("keras.backend.multiply(x, y)", "keras.ops.multiply(x, y)"),
    # Of integers tf.divide makes float64, keras.ops.divide float32.
    rewrite("keras.backend.divide(x, y)", "keras.ops.divide(x, y)", when=not_integer("x")),
    rewrite("keras.backend.divide(x, y)", "keras.ops.divide(x, y)"),
)

BY_HAND = {
    "clip": "keras.ops.clip does not accept None: use keras.ops.minimum or keras.ops.maximum where "
    "only one bound is given",
    "switch": "for a condition with the branches' shape write keras.ops.where(condition, a, b); "
    "for a scalar one keras.ops.cond(condition, lambda: a, lambda: b); K.switch aligns a "
    "condition of lower rank with the branches' first axes: add the missing axes with "
    "keras.ops.expand_dims first",
}
