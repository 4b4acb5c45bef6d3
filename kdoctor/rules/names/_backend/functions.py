"""`K.function(inputs, outputs)`: a function of the file itself that does what Keras 2 did.

Run eagerly, Keras 2 made a model of inputs and outputs and called it: with a list, a tuple, a dict
by name or a bare array, of any dtype. `keras.Function` takes only the structure that it was made
with, and no values of a dict; it gives tensors.
`tests/rules/test_backend_function_gone_function_helper.py` holds the function against that of
`tf_keras`.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.memoize import once
from kdoctor.model import Applicability, Edit, Fix, NoFix, Precedence, Span
from kdoctor.rules.fixes.helper_definition import spelled_helper
from kdoctor.rules.names._backend.learning_phase_inputs import asks_the_phase
from kdoctor.syntax import Module, Reference, ReferenceKind
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

    return run'''
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


def as_function(module: Module, reference: Reference, proven: Applicability) -> Fix | NoFix:
    """Return the fix that writes the helper and calls it, or why there is none."""
    reason = _why_not(module, reference.call)
    if reason is not None:
        return NoFix(reason)
    helper = spelled_helper(module, reference, _fixable(module), NAME, (HELPER, _NAMES))
    if helper is None:
        return NoFix(
            f"`{NAME}` cannot be added to this file: the name is taken, or Keras is not "
            "available there"
        )
    assert reference.call is not None
    call = Edit(module.span(reference.call.func), (NAME,), Precedence.PRIMARY)
    return Fix(
        f"Call `{NAME}`, a function of this file that does what `K.function` did",
        (*helper.edits, call, *_without_the_rest(module, reference.call)),
        proven,
        helper.imports,
    )


@once
def _fixable(module: Module) -> tuple[cst.Call, ...]:
    calls = (
        each.call
        for each in module.references
        if each.kind is ReferenceKind.LOAD and each.name.endswith("backend.function")
    )
    return tuple(each for each in calls if each is not None and _why_not(module, each) is None)


def _why_not(module: Module, call: cst.Call | None) -> str | None:
    """Return why a call cannot be made one of the helper, None where it can."""
    if call is None:
        return "it is not called here"
    if any(each.star for each in call.args) or len(call.args) not in _LENGTHS:
        return "kdoctor cannot tell its inputs from its outputs"
    leading, rest = call.args[: len(_LEADING)], call.args[len(_LEADING) :]
    names = [each.keyword.value if each.keyword else None for each in leading]
    if any(name not in (None, wanted) for name, wanted in zip(names, _LEADING, strict=True)):
        return "kdoctor cannot tell its inputs from its outputs"
    if any(asks_the_phase(module, each.value) for each in leading):
        return "the learning phase is among `inputs`"
    made = _made_in_a_graph(module, leading[-1].value, set())
    if made is not None:
        return f"what `{made}` returns is not an output of a model: it needs a `tf.GradientTape`"
    for each, position in zip(rest, _IGNORED, strict=False):
        name = each.keyword.value if each.keyword else position
        if name != "name" and module.source(each.value) not in _NOTHING:
            return f"`{name}` has no counterpart"
    # Whatever stands between them goes with them, so no comment may.
    return "there is a comment among its arguments" if "#" in _rest_of(module, call)[1] else None


def _made_in_a_graph(module: Module, node: cst.CSTNode, seen: set[str]) -> str | None:
    """Return by which function of ``_OF_A_GRAPH`` something was made, be it by way of names."""
    for each in descendants(node):
        match each:
            case cst.Call(func=cst.Attribute(attr=name) | (cst.Name() as name)):
                # Of the user's own functions nothing is known, whatever they are called.
                own = module.scope_of(name).owner(name.value) if name is each.func else None
                if name.value in _OF_A_GRAPH and (own is None or module.qualified(name)):
                    return name.value
            case cst.Name() if each.value not in seen:
                seen.add(each.value)
                scope = module.scope_of(each).owner(each.value)
                for binding in scope.bindings[each.value] if scope else ():
                    if binding.value is not None and (
                        made := _made_in_a_graph(module, binding.value, seen)
                    ):
                        return made
    return None


def _rest_of(module: Module, call: cst.Call) -> tuple[Span, str]:
    start = module.outer_span(call.args[1].value).end
    end = module.outer_span(call.args[-1].value).end
    return Span(start, end), module.text[start:end]


def _without_the_rest(module: Module, call: cst.Call) -> list[Edit]:
    """Take away `updates=None` and `name=`, which Keras 2 took no notice of when run eagerly."""
    span, text = _rest_of(module, call)
    return [Edit(span, ())] if text else []
