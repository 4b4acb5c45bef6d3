"""What makes models: functions that return one, and blocks that are put into one."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import draws
from .calling import layer_outputs, measure, weigh
from .frameworks import Side
from .measured import MODEL_TOLERANCE, Case, NotTried
from .weights import Mismatch

_MOST_ELEMENTS = 20_000  # of an input that is drawn twice


def is_model(value: Any, side: Side) -> bool:
    """Say whether a value is a model, or a list that starts with one."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, side.keras.Model)


def model_of_block(subject: Any, job: dict[str, Any], side: Side) -> Any:
    """Return a plan for a function that puts layers with weights onto a tensor, or None."""
    for args, kwargs in draws.arguments_for(subject, job["calls"], skip=1):
        for shape in ((8, 8, 3), (5,), (6, 4)):
            plan = {"extra": (args, kwargs), "shape": shape}
            try:
                model = _made_of_block(subject, plan, side)
            except BaseException:  # noqa: BLE001, S112 - another shape may do
                continue
            if model is not None and model.weights:
                return plan
    return None


def _made_of_block(subject: Any, plan: dict[str, Any], side: Side) -> Any:
    side.fresh()
    args, kwargs = plan["extra"]
    inputs = side.keras.Input(shape=plan["shape"])
    outputs = subject(inputs, *args, **kwargs)
    if callable(outputs) and not hasattr(outputs, "shape"):
        return None
    return side.keras.Model(inputs, outputs)


def inputs_of(model: Any) -> list[np.ndarray]:
    """Draw what a model takes."""
    found = []
    numbers = [layer.input_dim for layer in model.layers if type(layer).__name__ == "Embedding"]
    for number, tensor in enumerate(model.inputs):
        shape = [2, *(_size(size, len(tensor.shape)) for size in tensor.shape[1:])]
        if np.prod(shape) > _MOST_ELEMENTS:
            shape[0] = 1
        draw = draws.rng(number)
        dtype = str(getattr(tensor.dtype, "name", tensor.dtype))
        if dtype.startswith("int") or (numbers and len(shape) == 2):
            found.append(draw.integers(0, min(numbers or [8]), shape).astype(dtype))
        elif dtype.startswith(("float", "bfloat")):
            found.append(draw.normal(size=shape).astype("float32"))
        else:
            raise NotTried(f"it takes {dtype}, which kdoctor does not draw")
    return found


def _size(size: int | None, rank: int) -> int:
    return int(size) if size else 32 if rank == 4 else 6


def measure_model(model: Any, plan: dict[str, Any], side: Side) -> list[Case]:
    """Measure a model that is built: layer by layer, then the whole."""
    case = Case("drawn inputs", tolerance=MODEL_TOLERANCE)
    arrays = plan.setdefault("inputs", None) or inputs_of(model)
    plan["inputs"] = arrays
    tensors = [side.tf.constant(each) for each in arrays]
    given = tensors[0] if len(tensors) == 1 else tensors
    try:
        plan["weights"], variables = weigh(model, plan.get("weights"))
    except Mismatch as mismatch:
        case.values["weights"] = str(mismatch)
        return [case]
    case.values["weights"] = "as many as on Keras 2"
    whole = Case("")
    measure(model, given, whole, plan["weights"], variables, side)
    inner = layer_outputs(model, given, side)
    known = plan.setdefault("layers", list(inner))
    case.values.update((name, inner[name]) for name in known if name in inner)
    case.values.update(whole.values)
    case.shaky = whole.shaky
    return [case]


class ModelBuilder:
    """A function that returns a model."""

    kind = "model builder"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the first arguments with which it makes one."""
        for args, kwargs in draws.arguments_for(subject, job["calls"]):
            side.fresh()
            try:
                made = subject(*args, **kwargs)
            except BaseException:  # noqa: BLE001, S112
                continue
            if is_model(made, side):
                return {"made_with": (args, kwargs)}
        raise NotTried("nothing tells what to call it with")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Make it and measure it."""
        side.fresh()
        args, kwargs = plan["made_with"]
        made = subject(*args, **kwargs)
        model = made[0] if isinstance(made, (list, tuple)) else made
        if not model.built and plan.get("inputs"):
            given = [side.tf.constant(each) for each in plan["inputs"]]
            model(given[0] if len(given) == 1 else given)
        if not model.built:
            raise NotTried("the model that it returns does not say what it takes")
        return measure_model(model, plan, side)


class Block:
    """A function that puts layers with weights onto a tensor."""

    kind = "block of layers"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the shape and arguments with which a model can be made around it."""
        plan = model_of_block(subject, job, side)
        assert plan is not None
        return dict(plan)

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Make a model around it and measure that."""
        return measure_model(_made_of_block(subject, plan, side), plan, side)


MODEL_EXERCISES = (ModelBuilder, Block)
