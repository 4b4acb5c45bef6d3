"""`kdoctor rules` and the completion know topics."""

from __future__ import annotations

import json

from kdoctor.cli.completion import complete_rules
from kdoctor.rules.topics import TOPICS, topic_named


def test_the_commands_show_topics(project):
    listed = project.kdoctor("rules", "freezing")
    assert [line.split()[0] for line in listed.out.splitlines()] == list(
        topic_named("freezing").codes
    )
    page = project.kdoctor("rules", "KD403").out
    assert "topic freezing: " in page
    assert "Also: KD233, KD437, KD447, KD467." in page
    rules = json.loads(project.kdoctor("rules", "--json").out)["rules"]
    assert next(each for each in rules if each["code"] == "KD403")["topics"] == ["freezing"]
    topics = json.loads(project.kdoctor("rules", "--topics", "--json").out)["topics"]
    assert [each["name"] for each in topics] == [topic.name for topic in TOPICS]
    assert project.kdoctor("rules", "KD403", "--topics").out.startswith("freezing: Freezing\n")


def test_a_name_that_is_nearly_one_of_a_topic_is_told_so(project):
    for command in (("rules", "frezing"), ("scan", "--select", "frezing")):
        ended = project.kdoctor(*command)
        assert ended.code == 2
        assert ended.err == (
            "kdoctor: there is no rule 'frezing'; did you mean the topic freezing?\n"
        )


def test_a_shell_offers_topics():
    assert [word for word, _ in complete_rules("KD1,learn")] == ["KD1,learning-rate"]
