"""A generator's batches of several lengths: the first two decide for all."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.queries import Argument
from kdoctor.analysis.queries.generators import HAS_GENERATORS, data
from kdoctor.analysis.training.generators import function_called
from kdoctor.analysis.training.sequence_lengths import yields_several_lengths
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes

NAME: Final = "batches_of_any_size"
HELPER: Final = '''\
def batches_of_any_size(batches):
    """Leave the sizes of all axes open, as Keras 2 did."""
    batches = iter(batches)
    first = next(batches)

    def of_any_size(array):
        tensor = {convert}(array)
        return {spec}([None] * len(tensor.shape), tensor.dtype)

    def all_batches():
        yield first
        yield from batches

    signature = {map_structure}(of_any_size, first)
    return {from_generator}(all_batches, output_signature=signature)'''
_NAMES: Final = {
    "convert": "tensorflow.convert_to_tensor",
    "spec": "tensorflow.TensorSpec",
    "map_structure": "keras.tree.map_structure",
    "from_generator": "tensorflow.data.Dataset.from_generator",
}
_RAISED: Final = "Generator yielded an element of shape"
_METHODS: Final = ("fit", "evaluate", "predict", *("fit_generator", "evaluate_generator"))


@rule(
    "KD528",
    severity=Severity.ERROR,
    since="3.0",
    look_for=data(*_METHODS, "predict_generator").beside(HAS_GENERATORS),
    only_alone=True,
)
def check(given: Argument) -> Finding | None:
    """Report each generator whose batches have, or were seen to have, several lengths."""
    module, made = given.module, given.value_node
    function = function_called(module, made) if isinstance(made, cst.Call) else None
    if function is None or not _is_generator(function):
        return None
    if not (yields_several_lengths(module, function) or _was_seen(module, given)):
        return None
    return given.finding(
        "batches may be of several lengths, and what the first two have in common holds for all: "
        "by chance, InvalidArgumentError: Graph execution error: … TypeError: `generator` yielded "
        "an element of shape (32, 5) where an element of shape (None, 8) was expected.",
        confidence=Confidence.LIKELY,
        help="Make a `tf.data.Dataset` of it whose `output_signature` leaves the sizes open; or "
        "pad all batches to one length.",
        fix=_fix(given),
    )


def _is_generator(function: cst.FunctionDef) -> bool:
    return any(isinstance(each, cst.Yield) for each in own_nodes(function.body))


def _was_seen(module: Module, given: Argument) -> bool:
    seen = module.inference.errors_in(module.scope_of(given.call))
    return any(_RAISED in each for each in seen)


def _fix(given: Argument) -> Fix | NoFix:
    module = given.module
    first = min((each for each in _fed(module)), key=module.span, default=given.call)
    before = top_statement(module, first)
    speller = speller_at(module, before)
    written = {key: speller.spell(name) for key, name in _NAMES.items()}
    text = HELPER.format(**{key: spelled for key, (spelled, _) in written.items()})
    helper = helper_edits(module, before, NAME, text)
    if helper is None:
        return NoFix(f"`{NAME}` cannot be added to this file: the name is taken, or Keras is not")
    place = module.outer_span(given.node)
    return given.fix(
        f"Leave the sizes open, with `{NAME}`, a function of this file",
        *helper,
        Edit(place, (f"{NAME}(", Hole(place, own=precedence_of(given.node)), ")")),
        imports=dict.fromkeys(need for _, need in written.values() if need is not None),
        unsafe_because="the data set is one of TensorFlow, and its first batch is made before "
        "training begins",
    )


def _fed(module: Module) -> list[cst.CSTNode]:
    """Return what may need the function: all fixes of a file put it in one place."""
    return [each.called for each in module.members_named(*_METHODS) if each.called is not None]
