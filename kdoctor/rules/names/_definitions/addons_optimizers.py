"""What files do with optimizers of packages that died, which those of Keras 3 cannot do."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.dataflow.uses import references_through
from kdoctor.memoize import once
from kdoctor.model import Edit, Precedence
from kdoctor.rules.names._definitions.dead_packages import CONTRIB, PACKAGE
from kdoctor.rules.names._definitions.definitions import definition
from kdoctor.rules.names._definitions.written_out import Helper
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.libcst_walk import descendants

_OPTIMIZERS: Final = frozenset(
    (
        *("AdamW", "SGDW", "LazyAdam", "RectifiedAdam", "LAMB", "Lookahead", "MovingAverage"),
        *("SWA", "Yogi", "AdaBelief", "NovoGrad", "COCOB", "ConditionalGradient"),
        *("ProximalAdagrad", "MultiOptimizer", "AveragedOptimizerWrapper"),
        *("DecoupledWeightDecayExtension", "extend_with_decoupled_weight_decay"),
    )
)
_OPTIMIZERS_OF_CONTRIB: Final = frozenset(("FTML", "ftml", "LARS", "lars", "Padam", "Yogi"))
# Keras 2 looked for the sigmoid that a graph had made probabilities with, and took its logits.
_OF_PROBABILITIES: Final = frozenset(("SigmoidFocalCrossEntropy", "sigmoid_focal_crossentropy"))
_LOGITS: Final = (
    "with mixed_float16 more of its gradients overflow: Keras 2 took the logits of a sigmoid, "
    "Keras 3 has probabilities, which float16 rounds to 0 and 1"
)
# What is written out, and was compared with the package itself for these values alone.
_ACTIVATIONS: Final = ("'tanh'", "'relu'", "'sigmoid'", "'linear'", "None")
_NOTHING_DROPPED: Final = ("0.0", "0")
_CELLS: Final = ("PeepholeLSTMCell", "LayerNormLSTMCell", "LayerNormSimpleRNNCell")
_COMPARED: Final = {
    **{(PACKAGE, each, "activation"): _ACTIVATIONS for each in (*_CELLS, "NoisyDense", "ESN")},
    **{(PACKAGE, each, "recurrent_activation"): _ACTIVATIONS for each in _CELLS[:2]},
    **{
        (PACKAGE, each, name): _NOTHING_DROPPED
        for each in _CELLS
        for name in ("dropout", "recurrent_dropout")
    },
    (PACKAGE, "MultiHeadAttention", "dropout"): _NOTHING_DROPPED,
    # Its kernels for the CPU and for CUDA did not look at the same places beyond that.
    (PACKAGE, "CorrelationCost", "stride_1"): ("1",),
    (PACKAGE, "RSquare", "multioutput"): ("'uniform_average'",),
    **{(CONTRIB, each, "weights"): ("None",) for each in ("DenseNet", "NASNet", "NASNetCIFAR")},
    **{
        (CONTRIB, "CRF", each): values
        for each, values in (
            ("use_bias", ("True",)),
            ("activation", ("'linear'", "None")),
            ("unroll", ("False",)),
            *(
                (f"{part}_{kind}", ("None",))
                for part in ("kernel", "chain", "boundary", "bias")
                for kind in ("regularizer", "constraint")
            ),
        )
    },
}
_NOT_COMPARED: Final = "with this `{}` it was not compared with what the package itself gives"
_NO_ARGUMENT: Final = "optimizers of Keras 3 have no argument `{}`"
_RATE: Final = "learning_rate"
_CLIPS: Final = frozenset(("clipnorm", "clipvalue", "global_clipnorm"))
_RATES: Final = frozenset(("lr", "decay", "weight_decay_rate"))
_METHODS: Final = frozenset(
    ("minimize", "get_gradients", "get_updates", "shadow_copy", "has_shadow_copy")
)


def used_otherwise(module: Module, reference: Reference, helper: Helper) -> str:
    """Return what a file does with a name that its definition does not do, "" where nothing."""
    if helper.leaf in _OF_PROBABILITIES and _mixes_precision(module):
        return _LOGITS
    if not_compared := _not_compared(module, reference, helper):
        return not_compared
    if helper.package == CONTRIB and helper.leaf in _OPTIMIZERS_OF_CONTRIB:
        return _of_the_file(module)
    if helper.package != PACKAGE or helper.leaf not in _OPTIMIZERS:
        return ""
    calls = [each.call for each in _reads(module, reference)]
    found = [_of_the_file(module), *(_of_the_call(module, each, helper) for each in calls)]
    return next((each for each in found if each), "")


def _not_compared(module: Module, reference: Reference, helper: Helper) -> str:
    """Return what a call passes that no record of the package tells of, "" if none does."""
    names = [name for of, leaf, name in _COMPARED if (of, leaf) == (helper.package, helper.leaf)]
    if not names:
        return ""
    parameters = list(definition(helper.code).pattern.parameters)
    for call in (each.call for each in _reads(module, reference)):
        for name in names if call is not None else ():
            assert call is not None
            given = value_of(module, passed(call, name, parameters.index(name)))
            known = _COMPARED[helper.package, helper.leaf, name]
            if given is not None and module.source(given).replace('"', "'") not in known:
                return _NOT_COMPARED.format(name)
    return ""


def renamed_rates(module: Module, reference: Reference, helper: Helper) -> tuple[Edit, ...]:
    """Return the edits that call the learning rate what it is called in Keras 3, not `lr`."""
    if helper.package != PACKAGE or helper.leaf not in _OPTIMIZERS:
        return ()
    named = (_short_rate(each.call, helper) for each in _reads(module, reference))
    spans = [module.span(each) for each in named if each is not None]
    return tuple(Edit(each, (_RATE,), Precedence.ATOM) for each in spans)


def _reads(module: Module, reference: Reference) -> list[Reference]:
    """Return where a name is read: for an import, all uses of what it binds."""
    if reference.kind is not ReferenceKind.IMPORT:
        return [reference]
    uses = references_through(module, reference.binding)
    return [each for each in uses if each.kind is ReferenceKind.LOAD]


def _short_rate(call: cst.Call | None, helper: Helper) -> cst.Name | None:
    """Return the keyword `lr` of a call that gives the learning rate by no other name."""
    parameters = list(definition(helper.code).pattern.parameters)
    if call is None or _RATE not in parameters:
        return None
    short = next((e.keyword for e in call.args if e.keyword and e.keyword.value == "lr"), None)
    is_clear = passed(call, _RATE, parameters.index(_RATE)) is None
    return short if is_clear and not any(each.star for each in call.args) else None


def _of_the_call(module: Module, call: cst.Call | None, helper: Helper) -> str:
    """Return which argument of a call is unknown to Keras 3, or may be."""
    if call is None:
        return _handed_over(module)
    parameters = list(definition(helper.code).pattern.parameters)
    known = {*parameters, *_CLIPS}
    given = {each.keyword.value for each in call.args if each.keyword is not None}
    short = _short_rate(call, helper)
    if unknown := sorted(given - known - ({short.value} if short else set())):
        return _NO_ARGUMENT.format(unknown[0])
    if _RATE in parameters:
        given_rate = passed(call, "lr") if short else passed(call, _RATE, parameters.index(_RATE))
        rate = value_of(module, given_rate)
        if isinstance(rate, cst.BinaryOperation) and any(
            isinstance(each, cst.Call) for each in descendants(rate)
        ):
            return "optimizers of Keras 3 take no tensor as learning rate, which it may be"
    return _handed_over(module) if any(each.star == "**" for each in call.args) else ""


@once
def _handed_over(module: Module) -> str:
    """Return which argument, unknown to Keras 3, may go to an optimizer in a roundabout way."""
    named = {each.keyword.value for each in module.nodes(cst.Arg) if each.keyword is not None}
    written = {
        each.raw_value for each in module.nodes(cst.SimpleString) if each.raw_value in _RATES
    }
    found = sorted((named | written) & _RATES)
    return _NO_ARGUMENT.format(found[0]) if found else ""


@once
def _of_the_file(module: Module) -> str:
    """Return what the file asks of some optimizer that those of Keras 3 have not."""
    for arg in module.nodes(cst.Arg):
        if arg.keyword is not None and arg.keyword.value == "decay_var_list":
            return _NO_ARGUMENT.format("decay_var_list")
    for each in module.attributes:
        leaf = each.attr.value
        # Many things have a `lr`: those are optimizers that are called so.
        is_rate = leaf in _RATES and "opt" in module.source(each.value).lower()
        if leaf in _METHODS or is_rate:
            return f"optimizers of Keras 3 have no `{leaf}`, which this file reads"
    for store in module.stores:
        if store.node.attr.value == "weight_decay" and not _is_self(store.node.value):
            return "to set `weight_decay` later changes nothing"
    return ""


@once
def _mixes_precision(module: Module) -> bool:
    """Say whether a file names the policy that computes in float16."""
    return any(each.raw_value == "mixed_float16" for each in module.nodes(cst.SimpleString))


def _is_self(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "self"
