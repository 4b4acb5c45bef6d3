"""Verify model builders, and functions that apply a block of layers to a tensor."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import compiled, draws, masks
from .calling import layer_outputs, measure, weigh
from .frameworks import Side
from .instantiate import MadeWithArguments, made
from .measurement import MODEL_TOLERANCE, Case, NotTried
from .weights import Mismatch, assign

_SHAPES = ((8, 8, 3), (5,), (6, 4), (32, 32, 3), (4, 4, 4, 3))
_OF_RANK = re.compile(r"([123])D(Transpose)?$")
_HERE = "placeholder for a tensor"
_MAX_ELEMENTS = 20_000  # of an input with two samples


def is_model(found: Any, side: Side) -> bool:
    """Say whether a value is a model, has one, or has symbolic tensors that make one."""
    return bool(_models_in(found, side))


def _models_in(found: Any, side: Side) -> dict[str, Any]:
    """Return the models in a value, by their place in it."""
    if isinstance(found, (list, tuple)):
        parts = {f" [{number}]": each for number, each in enumerate(found)}
    else:
        parts = {"": found}
    models = {place: each for place, each in parts.items() if isinstance(each, side.keras.Model)}
    tensors = [each for each in parts.values() if type(each).__name__ == "KerasTensor"]
    if tensors and not models:
        inputs: list[Any] = []
        for each in tensors:
            sources = side.keras.utils.get_source_inputs(each)
            inputs += [other for other in sources if not any(other is one for one in inputs)]
        if any(not any(each is other for other in inputs) for each in tensors):
            models[""] = side.keras.Model(inputs, tensors)
    return models


def rank_of(subject: Any, side: Side) -> int | None:
    """Return the input rank of a class that derives from ``Conv1D`` and the like, else None."""
    bases: tuple[type, ...] = getattr(subject, "__mro__", ())
    for each in bases:
        found = _OF_RANK.search(each.__name__)
        if found and getattr(side.keras.layers, each.__name__, None) is each:
            return int(found.group(1)) + (3 if each.__name__.startswith("ConvLSTM") else 2)
    return None


def _is_meant(model: Any, side: Side) -> bool:
    """Say whether each layer of a model gets an input of the rank in its name.

    Keras 2 accepted other ranks, but nobody relies on it.
    """
    for layer in model.layers:
        rank = rank_of(type(layer), side)
        with contextlib.suppress(AttributeError):  # it is called more than once
            if rank is not None and len(layer.input.shape) != rank:
                return False
    return True


def model_of_block(subject: Any, job: dict[str, Any], side: Side) -> Any:
    """Return a plan for a function that applies layers with weights to a tensor, or None."""
    for count in draws.counts_of_tensors(subject):
        for extra in draws.arguments_for(subject, job["calls"], skip=count):
            for shape in _SHAPES:
                plan = {"extra": extra, "shape": shape, "count": count}
                if _makes_a_model(subject, plan, side):
                    return plan
    return _by_name(subject, job, side)


def _by_name(subject: Any, job: dict[str, Any], side: Side) -> Any:
    """Return a plan for one whose tensor is not a leading parameter, found by name."""
    named = draws.named_tensors(subject)
    if len(named) != 1 or draws.required_of(subject)[0] in named:
        return None
    names = {named[0].lower(): _HERE}
    for extra in draws.arguments_for(subject, job["calls"], names=names):
        for shape in _SHAPES if _HERE in extra[1].values() else ():
            plan = {"extra": extra, "shape": shape, "count": 0}
            if _makes_a_model(subject, plan, side):
                return plan
    return None


def _makes_a_model(subject: Any, plan: dict[str, Any], side: Side) -> bool:
    """Say whether a plan gives a model with weights, as it is meant."""
    try:
        model = _made_of_block(subject, plan, side)
    except BaseException:  # noqa: BLE001 - another shape may do
        return False
    return model is not None and bool(model.weights) and _is_meant(model, side)


def _made_of_block(subject: Any, plan: dict[str, Any], side: Side) -> Any:
    side.fresh()
    args, kwargs = plan["extra"]
    inputs = [side.keras.Input(shape=plan["shape"]) for _ in range(plan["count"])]
    by_name = [name for name, value in kwargs.items() if isinstance(value, str) and value == _HERE]
    kwargs = {**kwargs, **{name: side.keras.Input(shape=plan["shape"]) for name in by_name}}
    outputs = subject(*inputs, *args, **kwargs)
    inputs += [kwargs[name] for name in by_name]
    if callable(outputs) and not hasattr(outputs, "shape"):
        return None
    return side.keras.Model(inputs, outputs)


def inputs_of(model: Any) -> list[np.ndarray]:
    """Generate inputs for a model."""
    found = []
    numbers = [layer.input_dim for layer in model.layers if type(layer).__name__ == "Embedding"]
    masks = [each.mask_value for each in model.layers if type(each).__name__ == "Masking"]
    for number, tensor in enumerate(model.inputs):
        shape = [2, *(_size(size, len(tensor.shape)) for size in tensor.shape[1:])]
        if np.prod(shape) > _MAX_ELEMENTS:
            shape[0] = 1
        draw = draws.rng(number)
        dtype = str(getattr(tensor.dtype, "name", tensor.dtype))
        if dtype.startswith(("int", "uint")) or (numbers and len(shape) == 2):
            given = draw.integers(0, min(numbers or [8]), shape).astype(dtype)
            found.append(_padded(given, 0))
        elif dtype.startswith(("float", "bfloat")):
            given = draw.normal(size=shape).astype("float32")
            found += [_padded(given, masks[0]) if masks and len(shape) > 2 else given]
        else:
            raise NotTried(f"it takes inputs of dtype {dtype}, which kdoctor cannot generate")
    return found


def _padded(array: np.ndarray, value: float) -> np.ndarray:
    """Return the array with padding at the end of its first sample, which a model may mask."""
    if array.ndim > 1 and array.shape[1] > 2:
        array[0, -(array.shape[1] // 3) :] = value
    return array


def _size(size: int | None, rank: int) -> int:
    return int(size) if size else 32 if rank == 4 else 6


def measure_model(model: Any, plan: dict[str, Any], side: Side, place: str = "") -> list[Case]:
    """Measure a built model: each layer, then the whole."""
    case = Case(f"random inputs{place and ' of' + place}", tolerance=MODEL_TOLERANCE)
    plan["inputs"] = plan.get("inputs") or inputs_of(model)
    try:
        fill(case, model, given_of(plan["inputs"], side), plan, side)
    except Mismatch as mismatch:
        case.values = {"weights": side.sides.apart(mismatch.before, mismatch.after)}
    return [case]


def given_of(
    arrays: list[np.ndarray], side: Side, *, masked: bool = False, names: Sequence[str] = ()
) -> Any:
    """Return the input of a layer: a tensor, a list of several, or a dict with these names.

    If ``masked``, they carry a mask, as after a masking layer.
    """
    tensors = [side.backend.tensor(each) for each in arrays]
    for tensor in tensors if masked else ():
        steps = np.arange(tensor.shape[1])
        lengths = np.arange(tensor.shape[0])[:, None] % max(1, len(steps) - 1) + 1
        masks.give(tensor, side.backend.tensor(steps < lengths))
    return together(tensors, names)


def together(parts: list[Any], names: Sequence[str]) -> Any:
    """Return one part alone, several in a list, and in a dict where they have names."""
    if names:
        return dict(zip(names, parts))  # noqa: B905 - strict= is of Python 3.10
    return parts[0] if len(parts) == 1 else parts


def fill(case: Case, model: Any, given: Any, kept: dict[str, Any], side: Side) -> None:
    """Measure a built model: its layers in order, then the whole.

    ``kept`` carries the weights and the layer names from Keras 2 to Keras 3.
    """
    kept["weights"], variables = weigh(model, kept.get("weights"))
    case.values["weights"] = "as many as on Keras 2"
    whole = Case("", part_of=case.label)
    measure(model, given, whole, kept["weights"], variables, side)
    inner = layer_outputs(model, given, side)
    known = kept.setdefault("layers", list(inner))
    case.values.update((name, inner[name]) for name in known if name in inner)
    case.values.update(whole.values)
    case.sensitivity = whole.sensitivity
    case.values.update(_names_in(model, kept))
    trained = [each for each, weight in zip(variables, kept["weights"]) if weight.trainable]  # noqa: B905
    assign(variables, kept["weights"])
    case.values.update(compiled.results_of(model, given, trained, kept, side))
    assign(variables, kept["weights"])


def _names_in(model: Any, kept: dict[str, Any]) -> dict[str, Any]:
    """Return the names that the user gave to outputs and to layers with weights.

    Targets, losses, ``get_layer`` and saved weights go by them. Keras 3 takes no slash in a name.
    """
    outputs = list(getattr(model, "output_names", None) or [])
    layers = {each.name: each for each in model.layers}
    if "named" not in kept:
        given = {name for name, each in layers.items() if _is_given(name, each)}
        kept["outputs"] = [place for place, name in enumerate(outputs) if name in given]
        kept["named"] = sorted(name for name in given if layers[name].weights)
    there = [outputs[place] for place in kept["outputs"] if place < len(outputs)]
    # A `Sequential` of Keras 3 tells none: of its one output nothing goes by a name.
    told = kept.setdefault("names of the outputs", ", ".join(there))
    return {
        "names of the outputs": ", ".join(there) if outputs else told,
        "names of layers with weights": ", ".join(n for n in kept["named"] if n in layers),
    }


def _is_given(name: str, layer: Any) -> bool:
    """Say whether a name is not the one that Keras derives from the class of a layer."""
    kind = type(layer).__name__
    of_class = re.sub(r"(?<!^)(?<!_)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", kind).lower()
    of_class = "input" if kind == "InputLayer" else of_class
    return (
        re.sub(r"_\d+$", "", name) != of_class and not kind.endswith("OpLambda") and "/" not in name
    )


class ModelBuilder(MadeWithArguments):
    """A function that returns a model."""

    kind = "model builder"
    is_wanted = staticmethod(is_model)

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Build the model and measure it."""
        models = _models_in(made(subject, plan["made_with"], side), side)
        cases = []
        for place, model in models.items():
            of_model = plan if len(models) == 1 else plan.setdefault(f"model{place}", {})
            if not model.built and of_model.get("inputs"):
                model(given_of(of_model["inputs"], side))
            if not model.built:
                raise NotTried(f"the model it returns{place} does not declare its inputs")
            cases += measure_model(model, of_model, side, place)
        return cases


class Block:
    """A function that applies layers with weights to a tensor."""

    kind = "block of layers"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return an input shape and arguments with which it can be put into a model."""
        plan = model_of_block(subject, job, side)
        assert plan is not None
        return dict(plan)

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Put it into a model and measure the model."""
        return measure_model(_made_of_block(subject, plan, side), plan, side)


MODEL_EXERCISES = (ModelBuilder, Block)
