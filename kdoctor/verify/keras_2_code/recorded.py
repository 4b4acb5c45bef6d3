"""Helpers that were run on keras 2.2.4, as no release that runs today has them.

``python -m tools.old_oracle.helpers`` writes what they gave. A definition that stands for one must
give the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import keras
import numpy as np

from kdoctor.verify.keras_2_code.comparing import Refused, result

HELPERS: Final = Path(__file__).with_name("recorded_helpers.json")


class Mine(keras.layers.Conv2D):  # type: ignore[misc]
    """A convolution of the user's own."""


class Thing:
    """An object that is equal to no other."""


def _layer(name: str, settings: Mapping[str, Any]) -> keras.layers.Layer:
    if name == "Inner":
        return keras.Sequential([keras.layers.Conv2D(1, 2)])
    own = {each: value for each, value in settings.items() if each != "input_shape"}
    return Mine(**own) if name == "Mine" else getattr(keras.layers, name)(**own)


def _array(given: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    return np.array(given["data"], given["dtype"]).reshape(given["shape"])


def _check_model(convert: Callable[..., Any], layers: Sequence[Any], answer: Any) -> None:
    before, after = answer
    model = keras.Sequential(
        [keras.Input(layers[0][1]["input_shape"]), *(_layer(*each) for each in layers)]
    )
    model.set_weights([_array(each) for each in before])
    assert convert(model) is None
    for wanted, got in zip(after, model.get_weights(), strict=True):
        np.testing.assert_array_equal(got, _array(wanted), str(layers))


def _check_kernel(convert: Callable[..., Any], given: Mapping[str, Any], answer: Any) -> None:
    data = _array(given)
    got = result(convert, data)
    if answer is None:
        assert isinstance(got, Refused), given
        return
    np.testing.assert_array_equal(got, _array(answer), str(given))
    assert got.dtype == answer["dtype"]
    assert not np.shares_memory(got, data)


def _listed(given: Mapping[str, Any]) -> tuple[list[Thing], Any]:
    things = [Thing() for _ in range(3)]
    objects = [things[each] for each in given["objects"]]
    if given["kind"] == "alone":
        return things, things[0]
    return things, objects if given["kind"] == "list" else tuple(objects)


def _check_uid(join: Callable[..., Any], given: Mapping[str, Any], answer: Any) -> None:
    things, listed = _listed(given)
    found = result(join, listed)
    if isinstance(found, str):
        for number, thing in enumerate(things):
            found = found.replace(str(abs(id(thing))), str(number))
    assert found == (Refused() if answer is None else answer), given


def _check_unpacked(unpack: Callable[..., Any], given: Mapping[str, Any], answer: Any) -> None:
    things, listed = _listed(given)
    found = result(unpack, listed)
    if answer is None:
        assert isinstance(found, Refused), given
    elif answer == "as it was":
        assert found is listed, given
    else:
        assert found is things[answer], given


_CHECKS: Final[dict[str, Callable[[Callable[..., Any], Any, Any], None]]] = {
    "convert_all_kernels_in_model": _check_model,
    "convert_kernel": _check_kernel,
    "object_list_uid": _check_uid,
    "unpack_singleton": _check_unpacked,
}


def _held_to(name: str) -> Callable[[Callable[..., Any]], None]:
    def check(new: Callable[..., Any]) -> None:
        runs = json.loads(HELPERS.read_text("utf-8"))[name]
        assert any(answer is not None for _, answer in runs), "nothing was drawn that it takes"
        for given, answer in runs:
            _CHECKS[name](new, given, answer)

    return check


CHECKS: Final = {name: _held_to(name) for name in _CHECKS}
