"""Topics: a table of codes that exist, known wherever rules are named."""

from __future__ import annotations

from collections import Counter

import pytest

from kdoctor import engine
from kdoctor.engine.selection.codes import choose, chosen_codes
from kdoctor.errors import UsageProblem
from kdoctor.rules import all_rules, rule_by_code
from kdoctor.rules.index import rule_index
from kdoctor.rules.rule import FAMILIES
from kdoctor.rules.topics import TOPICS, topic_named, topics_of

AFTER_COMPILE = """\
import keras

base = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
model = keras.Sequential([base, keras.layers.Dense(1)])
model.compile("adam", "mse"){compiled}
model.trainable = False{frozen}
model.fit(x, y)
"""


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_each_code_exists_and_stands_once_and_in_order(topic):
    assert set(topic.codes) <= {entry.code for entry in rule_index()}
    assert list(topic.codes) == sorted(set(topic.codes))
    assert len(topic.codes) > 1  # one rule has a name of its own
    assert topic.sentence.endswith(".")


def test_no_rule_is_of_more_than_two_topics():
    often = Counter(code for topic in TOPICS for code in topic.codes)
    assert [code for code, number in often.items() if number > 2] == []


def test_no_topic_can_be_taken_for_something_else():
    names = [topic.name for topic in TOPICS]
    assert names == sorted(set(names))
    others = {entry.name for entry in rule_index()} | FAMILIES.keys() | {"all"}
    assert others.isdisjoint(names)
    assert not [name for name in names if name.upper().startswith("KD")]


def test_no_comment_about_comments_is_of_a_topic():
    # What speaks of comments is silenced by its own code only.
    assert not [code for topic in TOPICS for code in topic.codes if code.startswith("KD9")]


def test_a_rule_knows_its_topics():
    assert [topic.name for topic in rule_by_code("KD441").topics] == ["learning-rate", "log-names"]
    assert rule_by_code("KD101").topics == topics_of("KD101") == ()
    for rule in all_rules():
        assert all(rule.code in topic.codes for topic in rule.topics)


def test_select_and_ignore_know_topics():
    freezing = topic_named("freezing").codes
    assert chosen_codes(["freezing"]) == freezing
    assert chosen_codes(["Freezing"], ["KD403"]) == tuple(c for c in freezing if c != "KD403")
    assert not set(chosen_codes(None, ["freezing"])) & set(freezing)
    assert [rule.code for rule in choose(["masks"])] == ["KD425", "KD434"]


def test_an_unknown_one_gets_a_suggestion():
    with pytest.raises(UsageProblem, match="did you mean the topic freezing"):
        chosen_codes(["freesing"])


def found(tmp_path, code, **options):
    (tmp_path / "old.py").write_text(code)
    return [
        each.code for each in engine.scan([tmp_path], target="keras==3.15.1", **options).findings
    ]


PLAIN = AFTER_COMPILE.format(compiled="", frozen="")


def test_a_scan_asks_the_rules_of_a_topic(tmp_path):
    everything = found(tmp_path, PLAIN)
    assert "KD403" in everything
    of_topic = set(topic_named("freezing").codes)
    assert found(tmp_path, PLAIN, select=["freezing"]) == [c for c in everything if c in of_topic]
    assert found(tmp_path, PLAIN, ignore=["freezing"]) == [
        c for c in everything if c not in of_topic
    ]


@pytest.mark.parametrize(
    "settings",
    [
        'ignore = ["freezing"]\n',
        '[per-file-ignores]\n"old.py" = ["freezing"]\n',
        'select = ["masks"]\n',
    ],
)
def test_settings_know_topics(settings, tmp_path):
    (tmp_path / "kdoctor.toml").write_text(settings)
    assert "KD403" not in found(tmp_path, PLAIN)


@pytest.mark.parametrize("words", ["ignore[freezing] on purpose", "ignore[masks, Freezing]"])
def test_a_comment_may_name_a_topic(words, tmp_path):
    code = AFTER_COMPILE.format(compiled="", frozen=f"  # kdoctor: {words}")
    assert "KD403" not in found(tmp_path, code)
    kd9 = found(tmp_path, code, select=["KD9"])
    assert kd9 == (["KD901"] if "masks" in words else [])  # no rule of masks was silenced here
