"""Checks of the cache that cells kept their dropout masks in, by what is asked of it in graphs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import tensorflow as tf
from tf_keras.src import backend

from kdoctor.verify.keras_2_code.comparing import assert_same
from kdoctor.verify.keras_2_code.functions import one_of

_CASES = 15
_STEPS = 12
_WHERE = ("eagerly", "function", "inner function", "loop", "graph")
_ASKED = ("item", "item of None", "default", "default with", "store", "clear")


def _cache(new: Any) -> None:
    random = np.random.default_rng(49)
    for _ in range(_CASES):
        steps = [(one_of(random, _WHERE), one_of(random, _ASKED)) for _ in range(_STEPS)]
        assert_same([_told(made, steps) for made in (backend.ContextValueCache, new)], f"{steps}")


def _told(cache: Any, steps: list[tuple[str, str]]) -> list[Any]:
    """Return what a cache of numbers answers; its factory counts."""
    numbers = count(1)
    made = cache(lambda more=0: next(numbers) + more)
    graph, answers = tf.Graph(), list[Any]()

    def inner(_number: Any) -> None:
        answers.extend(_asked(made, each) for each in asked_inside["inner"])

    def outer(number: Any) -> None:
        answers.extend(_asked(made, each) for each in asked_inside["outer"])
        function(number)

    function, around = (tf.function(each, autograph=False) for each in (inner, outer))
    for index, (where, asked) in enumerate(steps):
        asked_inside = {"inner": [asked, "item of None"], "outer": [asked]}
        if where == "eagerly":
            answers.append(_asked(made, asked))
        elif where == "graph":
            with graph.as_default():
                answers.append(_asked(made, asked, graph))
        elif where == "function":
            function(index)  # of another number, another graph
        elif where == "inner function":
            around(index)
        else:
            _in_loop(made, asked, answers)
    return answers


def _in_loop(made: Any, asked: str, answers: list[Any]) -> None:
    def body(number: Any) -> Any:
        answers.append(_asked(made, asked))
        return number + 1

    def loop() -> Any:
        answers.append(_asked(made, "item of None"))
        return tf.while_loop(lambda number: number < 2, body, [tf.constant(0)])

    tf.function(loop, autograph=False)()


def _asked(cache: Any, what: str, key: Any = None) -> Any:
    match what:
        case "item":
            return cache[key]
        case "item of None":
            return cache[None]
        case "default":
            return cache.setdefault(key)
        case "default with":
            return cache.setdefault(key, kwargs={"more": 100})
        case "store":
            cache[cache._key()] = 50
        case "clear":
            cache.clear()
    return None


CHECKS: dict[str, Callable[[Any], None]] = {"ContextValueCache": _cache}
