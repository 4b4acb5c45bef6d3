"""Measurements as plain arrays, and the comparison of both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import sandbox
from .backend import COMPILED
from .chance import Spread, spread_of_calls

VALUE_TOLERANCE = 1e-5
GRADIENT_TOLERANCE = 1e-4
MODEL_TOLERANCE = 1e-4  # rounding adds up from layer to layer
# Keras 2 adds epsilon to clipped probabilities once more before their logarithm; Keras 3 does not.
EDGE_TOLERANCE = 0.06
# In training, Keras 2 keeps the variance of the batch over n - 1, Keras 3 that over n.
VARIANCE_TOLERANCE = 0.02
# Colour codes, and what changes with each run: addresses and random names of AutoGraph.
_VOLATILE = re.compile(r"\x1b\[[0-9;]*m| at 0x[0-9a-f]+|(?<=__autograph_generated_file)\w+")
# AutoGraph puts an error below its frames, which include ours and do not help the user.
_OF_AUTOGRAPH = re.compile(r"\A\s*in user code:\n(?:\s*\n|    File .*\n| {8}.*\n)+ {4}(?=\S)")
# JAX names the function that it traces, which is ours.
_OF_JAX = re.compile(r"\s*The error occurred while tracing the function .*? for \w+\.")
# The part of the overall largest value that sets the scale of a channel with small values only.
_OTHER_CHANNELS = 1e-4
RANDOM = "shape of the "  # followed by the name of a random value
_SUM_ROUNDINGS = 4 * 2.0**-23  # of float32, where terms cancel out
_ROUNDINGS = 10  # rounding errors by which the two sides may differ
_MAX_ERROR_LENGTH = 400  # characters of an error
_TAIL = 150  # of them at the end, where Keras names the cause
# Errors that correct code may raise for guessed arguments or inputs.
_GUESS_ERRORS = re.compile(
    r"(TypeError|ValueError|IndexError|KeyError|AssertionError|InvalidArgumentError): "
    r"|AttributeError: .*'(int|float|str|tuple|list|[\w.]*Tensor)' object has no attribute"
)
# Errors that do not depend on inputs: of several errors, these are reported.
_CODE_ERRORS = re.compile(
    r"(ImportError|ModuleNotFoundError|NameError): "
    r"|AttributeError: .*\bmodule '[\w.]+' has no attribute"
)


@dataclass
class Case:
    """One input of a definition, and its results by name, in order."""

    label: str
    values: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    tolerance: float = VALUE_TOLERANCE
    is_edge: bool = False  # an input at kinks of functions, where epsilons matter
    part_of: str = ""  # the label of the case that this one becomes part of
    # The relative change of a mode's results when inputs change by a rounding error.
    sensitivity: dict[str, float] = field(default_factory=dict)


@dataclass
class Difference:
    """A value that differs between the two sides."""

    where: str
    told: str
    error: float | None = None

    @property
    def is_of_numbers(self) -> bool:
        """Whether both sides give finite numbers that differ."""
        return self.error is not None and bool(np.isfinite(self.error))


@dataclass
class Closeness:
    """How close the largest difference of two sides comes to its tolerance.

    ``share`` is the fraction of the tolerance that it uses, ``tolerance`` that tolerance, relative
    to the value, and ``largest`` the largest absolute difference anywhere.
    """

    largest: float = 0.0
    share: float = 0.0
    tolerance: float = 0.0

    def take(self, other: Closeness) -> None:
        """Merge another one into it."""
        self.largest = max(self.largest, other.largest)
        if other.share > self.share or not self.tolerance:
            self.share, self.tolerance = other.share, other.tolerance


@dataclass(frozen=True)
class Sides:
    """What the two sides of a comparison are called.

    ``narrowed`` holds pairs of dtypes: what has the first before the fix may have the second after.
    ``sizes`` are those of typical results, by name: where the terms of a sum cancel out, frameworks
    that add in another order leave rounding errors of that size.
    """

    before: str = "Keras 2"
    after: str = "Keras 3"
    narrowed: frozenset[tuple[str, str]] = frozenset()
    sizes: Mapping[str, float] = field(default_factory=dict)

    def apart(self, before: object, after: object) -> str:
        """Return two values that differ, as text."""
        return f"{before} on {self.before}, {after} on {self.after}"


class NotTried(Exception):
    """A definition cannot be tried; the text says why."""


class Rejected(Exception):
    """A definition rejects all inputs or arguments; the text is its own error."""


def error_text(error: BaseException) -> str:
    """Return an error as one line of text."""
    text, frames = _OF_AUTOGRAPH.subn("", str(error))
    if not frames and not isinstance(error, Rejected):
        text = f"{type(error).__name__}: {text}"
    text = sandbox.without_home(_VOLATILE.sub("", text))
    text = _OF_JAX.sub("", " ".join(text.split()))
    return (
        text
        if len(text) <= _MAX_ERROR_LENGTH
        else f"{text[: _MAX_ERROR_LENGTH - _TAIL]} … {text[-_TAIL:]}"
    )


def may_be_a_bad_guess(error: str) -> bool:
    """Say whether guessed arguments, and not the code, may be the cause of an error."""
    return bool(_GUESS_ERRORS.match(error))


def most_informative(errors: Sequence[str]) -> str:
    """Return the most informative error: one of the code itself, else the first."""
    return next((each for each in errors if _CODE_ERRORS.search(each)), errors[0])


def plain(value: Any) -> Any:
    """Convert a result of user code to arrays, numbers, texts and lists of these."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if type(value).__name__ == "IndexedSlices":
        import tensorflow as tf

        value = tf.convert_to_tensor(value)
    if hasattr(value, "to_tensor"):
        value = value.to_tensor()
    if hasattr(value, "detach"):  # of PyTorch: it may record gradients
        value = value.detach().cpu()
    found = np.asarray(value)
    return repr(value) if found.dtype == object else found


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return the leaves of nested values by path: ``[0]``, ``['mask']``."""
    if isinstance(value, dict):
        parts = [(f"{path}[{key!r}]", each) for key, each in value.items()]
    elif isinstance(value, list):
        parts = [(f"{path}[{number}]", each) for number, each in enumerate(value)]
    else:
        return {path: value}
    return {name: leaf for place, each in parts for name, leaf in flat(each, place).items()}


def typical_sizes(cases: Sequence[Case]) -> dict[str, float]:
    """Return the median of the largest absolute value of each result."""
    sizes: dict[str, list[float]] = {}
    for case in cases:
        for name, value in case.values.items():
            sizes.setdefault(name, []).append(_size(value))
    return {name: float(np.median(found)) for name, found in sizes.items()}


def random_in(cases: Sequence[Case]) -> set[tuple[str, str]]:
    """Return the labels of cases with the names of their random values."""
    return {
        (case.label, name[len(RANDOM) :])
        for case in cases
        for name in case.values
        if name.startswith(RANDOM)
    }


def random_values(name: str, call: Callable[[], Any]) -> dict[str, Any]:
    """Return the shapes and the distribution of a random result."""
    shapes = {place: getattr(leaf, "shape", None) for place, leaf in flat(plain(call())).items()}
    found: dict[str, Any] = {f"{RANDOM}{name}": str(shapes)}
    spread = spread_of_calls(lambda: list(flat(plain(call())).values()))
    if spread is not None:
        found[f"distribution of the {name}"] = spread
    return found


def compare(old: Case, new: Case, sides: Sides | None = None) -> tuple[list[Difference], Closeness]:
    """Return the differences of two cases, in order, and how close to the tolerance they are."""
    sides = sides or Sides()
    near = Closeness(tolerance=old.tolerance)
    found = []
    # Where gradients cancel out, the rounding error has the scale of the terms.
    steep = max((_size(v) for k, v in old.values.items() if k.startswith("gradient")), default=0.0)
    for name, before in _expected(old, new).items():
        if name not in new.values and name.startswith("layer "):
            continue  # the fix may replace a layer by an operation
        if name not in new.values:
            found.append(Difference(name, f"no value on {sides.after}"))
            continue
        if name == "weights" and before != new.values[name]:
            return [Difference(name, str(new.values[name]))], near
        if isinstance(new.values[name], str) and not isinstance(before, str):
            # an error
            found.append(Difference(name, f"{sides.after} gives {new.values[name]}"))
            continue
        if isinstance(before, Spread) or isinstance(new.values[name], Spread):
            text = _apart(before, new.values[name], sides)
            found += [Difference(name, text)] if text else []
            continue
        is_gradient = name.startswith("gradient")
        tolerance = _tolerance(old, name)
        left, right = flat(before), flat(new.values[name])
        if is_gradient:
            left, right = _without_none(left, right)
        if is_gradient and old.is_edge:
            left, right = _finiteness(left), _finiteness(right)
        if left.keys() != right.keys():
            found.append(Difference(name, sides.apart(f"{len(left)} values", len(right))))
            continue
        for place, value in left.items():
            sensitivity = max(
                (v for mode, v in old.sensitivity.items() if mode in name), default=0.0
            )
            size = steep if is_gradient else _size(before)
            floor = 0.02 * tolerance * steep if is_gradient else 0.0
            floor += _ROUNDINGS * sensitivity * size
            floor += _SUM_ROUNDINGS * sides.sizes.get(name, 0.0)
            text, error, share = _difference(value, right[place], tolerance, floor, sides)
            if np.isfinite(error):
                near.take(Closeness(error, share, tolerance))
            if text:
                found.append(Difference(f"{name}{place}", text, error))
    if all(each.where.startswith("layer ") for each in found):
        found = []  # only intermediate values differ
    return found, near


def _expected(old: Case, new: Case) -> dict[str, Any]:
    """Return the values that a case must have: those of the other, and again where compiled."""
    again = {
        name: old.values[name[: -len(COMPILED)]]
        for name in new.values
        if name.endswith(COMPILED) and name[: -len(COMPILED)] in old.values
    }
    return {**old.values, **again}


def _apart(before: Any, after: Any, sides: Sides) -> str:
    if isinstance(before, Spread) and isinstance(after, Spread):
        return before.apart(after, sides.apart)
    return "random on only one side"


def _tolerance(case: Case, name: str) -> float:
    if "moving_variance after" in name:
        return VARIANCE_TOLERANCE
    if name.startswith("gradient"):
        return max(case.tolerance, GRADIENT_TOLERANCE)
    return max(case.tolerance, EDGE_TOLERANCE if case.is_edge else 0.0)


def _finiteness(values: dict[str, Any]) -> dict[str, Any]:
    """Return which numbers are finite: at a kink, any subgradient is right."""
    return {
        place: np.isfinite(value) if isinstance(value, np.ndarray) else value
        for place, value in values.items()
    }


def _without_none(left: dict[str, Any], right: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Replace a missing gradient by zeros if the other side has one: they are equivalent."""
    for one, other in ((left, right), (right, left)):
        for place, value in one.items():
            if value is None and other.get(place) is not None:
                one[place] = np.zeros_like(other[place])
    return left, right


