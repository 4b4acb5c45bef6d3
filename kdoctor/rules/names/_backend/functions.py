"""`K.function(inputs, outputs)`: a function of the file itself that does what Keras 2 did.

Run eagerly, Keras 2 made a model of inputs and outputs and called it: with a list, a tuple, a dict
by name or a bare array, of any dtype. `keras.Function` takes only the structure that it was made
with, and no values of a dict; it gives tensors. What a session ran had `inputs` and `outputs`.
`tests/rules/test_backend_function_gone_function_helper.py` holds the function against that of
`tf_keras`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec.structs import replace

from kdoctor.memoize import once
from kdoctor.model import Applicability, Edit, Fix, NoFix, Precedence, Span
from kdoctor.rules.fixes.helper_definition import not_added, spelled_helper
from kdoctor.rules.names._backend.gradients import RUNS_AGAIN, is_rewritten
from kdoctor.rules.names._backend.helper_calls import are_in_order, calls_of_backend
from kdoctor.rules.names._backend.learning_phase_inputs import asks_the_phase, function_around
from kdoctor.rules.names._backend.training_functions import as_training, trains
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.libcst_walk import descendants

NAME = "keras_function"
HELPER = '''def keras_function(inputs, outputs):
    """Do what `K.function` of Keras 2 did: values in, NumPy arrays out."""
    if not isinstance(outputs, (dict, list, tuple)) and not {is_keras_tensor}(outputs):
        outputs = list(outputs)  # the values of a dict
    model = {model}(inputs, outputs)

    def as_numpy(results):
        if isinstance(results, dict):
            return {{name: as_numpy(each) for name, each in results.items()}}
        if isinstance(results, (list, tuple)):
            return type(results)(map(as_numpy, results))
        array = {convert_to_numpy}(results)
        return array if array.ndim else array.item()

    def run(values):
        results = model(values)
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            results = type(outputs)([results])  # a model takes it out
        return as_numpy(results)

    run.inputs, run.outputs = model.inputs, model.outputs
    return run'''
NAME_WITH_PHASE = "keras_function_with_phase"
# Where the learning phase is among the inputs, and each call passes its value in that place.
_OPEN_DOCSTRING = 'values in, NumPy arrays out."""'
_ABOUT_PHASE = """values in, NumPy arrays out.

    None among the inputs stands for the learning phase.
    \"\"\"
    phase = [each is None for each in inputs].index(True)
    inputs = [each for each in inputs if each is not None]"""
_RUN = "        results = model(values)\n"
_RUN_IN_PHASE = """        values = list(values)
        training = bool(values.pop(phase))
        # The graph left averages (of BatchNormalization) as they were.
        state = model.non_trainable_weights if training else []
        kept = [{convert_to_numpy}(each) for each in state]
        results = model(values, training=training)
        for weight, value in zip(state, kept):
            weight.assign(value)
"""
_OF_PHASES = (
    "it was compared with graphs of Keras 2 alone, the only place where a phase could be given"
)
_WITH_PHASE = (
    (f"def {NAME}(", f"def {NAME_WITH_PHASE}("),
    (_OPEN_DOCSTRING, _ABOUT_PHASE),
    (_RUN, _RUN_IN_PHASE),
)
_NAMES = {
    "model": "keras.Model",
    "is_keras_tensor": "keras.backend.is_keras_tensor",
    "convert_to_numpy": "keras.ops.convert_to_numpy",
}
_LEADING = ("inputs", "outputs")
_IGNORED = ("updates", "name")
_LENGTHS = range(len(_LEADING), len(_LEADING + _IGNORED) + 1)
_NOTHING = ("None", "[]", "()")
# What gives parts of a graph that no layer makes: no model has them among its outputs.
_OF_A_GRAPH = frozenset(
    {"apply_gradients", "get_gradients", "get_updates", "gradients", "minimize"}
)


def with_phase() -> str:
    """Return the helper whose inputs have the learning phase among them."""
    text = HELPER
    for before, after in _WITH_PHASE:
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text


