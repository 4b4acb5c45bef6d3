"""Verify classes: layers, models, losses, metrics, regularizers, constraints, initializers."""

from __future__ import annotations

import ast
import contextlib
import inspect
from functools import partial
from typing import Any

from . import draws, train_steps
from .calling import measure, measure_training, modes_of, weigh
from .configs import config_of, settings_of
from .frameworks import Side
from .functions import (
    TensorFunction,
    is_pair,
    parameters_of,
)
from .instantiate import made, of_arguments
from .measurement import (
    MODEL_TOLERANCE,
    Case,
    NotTried,
    Rejected,
    error_text,
    flat,
    most_informative,
    plain,
    random_values,
)
from .models import fill, given_of, rank_of, together
from .objectives import LossClass, MadeAlone, MetricClass
from .weights import Mismatch, assign

_MAX_INPUTS = 4
_MAX_NAMES = 4  # of a dict of inputs
_LAST_RESORT = ("class indices", "two", "three", draws.VOLUME)


def kind_of(subject: type, side: Side) -> str:
    """Return the kind of a class, by its bases.

    Raises:
        NotTried: it is an abstract layer.
    """
    keras = side.keras
    for kind, base in (
        ("metric", keras.metrics.Metric),  # which is also a layer in Keras 2
        ("model", keras.Model),
        ("layer", keras.layers.Layer),
        ("loss", keras.losses.Loss),
        ("function of a weight", keras.regularizers.Regularizer),
        ("function of a weight", keras.constraints.Constraint),
        ("initializer", keras.initializers.Initializer),
        ("callback", keras.callbacks.Callback),
        ("learning rate schedule", keras.optimizers.schedules.LearningRateSchedule),
        ("sequence of batches", keras.utils.Sequence),
    ):
        if not issubclass(subject, base):
            continue
        if kind == "layer" and _call_of(subject) is _call_of(keras.layers.Layer):
            raise NotTried("it is a base class: it does not define call()")
        return kind
    if is_pair(parameters_of(subject.__call__)[1:]):
        return "loss"
    if issubclass(subject, side.optimizers):
        return "optimizer"
    return "class of methods"


def _call_of(subject: Any) -> Any:
    return getattr(subject, "call", None)


def _layer(subject: Any, made_with: Any, side: Side) -> Any:
    """Make a layer; wrap a recurrent cell in an RNN layer."""
    layer = made(subject, made_with, side)
    parameters = list(inspect.signature(layer.call).parameters)
    is_cell = hasattr(layer, "state_size") and len(parameters) > 1 and "state" in parameters[1]
    if is_cell:
        return side.keras.layers.RNN(layer, return_sequences=True, return_state=True)
    return layer


