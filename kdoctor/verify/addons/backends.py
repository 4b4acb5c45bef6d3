"""Run the scenarios on JAX and PyTorch as well: the numbers are those of tensorflow_addons there.

    KERAS_BACKEND=jax python -m kdoctor.verify.addons.backends NAME…

Prints a line for each name: what differs, "" where nothing does, and how much was compared. JAX and
PyTorch have no ``tf.GradientTape``, so gradients are compared where a scenario trains. Embeddings
have dense gradients there: optimizers are asked anew, and held to what they give on TensorFlow.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Self

import keras
import numpy as np

from kdoctor.rules.names._definitions.definitions import with_needs
from kdoctor.rules.names._definitions.proofs import proof_of
from kdoctor.verify.addons.cases import SCENARIOS
from kdoctor.verify.addons.layers import of_cell
from kdoctor.verify.addons.recorded import RESULTS, differences, recorded_in
from kdoctor.verify.addons.scenarios import Scenario, Side
from kdoctor.verify.addons.training import of_dense_optimizer
from kdoctor.verify.addons.warps import ON_TORCH

_ADAM = "adam"
OPTIMIZERS: dict[str, Scenario] = {
    **dict.fromkeys(("AdamW", "SGDW"), of_dense_optimizer({"weight_decay": 0.01})),
    **dict.fromkeys(
        ("Lookahead", "MovingAverage", "SWA"), of_dense_optimizer({"optimizer": _ADAM})
    ),
    **dict.fromkeys(
        ("LazyAdam", "RectifiedAdam", "LAMB", "Yogi", "AdaBelief", "NovoGrad", "ProximalAdagrad"),
        of_dense_optimizer({}, {"learning_rate": 0.05}),
    ),
    "ConditionalGradient": of_dense_optimizer(
        {"learning_rate": 0.9}, {"learning_rate": 0.9, "ord": "nuclear"}
    ),
}
"""What optimizers are asked for whose own scenario has gradients of some rows."""
# With JAX, Keras takes the first state for the output of a step that is masked.
_ON_JAX: dict[str, Scenario] = {"NASCell": of_cell({"units": 4}, masks=(False,))}
_SPARSE = (
    *("AveragedOptimizerWrapper", "DecoupledWeightDecayExtension"),
    "extend_with_decoupled_weight_decay",
)


class AsksTensorFlowError(Exception):
    """A scenario goes on with what only TensorFlow has."""


class _Untold:
    """A gradient that was not taken."""


class _Tape:
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def watch(self, tensors: Any) -> None:
        """Take no notice."""

    def gradient(self, _: Any, of: Any, **_how: Any) -> Any:
        """Return that nothing is known."""
        return [_Untold()] * len(of) if isinstance(of, list) else _Untold()


class _Numbers:
    """What scenarios ask of TensorFlow, by Keras."""

    takes_many_losses = False
    GradientTape = _Tape
    cast = staticmethod(keras.ops.cast)
    sin = staticmethod(keras.ops.sin)
    abs = staticmethod(keras.ops.abs)
    reduce_sum = staticmethod(keras.ops.sum)
    reduce_mean = staticmethod(keras.ops.mean)
    nn = keras.ops
    UnconnectedGradients = SimpleNamespace(ZERO="zero")
    add_n = staticmethod(sum)

    @staticmethod
    def constant(value: Any, dtype: str | None = None) -> Any:
        """Return a tensor: of Python's numbers one of 32 bits, as TensorFlow does."""
        array = np.asarray(value, dtype)
        if dtype is None and not isinstance(value, np.ndarray):
            array = array.astype({"f": "float32", "i": "int32"}.get(array.dtype.kind, array.dtype))
        return keras.ops.convert_to_tensor(array)

    @staticmethod
    def convert_to_tensor(value: Any) -> Any:
        """Return a tensor, or that nothing is known."""
        return value if isinstance(value, _Untold) else keras.ops.convert_to_tensor(value)

    def __getattr__(self, name: str) -> Any:
        raise AsksTensorFlowError(name)


def asked(name: str) -> bool:
    """Say whether a definition is one for all backends, and can be asked on each."""
    needs = {line for each in with_needs(name) for line in each.imports}
    return name in SCENARIOS and name not in _SPARSE and not any("tensorflow" in e for e in needs)


def made(name: str) -> Callable[..., Any]:
    """Return the class or function that is written into files."""
    found: dict[str, Any] = {}
    exec(proof_of(name).after or "", found)  # noqa: S102 - what is to be compared
    return found[name]  # type: ignore[no-any-return]


def results(name: str) -> Iterator[tuple[str, Any]]:
    """Yield what a definition gives on this backend, as arrays and plain values."""
    keras.utils.clear_session()
    scenario = OPTIMIZERS.get(name, SCENARIOS[name])
    if keras.backend.backend() == "jax":
        scenario = _ON_JAX.get(name, scenario)
    elif keras.backend.backend() == "torch":
        scenario = ON_TORCH.get(name, scenario)
    try:
        for about, value in scenario(Side(made(name), keras, _Numbers())):
            if not isinstance(value, _Untold):
                yield about, _plain(value)
    except AsksTensorFlowError:
        return


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, str, list, int, float, np.ndarray, np.generic)):
        return value
    return keras.ops.convert_to_numpy(value)


def problem(name: str, known: dict[str, Any]) -> tuple[str, int]:
    """Return how a definition differs from what is known of it, and how much was compared."""
    count = 0
    for about, value in results(name):
        count += 1
        ways = (known[about], _narrowed(known[about]))
        different = [next(differences(each, value), "") for each in ways]
        if all(different):
            return f"{name}, {about}: {different[0]}", count
    return "", count


def _narrowed(known: Any) -> Any:
    """Return a recorded value as it is where there are no numbers of 64 bits by default."""
    if keras.backend.backend() == "jax" and isinstance(known, dict):
        return {**known, "dtype": known["dtype"].replace("64", "32")}
    return known


def as_json(value: Any) -> Any:
    """Return a value as the record has it."""
    if isinstance(value, (bool, str, list)):
        return value
    array = np.asarray(value)
    data = array.astype("float64").ravel().tolist()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def main(*names: str) -> None:
    """Print what each definition does that is not as it is known; of optimizers what they give."""
    of_optimizers = json.loads(sys.stdin.read() or "{}")
    for name in names:
        if keras.backend.backend() == "tensorflow":
            print(json.dumps({name: {about: as_json(each) for about, each in results(name)}}))
            continue
        known = of_optimizers.get(name) or recorded_in(RESULTS)[name]
        try:
            different, count = problem(name, known)
        except Exception as error:  # noqa: BLE001 - it is told
            different, count = f"{name}: {type(error).__name__}: {error}", 0
        print(json.dumps({"name": name, "problem": different, "compared": count}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