def as_function(module: Module, reference: Reference, proven: Applicability) -> Fix | NoFix:
    """Return the fix that writes the helper and calls it, or why there is none.

    ``reference`` is the function, or the learning phase among its inputs.
    """
    call = function_around(module, reference)
    if call is not None and trains(call):
        return as_training(module, call)
    reason = _why_not(module, call)
    if call is None or reason is not None:
        return NoFix(reason or "it is not called here")
    phase = _phase_among(module, call)
    name, text = (NAME_WITH_PHASE, with_phase()) if phase else (NAME, HELPER)
    alike = [each for each in _fixable(module) if bool(_phase_among(module, each)) is bool(phase)]
    helper = spelled_helper(module, reference, alike, name, (text, _NAMES))
    if helper is None:
        return not_added(name)
    edits = [Edit(module.span(call.func), (name,), Precedence.PRIMARY)]
    edits += [Edit(module.outer_span(phase), ("None",))] if phase else []
    fix = Fix(
        f"Call `{name}`, a function of this file that does what `K.function` did",
        (*helper.edits, *edits, *_without_the_rest(module, call)),
        proven,
        helper.imports,
    )
    if any(_made_in_a_graph(module, call.args[1].value, set())):
        return replace(fix, applicability=Applicability.UNSAFE, unsafe_because=RUNS_AGAIN)
    if phase:
        return replace(fix, applicability=Applicability.UNSAFE, unsafe_because=_OF_PHASES)
    return fix


def _phase_among(module: Module, call: cst.Call) -> cst.Call | None:
    """Return the learning phase in the list of inputs, if it is asked for just there."""
    match call.args[0].value:
        case (
            cst.List(elements=elements)
            | cst.BinaryOperation(operator=cst.Add(), right=cst.List(elements=elements))
        ):
            asked = [each.value for each in elements if asks_the_phase(module, each.value)]
            if len(asked) == 1 and isinstance(asked[0], cst.Call) and not asked[0].args:
                return asked[0]
    return None


@once
def _fixable(module: Module) -> tuple[cst.Call, ...]:
    calls = calls_of_backend(module, "function")
    return tuple(each for each in calls if _why_not(module, each) is None)


def _why_not(module: Module, call: cst.Call | None) -> str | None:
    """Return why a call cannot be made one of the helper, None where it can."""
    if call is None:
        return "it is not called here"
    if any(each.star for each in call.args) or len(call.args) not in _LENGTHS:
        return "kdoctor cannot tell its inputs from its outputs"
    leading, rest = call.args[: len(_LEADING)], call.args[len(_LEADING) :]
    if not are_in_order(leading, _LEADING):
        return "kdoctor cannot tell its inputs from its outputs"
    phase = [each.value for each in leading if asks_the_phase(module, each.value)]
    if phase and (phase != [leading[0].value] or _phase_among(module, call) is None):
        return "the learning phase is among `inputs`"
    for made in _made_in_a_graph(module, leading[-1].value, set()):
        if not is_rewritten(module, made):
            gone = made.func.attr if isinstance(made.func, cst.Attribute) else made.func
            return (
                f"what `{module.source(gone)}` returns is not an output of a model: it needs a "
                "`tf.GradientTape`"
            )
    for each, position in zip(rest, _IGNORED, strict=False):
        name = each.keyword.value if each.keyword else position
        if name != "name" and module.source(each.value) not in _NOTHING:
            return f"`{name}` has no counterpart"
    # Whatever stands between them goes with them, so no comment may.
    return "there is a comment among its arguments" if "#" in _rest_of(module, call)[1] else None


def _made_in_a_graph(module: Module, node: cst.CSTNode, seen: set[str]) -> Iterator[cst.Call]:
    """Yield the calls of ``_OF_A_GRAPH`` that something was made by, be it by way of names."""
    for each in descendants(node):
        match each:
            case cst.Call(func=cst.Attribute(attr=name) | (cst.Name() as name)):
                # Of the user's own functions nothing is known, whatever they are called.
                own = module.scope_of(name).owner(name.value) if name is each.func else None
                if name.value in _OF_A_GRAPH and (own is None or module.qualified(name)):
                    yield each
            case cst.Name() if each.value not in seen:
                seen.add(each.value)
                scope = module.scope_of(each).owner(each.value)
                for binding in scope.bindings[each.value] if scope else ():
                    if binding.value is not None:
                        yield from _made_in_a_graph(module, binding.value, seen)


def _rest_of(module: Module, call: cst.Call) -> tuple[Span, str]:
    start = module.outer_span(call.args[1].value).end
    end = module.outer_span(call.args[-1].value).end
    return Span(start, end), module.text[start:end]


def _without_the_rest(module: Module, call: cst.Call) -> list[Edit]:
    """Take away `updates=None` and `name=`, which Keras 2 took no notice of when run eagerly."""
    span, text = _rest_of(module, call)
    return [Edit(span, ())] if text else []
