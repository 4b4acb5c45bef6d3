"""A distribution strategy of TensorFlow: on other backends nothing is distributed."""

from __future__ import annotations

from typing import Final

from kdoctor.analysis.backends.checks import asks_for_the_backend
from kdoctor.analysis.facts import BACKEND_NAMES, TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule

_ROOT: Final = "tensorflow.distribute."
_SCOPE: Final = "scope"
_STRATEGIES: Final = (
    *("MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy", "TPUStrategy"),
    *("CentralStorageStrategy", "ParameterServerStrategy"),
)


def _is_strategy(facts: TargetFacts, name: str) -> bool:
    short = by_the_short_way(name)
    known = short.startswith(_ROOT) and short.rpartition(".")[2] in _STRATEGIES
    return bool(facts.backends) and known


@rule(
    "KD820",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=references(*_STRATEGIES, where=_is_strategy),
)
def check(name: Name) -> Finding | None:
    """Report each strategy that is created."""
    if name.reference.call is None or asks_for_the_backend(name.module, name.node):
        return None
    if not any(each.attr.value == _SCOPE for each in name.module.attributes):
        return None  # it is for data alone
    others = " and ".join(BACKEND_NAMES[each] for each in name.facts.backends)
    return name.finding(
        f"a strategy of TensorFlow distributes nothing on {others}: `fit` runs on one device there",
        help="JAX takes `keras.distribution.set_distribution(keras.distribution.DataParallel())`; "
        "on PyTorch wrap the model as Keras' guide on distributed training with PyTorch does.",
        fix=NoFix("each backend distributes training in its own way"),
    )