def _difference(
    old: Any, new: Any, tolerance: float, floor: float, sides: Sides
) -> tuple[str, float, float]:
    """Return how two leaves differ (as text, "" if they do not), by how much, and by what share.

    The share is the fraction of the tolerance.
    """
    if not isinstance(old, np.ndarray) or not isinstance(new, np.ndarray):
        numbers = isinstance(old, (int, float)) and isinstance(new, (int, float))
        if numbers or isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
            if old is None or new is None or isinstance(old, str) or isinstance(new, str):
                return sides.apart(_short(old), _short(new)), np.inf, np.inf
            return _difference(np.asarray(old), np.asarray(new), tolerance, floor, sides)
        return _all_or_nothing("" if old == new else sides.apart(repr(old), repr(new)))
    if old.shape != new.shape:
        return _all_or_nothing(sides.apart(f"shape {old.shape}", new.shape))
    if _sort(old) != _sort(new) and (_sort(old), _sort(new)) not in sides.narrowed:
        return _all_or_nothing(sides.apart(old.dtype, new.dtype))
    if not old.size:
        return _all_or_nothing("")
    left, right = (each.astype("float64") if _is_number(each) else each for each in (old, new))
    if left.dtype.kind not in "fc":
        return _all_or_nothing("" if (left == right).all() else "the values differ")
    with np.errstate(all="ignore"):
        apart = np.abs(left - right)
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        apart = np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
        finite = np.where(np.isfinite(left), np.abs(left), 0.0)
        rough = 400 if old.dtype.itemsize == 2 and old.dtype.kind == "f" else 1
        # Small values carry rounding errors of the large ones in their channel, but not of other
        # channels, which may have been concatenated.
        channels = tuple(range(left.ndim - 1))
        scale = np.maximum(finite.max(axis=channels, keepdims=True), _OTHER_CHANNELS * finite.max())
        allowed = tolerance * rough * (np.abs(np.where(same, 0, left)) + 0.1 * scale) + floor + 1e-9
        wrong = ~(apart <= allowed)
    largest, share = float(apart.max()), float((apart / allowed).max())
    if not wrong.any():
        return "", largest, share
    worst = np.unravel_index(int(np.argmax(np.where(wrong, apart, -1))), apart.shape)
    at = f"at {list(map(int, worst))}: " if old.ndim else ""
    text = sides.apart(f"{left[worst]:.7g}", f"{right[worst]:.7g}")
    return f"{at}{text}", largest, share


def _all_or_nothing(text: str) -> tuple[str, float, float]:
    """Return an exact comparison as a difference: infinite if there is a text, else zero."""
    apart = np.inf if text else 0.0
    return text, apart, apart


def _size(value: Any) -> float:
    """Return the largest finite absolute value in nested values."""
    sizes = [0.0]
    for leaf in flat(value).values():
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f":
            finite = np.abs(leaf[np.isfinite(leaf)])
            sizes.append(float(finite.max()) if finite.size else 0.0)
    return max(sizes)


def _is_number(array: np.ndarray) -> bool:
    return array.dtype.kind in "fiub" or array.dtype.name == "bfloat16"


def _sort(array: np.ndarray) -> str:
    """Return the part of a dtype that must be equal: the width of integers may differ."""
    return "int" if array.dtype.kind in "iu" else array.dtype.name


def _short(value: Any) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
