"""The methods of a callback that get their logs by name are those that Keras 3 calls so."""

from __future__ import annotations

import pytest

from kdoctor.rules.behaviour.hook_without_logs import HOOKS
from tests.frameworks import keras


class Noting:
    """A method that notes whether it is given ``logs`` by keyword."""

    def __init__(self, name, by_name):
        self.name, self.by_name = name, by_name

    def __call__(self, *_, **kwargs):
        if "logs" in kwargs:
            self.by_name.add(self.name)


@pytest.mark.frameworks
def test_these_are_all_methods_that_get_the_logs_by_name():
    class Recording(keras.callbacks.Callback):
        """Has methods that note how they are called."""

    by_name = set()
    names = [each for each in dir(keras.callbacks.Callback) if each.startswith("on_")]
    for name in names:
        setattr(Recording, name, Noting(name, by_name))
    called = keras.callbacks.CallbackList([Recording()], add_history=False, add_progbar=False)
    for name in names:
        getattr(called, name)(*([0] if "batch" in name or "epoch" in name else []), {})
    assert by_name == set(HOOKS)
