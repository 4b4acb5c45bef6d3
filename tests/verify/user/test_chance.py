"""Random values are compared by their distribution."""

import numpy as np
import pytest

from kdoctor.verify.user.worker import chance
from kdoctor.verify.user.worker.chance import spread_of_calls, spread_of_weight


def drawn(seed, make):
    rng = np.random.default_rng(seed)
    return spread_of_calls(lambda: [make(rng)])


def normal(rng):
    return rng.normal(size=(3, 5))


OTHERS = {
    "another mean": lambda rng: rng.normal(0.5, size=(3, 5)),
    "another variance": lambda rng: rng.normal(0, 1.6, size=(3, 5)),
    "zeros": lambda rng: rng.normal(size=(3, 5)) * (rng.uniform(size=(3, 5)) > 0.2),
    "the same each time": lambda _: np.ones((3, 5)),
}


@pytest.mark.parametrize("seed", range(40))
def test_two_samples_of_one_distribution_agree(seed):
    assert drawn(seed, normal).apart(drawn(seed + 1000, normal)) == ""


@pytest.mark.parametrize("other", OTHERS)
def test_another_distribution_is_detected(other):
    assert drawn(1, normal).apart(drawn(2, OTHERS[other]))


def test_a_uniform_distribution_is_told_from_a_normal_one():
    uniform = drawn(1, lambda rng: rng.uniform(-(3**0.5), 3**0.5, (40, 50)))
    assert "mean deviation" in uniform.apart(drawn(2, lambda rng: rng.normal(size=(40, 50))))


def test_dropout_of_whole_channels_is_told_from_that_of_elements():
    inputs = np.random.default_rng(5).normal(size=(8, 16, 16))
    elements = drawn(1, lambda rng: inputs * (rng.uniform(size=(8, 16, 16)) > 0.5))
    channels = drawn(2, lambda rng: inputs * (rng.uniform(size=(8, 1, 16)) > 0.5))
    assert "covariance along axis 1" in channels.apart(elements)


def test_a_slow_call_is_made_once(monkeypatch):
    calls = []
    # A second passes each time that the clock is looked at: no machine is too fast for it.
    monkeypatch.setattr(chance.time, "process_time", iter(range(100)).__next__)

    def call():
        calls.append(1)
        return [np.ones(3)]

    assert spread_of_calls(call) is None
    assert len(calls) == 1


def test_initial_values_of_a_weight_are_compared_by_distribution():
    rng = np.random.default_rng(3)
    small, same, large = (rng.normal(0, s, (8, 16)).astype("f4") for s in (0.05, 0.05, 0.2))
    assert spread_of_weight(small).apart(spread_of_weight(same)) == ""
    assert "standard deviation" in spread_of_weight(small).apart(spread_of_weight(large))
    assert spread_of_weight(small[0, :4]) is None
