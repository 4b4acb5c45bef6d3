"""``kdoctor api``: what people write is understood, and what it tells is what the data has."""

import itertools

import pytest

from kdoctor.keras_api import known_releases, lookup, resolve_target
from kdoctor.keras_api.history import member_history, name_history
from kdoctor.keras_api.presence import Presence
from kdoctor.keras_api.query_name import inquire


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("keras.backend.dot", "backend.dot"),
        ("tf.keras.backend.dot", "backend.dot"),
        ("tensorflow.keras.backend.dot", "backend.dot"),
        ("K.dot(a, b)", "backend.dot"),
        ("K", "backend"),
        ("backend.dot", "backend.dot"),
        ("layers.Dense", "layers.Dense"),
        ("Dense", "layers.Dense"),
        ("np_utils.to_categorical", "utils.np_utils.to_categorical"),
        ("to_categorical", "utils.to_categorical"),
        ("Sequential", "Sequential"),
        ("Adam", "optimizers.Adam"),
        ("Model.fit", "Model.fit"),
        ("keras.models.Model.fit", "models.Model.fit"),
        ("model.fit", "Model.fit"),
        ("optimizer.lr", "optimizers.Optimizer.lr"),
        ("ImageDataGenerator", "preprocessing.image.ImageDataGenerator"),
    ],
)
def test_a_name_is_understood_as_people_write_it(asked, name):
    answer = inquire(asked)
    assert answer.name == name
    assert answer.is_known
    assert answer.suggestions == ()


def test_the_root_decides():
    dot = {history.root: history for history in inquire("K.dot").histories}
    assert dot["keras"].gone_in == "3.0.0"
    assert dot["tf.keras"].gone_in == ""
    assert dot["tf.keras"].periods[-1][1] == known_releases("keras")[-1]


def test_a_moved_name_tells_where_it_is_now():
    (history,) = inquire("keras.layers.core.Dense").histories[:1]
    assert history.moved_to == ("keras.layers.Dense",)
    assert history.gone_in == "2.13.1"


def test_each_release_agrees_with_the_lookup():
    for name in ("backend.dot", "layers.Dense", "layers.core.Dense", "utils.to_categorical"):
        history = name_history("keras", name)
        known = known_releases("keras")
        within = {
            release
            for first, last in history.periods
            for release in known[known.index(first) : known.index(last) + 1]
        }
        for release in known:
            there = lookup(f"keras.{name}", resolve_target(f"keras=={release}", "")).presence
            if there is not Presence.UNKNOWN:
                assert (there is Presence.EXISTS) == (release in within), (name, release)


def test_signatures_change_where_a_release_changed_them():
    spans = name_history("keras", "optimizers.Adam").signatures
    assert spans[0].text.startswith("lr=0.001")
    assert next(span for span in spans if span.last == "2.3.1").text.startswith("learning_rate")
    assert all(one.text != other.text for one, other in itertools.pairwise(spans))


def test_a_member_has_its_history_under_each_root():
    assert member_history("keras", "Model", "fit_generator").gone_in == "3.0.0"
    assert member_history("tf_keras", "Model", "fit_generator").gone_in == ""
    assert member_history("keras", "Model", "nonsense") is None
    text = member_history("keras", "Model", "fit").signatures[-1].text
    assert "workers" not in text


def test_a_member_of_a_subclass_is_found_by_way_of_the_base():
    answer = inquire("Model.predict_classes")
    assert answer.histories == ()
    owner = next(owner for owner in answer.owners if owner.distribution == "keras")
    assert (owner.cls, owner.gone_in) == ("Sequential", "2.6.0")
    assert inquire("predict_classes").owners == answer.owners


def test_several_things_of_one_name_are_listed():
    answer = inquire("get")
    assert answer.name == ""
    assert {"keras.losses.get", "keras.metrics.get"} <= set(answer.others)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("K.squeze", "keras.backend.squeeze"),
        ("keras.Dense", "keras.layers.Dense"),
        ("keras.layers.dense", "keras.layers.Dense"),
        ("Conv2d", "keras.layers.Conv2D"),
        ("tf.keras.layers.Desne", "tf.keras.layers.Dense"),
        ("Squential", "keras.Sequential"),
    ],
)
def test_what_never_was_is_said_with_what_may_be_meant(asked, meant):
    answer = inquire(asked)
    assert not answer.is_known
    assert answer.suggestions[0] == meant


@pytest.mark.parametrize(
    "asked", ["", ".", "()", "nonsense", "a.b.c.d", "K..", "keras.", "é", "tf"]
)
def test_an_odd_question_raises_nothing(asked):
    inquire(asked)
