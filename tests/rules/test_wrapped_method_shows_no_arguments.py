"""The methods that KD493 tells of are those that Keras 3 wraps."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.rules.behaviour.wrapped_method_shows_no_arguments import _WRAPPED
from tests.frameworks import keras


@pytest.mark.frameworks
def test_they_show_no_arguments_and_what_is_under_the_wrapper_does() -> None:
    for name in _WRAPPED:
        method = getattr(keras.Model, name)
        assert inspect.getfullargspec(method).args == []
        assert inspect.getfullargspec(inspect.unwrap(method)).args[0] == "self"
