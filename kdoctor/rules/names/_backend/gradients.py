"""`K.gradients(loss, variables)`: a function of the file itself that does what Keras 2 did.

In the graph of Keras 2 gradients were tensors like all others: pooled, scaled, given out by
`K.function`, differentiated once more. Here a layer runs the model up to the loss under a tape, and
its outputs are such tensors, wherever in the program they are asked for and used.
`tests/rules/test_backend_function_gone_graph_programs.py` holds programs that people write against
the graph of `tf_keras`.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import passed
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.model import Applicability, Edit, Fix, NoFix, Precedence
from kdoctor.rules.fixes.helper_definition import is_name_of_module, not_added, spelled_helper
from kdoctor.rules.names._backend.helper_calls import are_in_order, calls_of_backend
from kdoctor.syntax import Module, Reference

NAME = "keras_gradients"
HELPER = '''def keras_gradients(loss, variables):
    """Do what `K.gradients` of Keras 2 did: symbolic in, symbolic out."""
    losses, wanted = (
        list(each) if isinstance(each, (list, tuple)) else [each]
        for each in (loss, variables)
    )
    inputs_of = {get_source_inputs}
    inputs = {{id(each): each for of in losses for each in inputs_of(of)}}
    weights = [each for each in wanted if not {is_keras_tensor}(each)]
    values = [
        each if isinstance(each, {variable}) else each.value for each in weights
    ]
    tensors = [
        each
        for each in wanted
        if {is_keras_tensor}(each)
        and all(id(one) in inputs for one in inputs_of(each))
    ]

    class Gradients({layer}):
        def __init__(self):
            super().__init__(autocast=False)
            # The first twice: a model of one output gives it without its list.
            self.model = {model}(list(inputs.values()), [losses[0], *losses, *tensors])

        def call(self, inputs):
            with {tape}() as tape:
                tape.watch([each for each in inputs if each.dtype.is_floating] + values)
                _, *results = self.model(inputs)
            found = tape.gradient(
                results[: len(losses)], results[len(losses) :] + values
            )
            self.is_connected = [each is not None for each in found]
            return [{convert_to_tensor}(each) for each in found if each is not None]

    layer = Gradients()
    found = iter(layer(list(inputs.values())))
    gradients = {{
        id(each): next(found)
        for each, is_connected in zip([*tensors, *weights], layer.is_connected)
        if is_connected
    }}
    return [gradients.get(id(each)) for each in wanted]'''
NAMES = {
    "model": "keras.Model",
    "layer": "keras.layers.Layer",
    "is_keras_tensor": "keras.backend.is_keras_tensor",
    "get_source_inputs": "keras.utils.get_source_inputs",
    "variable": "tensorflow.Variable",
    "tape": "tensorflow.GradientTape",
    "convert_to_tensor": "tensorflow.convert_to_tensor",
}
RUNS_AGAIN = (
    "it runs the model once more for the gradients, on TensorFlow alone; what is drawn at random "
    "with training=True is drawn anew"
)
_LEADING = ("loss", "variables")
# Where an optimizer of Keras 2 made its updates: the loss has values there.
_UPDATES = frozenset({"get_gradients", "get_updates"})


def as_gradients(module: Module, reference: Reference) -> Fix | NoFix:
    """Return the fix that writes the helper and calls it, or why there is none."""
    reason = _why_not(module, reference.call)
    if reason is not None:
        return NoFix(reason)
    helper = spelled_helper(module, reference, _fixable(module), NAME, (HELPER, NAMES))
    if helper is None:
        return not_added(NAME)
    assert reference.call is not None
    return Fix(
        f"Call `{NAME}`, a function of this file that does what `K.gradients` did",
        (
            *helper.edits,
            Edit(module.span(reference.call.func), (NAME,), Precedence.PRIMARY),
            *_inputs_of_tensors(module),
        ),
        Applicability.UNSAFE,
        helper.imports,
        unsafe_because=RUNS_AGAIN,
    )


@once
def _inputs_of_tensors(module: Module) -> tuple[Edit, ...]:
    """Return the edits that write `x` for `Input(tensor=x)`.

    In the graph of Keras 2 the two were one tensor; here the input is a new one, and what is
    computed of it does not hang on what `x` was computed of.
    """
    edits = []
    for call in module.nodes(cst.Call):
        split = split_root(module.qualified(call.func) or "")
        given = passed(call, "tensor")
        if split and split[1].rpartition(".")[2] == "Input" and isinstance(given, cst.Name):
            edits.append(Edit(module.span(call), (module.source(given),), Precedence.ATOM))
    return tuple(edits)


@once
def _fixable(module: Module) -> tuple[cst.Call, ...]:
    calls = calls_of_backend(module, "gradients")
    return tuple(each for each in calls if _why_not(module, each) is None)


def is_rewritten(module: Module, call: cst.Call) -> bool:
    """Say whether a call is one of ``K.gradients`` that becomes one of the helper."""
    name = module.qualified(call.func) or ""
    return name.endswith("backend.gradients") and _why_not(module, call) is None


def _why_not(module: Module, call: cst.Call | None) -> str | None:
    """Return why a call of ``K.gradients`` cannot be made one of the helper, None where it can."""
    if call is None:
        return "it is not called here"
    if any(each.star for each in call.args) or not are_in_order(call.args, _LEADING):
        return "kdoctor cannot tell its loss from its variables"
    if module.context_of(call) in RUN_WITH_VALUES or _is_in_updates(module, call):
        return (
            "tensors have values here, and no graph: the model has to be called under a "
            "`tf.GradientTape`"
        )
    return None if is_name_of_module(module, NAME, call) else f"`{NAME}` means something else here"


def _is_in_updates(module: Module, call: cst.Call) -> bool:
    return any(
        isinstance(each, cst.FunctionDef) and each.name.value in _UPDATES
        for each in module.ancestors(call)
    )
