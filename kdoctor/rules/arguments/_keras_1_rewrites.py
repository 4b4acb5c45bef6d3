"""What becomes of the keywords of Keras 1 in one call."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.analysis.queries.callables import Callee
from kdoctor.analysis.training.batch_sizes import batch_size_of
from kdoctor.model import Edit, Hole, Precedence, Span
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.arguments._keras_1 import RENAMED, VALUES
from kdoctor.rules.arguments._keras_1_kernel_sizes import (
    KERNELS,
    OUTPUT_SHAPE_LOST,
    Rewritten,
    filled_by_position,
)
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_TRAINING = {
    "fit": {**RENAMED["fit_generator"]},
    "evaluate": {**RENAMED["evaluate_generator"]},
    "predict": {**RENAMED["predict_generator"]},
}
GENERATORS = {each: RENAMED[each] for each in RENAMED if each.endswith("_generator")}
_OF_LAYERS = {
    "BatchNormalization": "mode",
    "Embedding": "dropout",
    "Conv2DTranspose": "output_shape",
    "SeparableConv2D": "init",
    **dict.fromkeys(("GRU", "LSTM", "SimpleRNN", "ConvLSTM2D"), "forget_bias_init"),
}
_OF_FIT = "nb_epoch"
KEYWORDS = frozenset(
    (
        *(keyword for each in RENAMED.values() for keyword in each),
        *(keyword for each in KERNELS.values() for keyword in each),
        *(*_OF_LAYERS.values(), _OF_FIT, "input_dtype"),
    )
)
"""All keywords of Keras 1 that are known here, of whatever they are."""
_SAMPLES = ("samples_per_epoch", "val_samples", "nb_val_samples")
_QUEUE = ("max_q_size", "nb_worker", "pickle_safe")
_AS_IN_KERAS_2 = (
    "Keras 2.0 to 2.3 read the number in `{}=` as a number of batches, and so does this code; "
    "Keras 1 counted samples: if yours does, divide by the batch size"
)
_WORDS_DROPPED = (
    "nothing is dropped, as in Keras 2.0 to 2.3; Keras 1 dropped whole words: a SpatialDropout1D "
    "after the Embedding, or masking random words of the input, comes close"
)
_QUEUE_LOST = "data loading is now configured with `keras.utils.PyDataset(workers=…)`"


def known_keywords(call: KerasCall) -> frozenset[str]:
    """Return the keywords of Keras 1 that a callable took."""
    return frozenset(renamed(call)) | _special(call.made or call.leaf, call.kind)


def may_be_known(callee: KerasCall | Callee) -> frozenset[str]:
    """Return the keywords of Keras 1 that what a glimpse shows may have taken."""
    name = callee.made or callee.leaf
    if callee.method:
        methods = _TRAINING | GENERATORS
        return frozenset(methods.get(name, ())) | _special(name, callee.kind)
    old = {"input_dtype"} if name == "Input" else RENAMED.get(_plain(name), {}).keys()
    return frozenset(old) | _special(name, callee.kind)


def _special(name: str, kind: Kind | None) -> frozenset[str]:
    names = set(KERNELS.get(name, ()))
    if kind is Kind.LAYER and name in _OF_LAYERS:
        names.add(_OF_LAYERS[name])
    if name == "fit":
        names.add(_OF_FIT)
    return frozenset(names)


def renamed(call: KerasCall) -> dict[str, str]:
    """Return the keywords that only have another name now."""
    if call.owner is not None:
        methods = _TRAINING | GENERATORS
        return methods.get(call.leaf, {}) if call.owner.kind is Kind.MODEL else {}
    if call.made:
        return RENAMED.get(_plain(call.made), {})
    return {"input_dtype": "dtype"} if call.leaf == "Input" else {}


def plain_name_of(call: KerasCall, keyword: str) -> str | None:
    """Return the keyword of today, where nothing but the keyword is another one."""
    more = {*VALUES, *_SAMPLES, *_QUEUE, *_OF_LAYERS.values()} - {"init"}
    return None if keyword in more else ({"nb_epoch": "epochs"} | renamed(call)).get(keyword)


def _plain(made: str) -> str:
    return "Model" if made == "Functional" else made


def rewrite_argument(
    module: Module, facts: TargetFacts, call: KerasCall, argument: cst.Arg, rewritten: Rewritten
) -> None:
    """Note what becomes of one keyword; the sides of a kernel are left to ``join_kernel``."""
    assert argument.keyword is not None
    keyword, source = argument.keyword.value, module.source(argument.value)
    name = call.made or call.leaf
    if keyword in _SAMPLES:
        _count_batches(module, facts, call, argument, rewritten)
    elif keyword in _QUEUE and call.leaf not in GENERATORS:
        rewritten.gone.append(argument)
        rewritten.unsafe.append(_QUEUE_LOST)
    elif keyword == "consume_less":
        rewritten.gone.append(argument)  # how it is computed is for the backend to choose
    elif keyword in KERNELS.get(name, ()):
        return  # together, in `join_kernel`
    elif keyword == "mode":
        if source == "0":
            rewritten.gone.append(argument)
        else:
            rewritten.refused.append("no later Keras supports `mode=` other than 0")
    elif keyword == "forget_bias_init":
        if source in ("'one'", '"one"'):
            edit = Edit(module.span(argument), ("unit_forget_bias=True",))
            rewritten.edits.append(edit)
        else:
            rewritten.refused.append("kdoctor cannot tell that `forget_bias_init=` is 'one'")
    elif keyword == "output_shape":
        rewritten.gone.append(argument)
        rewritten.unsafe.append(OUTPUT_SHAPE_LOST)
    elif keyword == "dropout" and name == "Embedding":
        rewritten.gone.append(argument)
        rewritten.unsafe.append(_WORDS_DROPPED)
    elif keyword == "init" and name == "SeparableConv2D":
        new = f"depthwise_initializer={source}, pointwise_initializer={source}"
        rewritten.edits.append(Edit(module.span(argument), (new,)))
    else:
        _rename(module, call, argument, {"nb_epoch": "epochs"} | renamed(call), rewritten)


def _count_batches(
    module: Module, facts: TargetFacts, call: KerasCall, argument: cst.Arg, rewritten: Rewritten
) -> None:
    """Divide a number of samples by the batch size, where the data says it.

    Where it does not, the number stays what it is, as Keras 2.0 to 2.3 left it.
    """
    assert argument.keyword is not None
    keyword = argument.keyword.value
    source = "validation_data" if keyword == "nb_val_samples" else "generator"
    data = call.keyword(source)
    if data is None and source == "generator" and call.args[0].keyword is None:
        data = call.args[0]
    size = None if data is None else batch_size_of(module, facts, data.value)
    if size is None and call.leaf not in GENERATORS:
        rewritten.refused.append(
            f"`{keyword}=` counted samples, but its replacement counts batches"
        )
        return
    new = renamed(call)[keyword]
    if call.keyword(new) is not None or new in filled_by_position(call):
        rewritten.refused.append(f"`{new}` is also passed, beside `{keyword}=`")
        return
    if size is None:
        rewritten.edits.append(Edit(module.span(argument.keyword), (new,)))
        rewritten.unsafe.append(_AS_IN_KERAS_2.format(keyword))
        return
    value = module.outer_span(argument.value)
    hole = Hole(value, Precedence.PRODUCT, precedence_of(argument.value))
    parts = (f"{new}=", hole, f" // {size}")
    rewritten.edits.append(Edit(Span(module.span(argument).start, value.end), parts))
    rewritten.unsafe.append("samples that do not fill a batch are left out, as in Keras 2.2")


def _rename(
    module: Module,
    call: KerasCall,
    argument: cst.Arg,
    names: dict[str, str],
    rewritten: Rewritten,
) -> None:
    assert argument.keyword is not None
    keyword = argument.keyword.value
    new = names[keyword]
    if call.keyword(new) is not None or new in filled_by_position(call):
        rewritten.refused.append(f"`{new}` is also passed, beside `{keyword}=`")
        return
    rewritten.edits.append(Edit(module.span(argument.keyword), (new,)))
    values = VALUES.get(keyword)
    if values is None:
        return
    text = literal(argument.value)
    if not isinstance(text, str) or text not in values:
        rewritten.refused.append(
            f"kdoctor cannot tell that `{keyword}=` is one of {', '.join(values)}"
        )
    else:
        rewritten.edits.append(Edit(module.span(argument.value), (repr(values[text]),)))
