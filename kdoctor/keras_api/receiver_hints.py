"""Members that tell together that they are those of a model, where none of them does alone.

An agent has `compile`, `fit`, `save_weights` and `load_weights`, but neither `train_on_batch` nor
`epochs=`; an estimator has `fit` and `predict`, and saves no weights.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from kdoctor.value_types import Kind, ReceiverHint, Type

_MODEL: Final = Type(Kind.MODEL)


class _Method(Struct, frozen=True):
    """What a method hints at, if it is passed something of ``wanted``, by keyword or by position.

    With no ``wanted``, whatever it is passed. ``before`` must be passed, too.
    """

    hint: ReceiverHint
    wanted: frozenset[int | str] = frozenset()
    before: int | None = None


_DATA: Final[frozenset[int | str]] = frozenset({
    *("epochs", "nb_epoch", "batch_size", "validation_data", "validation_split", "steps"),
    *("steps_per_epoch", "validation_steps", "sample_weight", "class_weight", "initial_epoch"),
})  # fmt: skip
_FILES: Final = _Method(ReceiverHint(_MODEL, "weights in a file", of_no_other=True))
_BATCHES: Final = _Method(ReceiverHint(_MODEL, "one batch", of_no_other=True))
_GENERATORS: Final = _Method(ReceiverHint(_MODEL, "a generator", of_no_other=True))
_LAYERS: Final = _Method(ReceiverHint(_MODEL, "layers", of_no_other=True))
_METRICS: Final[frozenset[int | str]] = frozenset({2, "metrics", "loss_weights"})
_COMPILED: Final = _Method(ReceiverHint(_MODEL, "compiled", of_no_other=True), _METRICS, before=1)
_TRAINED: Final = _Method(ReceiverHint(_MODEL, "data", of_no_other=False), _DATA)

_METHODS: Final[dict[str, _Method]] = {
    **dict.fromkeys(("save_weights", "load_weights"), _FILES),
    **dict.fromkeys(("train_on_batch", "test_on_batch", "predict_on_batch"), _BATCHES),
    **dict.fromkeys(("fit_generator", "evaluate_generator", "predict_generator"), _GENERATORS),
    **dict.fromkeys(("fit", "evaluate", "predict"), _TRAINED),
    "get_layer": _LAYERS,
    "compile": _COMPILED,
}
METHODS: Final = _METHODS.keys()
# A graph of other libraries has inputs and outputs, and a network of one's own has layers.
_ENDS: Final = ReceiverHint(_MODEL, "inputs and outputs", of_no_other=False)
ATTRIBUTES: Final = {
    "layers": ReceiverHint(_MODEL, "layers", of_no_other=True),
    **dict.fromkeys(("inputs", "outputs"), _ENDS),
}


def receiver_hint(method: str, given: Collection[int | str]) -> ReceiverHint | None:
    """Return what a call of a method hints at that passes these positions and keywords."""
    known = _METHODS.get(method)
    if known is None or (known.before is not None and known.before not in given):
        return None
    return known.hint if not known.wanted or not known.wanted.isdisjoint(given) else None
