"""`Lambda(f, output_shape=…)` that says another shape than the function gives."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.models.layer_inputs import Input, inputs_of
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.analysis.queries.functions_given import function_of
from kdoctor.analysis.tensors.known_shapes import Shape, differ
from kdoctor.analysis.tensors.shape_runs import run
from kdoctor.analysis.tensors.shape_values import RefusedError, Sizes, Tensor, Value
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_SHAPE = "output_shape"
_HELP = "Remove `output_shape`: Keras runs the function to find the shape, as Keras 2 always did."
_WHERE = "Exception encountered when calling Lambda.call()."


@rule(
    "KD330",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Instance(Kind.LAYER, "Lambda")).argument(_SHAPE, 1),
)
def check(said: Argument) -> Finding | None:
    """Report each such shape, for a symbolic tensor that the layer is called with."""
    # Within `TimeDistributed`, Keras 2 asked for it, too.
    inputs = [each for each in inputs_of(said.module, said.call) if not each.wrapper]
    return next((found for each in inputs if (found := _for_input(said, each))), None)


def _for_input(said: Argument, given: Input) -> Finding | None:
    made = _made(said, given.shape)
    written = literal(said.value_node)
    kind = _no_tuple(written)
    if kind:
        error = f'can only concatenate tuple (not "{kind}") to tuple'
        return _refused(said, f"it is no tuple: TypeError: {_WHERE} {error}", made)
    try:
        shape = _said(said, given.shape, written)
    except RefusedError as refused:
        kind, _, detail = refused.error.partition(": ")
        error = f"{kind}: {_WHERE} {detail}".rstrip()
        return _refused(
            said, f"the layer is called with a tensor of shape {given.shape}: {error}", made
        )
    if shape is None or made is None or not differ(shape, made):
        return None
    return said.finding(
        f"for an input of shape {given.shape} it says {shape}, but the function returns a tensor "
        f"of shape {made}; Keras 2 did not ask it",
        severity=Severity.CHANGE,
        help=_HELP,
        fix=_removed(said, made),
    )


def _no_tuple(written: object) -> str:
    """Return what cannot be put behind the size of the batch, as Python calls it; else ""."""
    if isinstance(written, int) and not isinstance(written, bool):
        return "int"
    return "TrackedList" if isinstance(written, list) and written and _is_shape(written) else ""


def _refused(said: Argument, why: str, made: Shape | None) -> Finding:
    return said.finding(why, help=_HELP, fix=_removed(said, made))


def _is_shape(sizes: list[object]) -> bool:
    return all(each is None or isinstance(each, int) for each in sizes)


def _said(said: Argument, shape: Shape, written: object) -> Shape | None:
    """Return the shape that the layer says its output has, with the batch.

    Raises:
        RefusedError: what is passed is a function, which fails.
    """
    if isinstance(written, tuple):
        return (shape[0], *written) if _is_shape([*written]) else None
    found = _run(said, said.node, Sizes(shape))
    return found.sizes if isinstance(found, Sizes) else None


def _made(said: Argument, shape: Shape) -> Shape | None:
    """Return the shape of what the function returns."""
    function = said.argument("function", 0)
    try:
        found = None if function is None else _run(said, function.value, Tensor(shape))
    except RefusedError:
        return None
    return found.shape if isinstance(found, Tensor) else None


def _run(said: Argument, function: cst.BaseExpression, given: Value) -> Value | None:
    node = function_of(said.module, function)
    if node is None or (isinstance(node, cst.FunctionDef) and node.decorators):
        return None
    names = [each.name.value for each in node.params.params[:1]]
    return run(said.module, node, dict.fromkeys(names, given))


def _removed(said: Argument, made: Shape | None) -> Fix | NoFix:
    args = said.call.args
    after = args[args.index(said.arg) + 1 :]
    if said.arg.keyword is None and any(each.keyword is None for each in after):
        return NoFix("an argument behind it is passed by position")
    edits = remove_arguments(said.module, said.call, [said.arg])
    if edits is None:
        return NoFix("a comment would be removed with it")
    return said.fix(
        f"Remove `{_SHAPE}`",
        *edits,
        unsafe_because=""
        if made is not None
        else "Keras 3 may find no shape by the function, where Keras 2 took what it gave",
    )
