"""Layers from packages built on `tf_keras`, used in a Keras 3 model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import named
from kdoctor.analysis.roots import is_of_keras_3, uses_another_keras
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.environment._model_layers import layers_given
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

_PROBABILITY: Final = "tensorflow_probability.layers."
_REFUSES: Final = "Exception encountered when calling layer"
# Nothing is said of a call of the last ones: it goes well, or was not run.
WHEN_CALLED: Final = {
    "tensorflow_hub.KerasLayer": f"TypeError: {_REFUSES}",
    **{
        f"{_PROBABILITY}Dense{name}": "AttributeError: 'tuple' object has no attribute 'rank'"
        for name in ("Flipout", "LocalReparameterization", "Reparameterization", "Variational")
    },
    **{
        f"{_PROBABILITY}Convolution{rank}D{name}": f"ValueError: {_REFUSES}"
        for rank in (1, 2, 3)
        for name in ("Flipout", "Reparameterization")
    },
    **{
        f"{_PROBABILITY}{name}": f"ValueError: {_REFUSES}"
        for name in (
            *(
                "CategoricalMixtureOfOneHotCategorical",
                "DistributionLambda",
                "IndependentBernoulli",
            ),
            *("IndependentLogistic", "IndependentNormal", "IndependentPoisson"),
            *("KLDivergenceAddLoss", "MixtureLogistic", "MixtureNormal", "MixtureSameFamily"),
            "MultivariateNormalTriL",
        )
    },
    f"{_PROBABILITY}OneHotCategorical": f"AttributeError: {_REFUSES}",
    **dict.fromkeys(
        f"{_PROBABILITY}{name}"
        for name in ("AutoregressiveTransform", "VariableLayer", "VariationalGaussianProcess")
    ),
}
"""The layers, and what is raised where they are called with a symbolic tensor of Keras 3."""
_ADDED: Final = "ValueError: Only instances of `keras.Layer` can be added to a Sequential model"
_OPTIMIZATION: Final = "tensorflow_model_optimization."
_GIVEN_MODELS: Final = {
    f"{_OPTIMIZATION}sparsity.keras.prune_low_magnitude": "ValueError: `prune_low_magnitude` can "
    "only prune an object of the following types",
    f"{_OPTIMIZATION}sparsity.keras.strip_pruning": "ValueError: ('Expected model to be a "
    "`keras.Model` instance but got: '",
    f"{_OPTIMIZATION}quantization.keras.quantize_model": "ValueError: `to_quantize` can only "
    "either be a keras Sequential or Functional model.",
}
"""What is given a model, or a layer, and what it then raises."""


@rule("KD705", severity=Severity.ERROR, look_for=files(named(*WHEN_CALLED, *_GIVEN_MODELS)))
def check(file: File) -> Iterator[Finding]:
    """Report each such layer and model."""
    module, facts = file.module, file.facts
    for model, given in layers_given(module):
        name = _layer(module, given)
        if name is not None and is_of_keras_3(model, facts) and not module.is_guarded(given):
            yield _finding(file, given, name, _ADDED)
    is_legacy = not facts.runs_keras_3("tf.keras") and "tf.keras" not in facts.open_roots
    if is_legacy or uses_another_keras(module, facts):
        return
    for call in module.nodes(cst.Call):
        if not call.args or module.is_guarded(call):
            continue
        given = call.args[0].value
        name = _layer(module, call.func)
        error = WHEN_CALLED[name] if name is not None else None
        if name is not None and error is not None and holds_symbolic(module, given):
            yield _finding(file, call.func, name, error)
        function = module.qualified(call.func)
        made = module.type_of(given) if function in _GIVEN_MODELS else None
        if function is not None and made is not None and is_of_keras_3(made, facts):
            yield _finding(file, given, function, _GIVEN_MODELS[function])


def _layer(module: Module, node: cst.BaseExpression) -> str | None:
    """Return the dotted name of the class of such a layer, where it surely is one."""
    made = value_of(module, node)
    name = module.qualified(made.func) if isinstance(made, cst.Call) else None
    return name if name in WHEN_CALLED else None


def _finding(file: File, node: cst.BaseExpression, name: str, error: str) -> Finding:
    return file.finding(
        f"`{name}` is built on tf_keras (Keras 2), but the model is built on Keras 3: {error}",
        at=node,
        symbol=name,
        help="Build the whole model with tf_keras (TF_USE_LEGACY_KERAS=1 makes `tf.keras` use it)"
        + (
            "; where it is not trained, `keras.layers.Lambda(lambda x: layer(x))` calls it."
            if name in WHEN_CALLED
            else "."
        ),
        fix=NoFix("kdoctor cannot choose which Keras the project should run on"),
    )