class LayerClass:
    """A layer: alone, in a functional model, saved and loaded."""

    kind = "layer"

    @classmethod
    def plan(cls, subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return arguments and inputs that work, and the weights that both sides get."""
        first: BaseException | None = None
        refused: list[str] = []
        shapes = _input_shapes(job["calls"])
        for made_with in draws.arguments_for(subject, job["calls"], names=draws.OF_LAYERS):
            try:
                natural = rank_of(type(made(subject, made_with, side)), side)
            except BaseException as error:  # noqa: BLE001 - other arguments may work
                first = first or of_arguments(error, subject, job)
                continue
            entries: list[dict[str, Any]] = []
            ranks: set[Any] = set()
            drawn = sorted(draws.inputs(shapes), key=lambda each: each[1][0].ndim != natural)
            for label, arrays in [*draws.project_inputs(job["inputs"]), *drawn]:
                rank = tuple(each.ndim for each in arrays)
                if entries and natural is not None and rank != (natural,):
                    break  # Keras 2 accepted other ranks, but nobody relies on it
                if rank in ranks or len(entries) >= _MAX_INPUTS:
                    continue
                if entries and label.startswith(_LAST_RESORT):
                    continue
                entry: dict[str, Any] = {"label": label, "arrays": arrays, "weights": None}
                case = cls._case(subject, made_with, entry, side)
                if case.error and cls._takes_masks(subject, made_with, arrays, side):
                    entry = {**entry, "label": f"{label}, masked", "masked": True}
                    case = cls._case(subject, made_with, entry, side)
                if case.error:
                    refused.append(case.error)
                    continue
                entries.append(entry)
                ranks.add(rank)
            entries = entries or cls._of_names(subject, made_with, side)
            if entries:
                plan = {"made_with": made_with, "entries": entries}
                cls._try_in_model(subject, plan, side)
                cls._add_wide_input(subject, plan, side)
                return plan
        if refused and all(each.startswith("NotImplementedError: ") for each in refused):
            raise NotTried(f"it is a base class: {refused[0]}")
        if refused:
            raise Rejected(most_informative(refused))
        raise first or NotTried("kdoctor found no input that it accepts")

    @classmethod
    def _of_names(cls, subject: Any, made_with: Any, side: Side) -> list[dict[str, Any]]:
        """Return the first dict of tensors that it accepts, by the texts in its `call`."""
        code = getattr(made(subject, made_with, side).call, "__code__", None)
        names = [each for each in getattr(code, "co_consts", ()) if isinstance(each, str)]
        names = [each for each in names if each.isidentifier()][:_MAX_NAMES]
        for label, arrays in draws.named_inputs(names) if names else ():
            entry = {"label": label, "arrays": arrays, "names": names, "weights": None}
            if not cls._case(subject, made_with, entry, side).error:
                return [entry]
        return []

    @staticmethod
    def _takes_masks(subject: Any, made_with: Any, arrays: list[Any], side: Side) -> bool:
        """Say whether a layer with several inputs takes their masks."""
        if len(arrays) < 2 or any(each.ndim < 2 for each in arrays):
            return False
        return "mask" in inspect.signature(made(subject, made_with, side).call).parameters

    @classmethod
    def _try_in_model(cls, subject: Any, plan: dict[str, Any], side: Side) -> None:
        """Find out whether it works in a functional model, and whether that model can be saved."""
        entry = plan["entries"][0]
        for step in ("functional", "saved"):
            entry[step] = True
            case = cls._case(subject, plan["made_with"], entry, side)
            if case.error:
                entry[step] = False

    @classmethod
    def _add_wide_input(cls, subject: Any, plan: dict[str, Any], side: Side) -> None:
        """Add an input of small and large numbers, if the layer accepts it."""
        arrays = plan["entries"][0]["arrays"]
        if not all(each.dtype.kind == "f" for each in arrays):
            return
        label = f"{draws.WIDE} {arrays[0].shape}"
        entry = {"label": label, "arrays": list(map(draws.wide, arrays)), "weights": None}
        entry["names"] = plan["entries"][0].get("names", ())
        if not cls._case(subject, plan["made_with"], entry, side).error:
            plan["entries"].append(entry)

    @classmethod
    def measure(cls, subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Run it with each input."""
        return [cls._case(subject, plan["made_with"], each, side) for each in plan["entries"]]

    @classmethod
    def _case(cls, subject: Any, made_with: Any, entry: dict[str, Any], side: Side) -> Case:
        case = Case(entry["label"])
        try:
            cls._fill(case, subject, made_with, entry, side)
        except Mismatch as mismatch:
            case.values = {"weights": side.sides.apart(mismatch.before, mismatch.after)}
        except BaseException as error:  # noqa: BLE001 - it may reject an input
            case.error = error_text(error)
        return case

    @staticmethod
    def _fill(case: Case, subject: Any, made_with: Any, entry: dict[str, Any], side: Side) -> None:
        layer = _layer(subject, made_with, side)
        given = given_of(
            entry["arrays"],
            side,
            masked=entry.get("masked", False),
            names=entry.get("names", ()),
        )
        mode = modes_of(layer)[-1]
        layer(given) if mode is None else layer(given, training=False)
        entry["weights"], variables = weigh(layer, entry["weights"])
        case.values["weights"] = "as many as on Keras 2"
        measure(layer, given, case, entry["weights"], variables, side)
        _fill_config(case, subject, layer, entry, side)
        if entry.get("functional"):
            _fill_around(case, subject, made_with, entry, side, given)


def _fill_config(case: Case, subject: Any, made: Any, entry: dict[str, Any], side: Side) -> None:
    """Record what the class's own ``get_config()`` gives."""
    if isinstance(subject, type) and isinstance(made, subject):
        settings = entry.setdefault("settings", settings_of(subject))
        case.values.update(config_of(made, settings, side))


def _fill_around(
    case: Case, subject: Any, made_with: Any, entry: dict[str, Any], side: Side, given: Any
) -> None:
    """Put a layer into a functional model; save and load the model."""
    layer = _layer(subject, made_with, side)
    keras = side.keras
    inputs = [keras.Input(shape=each.shape[1:], dtype=each.dtype.name) for each in entry["arrays"]]
    symbolic = together(inputs, entry.get("names", ()))
    model = keras.Model(symbolic, layer(symbolic))
    _, variables = weigh(layer, entry["weights"])
    assign(variables, entry["weights"])
    first = plain(model(given, training=False))
    assign(variables, entry["weights"])
    if str(first) != str(plain(model(given, training=False))):
        return  # random even outside training
    case.values["output in a functional model"] = first
    case.values["shape of the symbolic output"] = _symbolic_shapes(model, first)
    measure_training(model, given, case, entry["weights"], variables, side)
    if entry.get("saved"):
        assign(variables, entry["weights"])
        model.save("model.keras")
        side.fresh()
        known = {subject.__name__: subject}
        what = "output after saving and loading"
        try:
            loaded = keras.models.load_model("model.keras", custom_objects=known, compile=False)
            case.values[what] = plain(loaded(given, training=False))
        except Exception as error:
            if side.is_old:
                raise
            case.values[what] = error_text(error)


def _symbolic_shapes(model: Any, given: Any) -> str:
    """Compare the shapes of a model's symbolic outputs with those of its real outputs."""
    real = [tuple(each.shape) for each in flat(given).values()]
    for output, shape in zip(model.outputs, real):  # noqa: B905 - strict= is of Python 3.10
        rank = getattr(output.shape, "rank", len(tuple(output.shape)) if output.shape else 0)
        symbolic = tuple(output.shape) if rank is not None else shape
        wrong = len(symbolic) != len(shape) or any(
            size is not None and size != is_
            for size, is_ in zip(symbolic, shape)  # noqa: B905
        )
        if wrong:
            return f"{symbolic}, but the output has shape {shape}"
    return "the shape of the output"


class LayerMaker(LayerClass):
    """A function that returns a layer."""

    kind = "maker of a layer"


class ModelClass(LayerClass):
    """A subclassed model."""

    kind = "model"

    @staticmethod
    def _fill(case: Case, subject: Any, made_with: Any, entry: dict[str, Any], side: Side) -> None:
        case.tolerance = MODEL_TOLERANCE
        model = made(subject, made_with, side)
        given = given_of(entry["arrays"], side, names=entry.get("names", ()))
        mode = modes_of(model)[-1]
        model(given) if mode is None else model(given, training=False)
        fill(case, model, given, entry, side)
        case.values.update(train_steps.results_of(subject, made_with, given, entry, side))
        _fill_config(case, subject, model, entry, side)

    @classmethod
    def _try_in_model(cls, subject: Any, plan: dict[str, Any], side: Side) -> None:
        """Do nothing: a model is not put into another model."""


class WeightFunction(MadeAlone):
    """A regularizer or constraint."""

    kind = "function of a weight"

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it with each tensor."""
        function = made(subject, plan["made_with"], side)
        alone = {label for label, _ in draws.tensors()}
        plan = {"only": alone, **plan}
        cases = TensorFunction.measure(function, {**plan, "extra": ([], {})}, side)
        for case in cases:
            if not case.error:
                case.values.update(config_of(function, plan["settings"], side))
        return cases


class InitializerClass(MadeAlone):
    """An initializer: the values that it returns, or their distribution if random."""

    kind = "initializer"

    @classmethod
    def plan(cls, subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return constructor arguments, and whether a dtype can be given in the call."""
        plan = super().plan(subject, job, side)
        with contextlib.suppress(Exception):
            made(subject, plan["made_with"], side)((4, 4), dtype="float32")
            return {**plan, "typed": {"dtype": "float32"}}
        return {**plan, "typed": {}}

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it with typical shapes of weights."""
        cases = []
        for shape in ((4, 4), (3, 4), (3, 3, 2, 4)):
            case = Case(f"a weight of shape {shape}")
            try:
                function = made(subject, plan["made_with"], side)
                # Layers of Keras give the dtype by name.
                draw = (
                    partial(function, shape, dtype="float32")
                    if plan["typed"]
                    else partial(function, shape)
                )
                first, again = plain(draw()), plain(draw())
                if str(first) == str(again):
                    case.values["value"] = first
                else:
                    case.values = random_values("value", draw)
                case.values.update(config_of(function, plan["settings"], side))
            except BaseException as error:  # noqa: BLE001 - it may reject a shape
                case.error = error_text(error)
            cases.append(case)
        return cases


def _input_shapes(calls: list[dict[str, Any]]) -> list[tuple[int, ...]]:
    """Return input shapes from calls in the file, with a batch size."""
    found = []
    for call in calls:
        shape = call["kwargs"].get("input_shape")
        value = ast.literal_eval(shape) if shape else None
        if isinstance(value, (tuple, list)) and all(value):
            found.append((2, *value))
    return found


EXERCISES = (
    *(LayerClass, LayerMaker, ModelClass, LossClass, MetricClass),
    *(WeightFunction, InitializerClass),
)
