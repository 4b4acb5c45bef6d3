"""A function of ``jax.numpy`` or ``torch`` in code that Keras runs."""

from __future__ import annotations

from typing import Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, imported_calls
from kdoctor.analysis.queries.run_by_keras import run_by_keras
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule

_BACKENDS: Final = {
    "jax.numpy.": "JAX",
    "jax.nn.": "JAX",
    "jax.lax.": "JAX",
    "jax.random.": "JAX",
    "jax.scipy.": "JAX",
    "torch.": "PyTorch",
}
# Of `torch`, what is no function of tensors.
_NO_TENSORS: Final = (
    *("torch.utils.", "torch.cuda.", "torch.backends.", "torch.distributed.", "torch.jit."),
    *("torch.autograd.", "torch.no_grad", "torch.enable_grad", "torch.load", "torch.save"),
    *("torch.onnx.", "torch.optim.", "torch.nn.init.", "torch.hub."),
)
# What takes functions of one backend on purpose, and hands them tensors of it.
_WRAPPERS: Final = frozenset({"JaxLayer", "FlaxLayer", "TorchModuleWrapper"})
_NEW: Final = ("keras.ops.", "keras.random.", "keras.activations.")


def _backend(name: str) -> str:
    """Return the backend that a function is one of; "" of any other."""
    if name.startswith(_NO_TENSORS):
        return ""
    return next((each for root, each in _BACKENDS.items() if name.startswith(root)), "")


def _is_of_one(_facts: TargetFacts, name: str) -> bool:
    return bool(_backend(name))


@rule(
    "KD816",
    severity=Severity.ERROR,
    since="3.0",
    look_for=run_by_keras(imported_calls(_is_of_one).even(hidden=True)),
)
def check(call: Call) -> Finding | None:
    """Report each call."""
    reference = call.reference
    if reference is None or not _WRAPPERS.isdisjoint(call.module.words):
        return None
    new = _of_keras(call.facts, reference.name.rpartition(".")[2])
    written = call.source(reference.node)
    return call.finding(
        f"`{written}` works on {_backend(reference.name)} only: Keras calls this code with tensors "
        "of its backend, whichever that is",
        at=reference.node,
        help=f"`{new}` is there on each backend; compare the arguments." if new else "",
        fix=NoFix(
            "its arguments and results were not compared with those of Keras"
            if new
            else "Keras has no function of that name"
        ),
    )


def _of_keras(facts: TargetFacts, leaf: str) -> str:
    names = (f"{root}{leaf}" for root in _NEW)
    return next((each for each in names if facts.lookup(each).presence is Presence.EXISTS), "")
