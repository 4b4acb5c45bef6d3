"""Expressions that are compiled later answer as those that are compiled at once."""

import importlib
import pkgutil
import re

import pytest

import kdoctor
from kdoctor.lazy_regex import pattern

TOPS = tuple(
    f"kdoctor.{each}."
    for each in (
        "documents",
        "engine",
        "keras_api",
        "project",
        "rewrite",
        "rules",
        "suppression",
        "syntax",
    )
)
TEXT = "one, two;Three"


def asked(found):
    return [
        found.findall(TEXT),
        [each.span() for each in found.finditer(TEXT, 2)],
        found.fullmatch(TEXT),
        found.match(TEXT).group(),
        found.search(TEXT, 4).groupdict(),
        found.split(TEXT),
        found.sub("x", TEXT),
        found.subn("x", TEXT, count=1),
        (found.flags, dict(found.groupindex), found.groups, found.pattern),
    ]


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_it_answers_as_what_is_compiled_at_once(flags):
    text = r"(?P<word>[a-z]+)"
    assert asked(pattern(text, flags)) == asked(re.compile(text, flags))
    assert pattern(rb"\d").sub(b"", b"a1") == b"a"


def test_it_is_compiled_once_and_not_before_it_is_used(monkeypatch):
    compiled = []
    usual = re.compile
    monkeypatch.setattr(re, "compile", lambda *given: compiled.append(given) or usual(*given))
    word = pattern(r"\w+", re.ASCII)
    assert compiled == []
    assert (word.match("ab").group(), word.search(" b").group()) == ("ab", "b")
    assert compiled == [(r"\w+", re.ASCII)]


def test_what_no_expression_has_is_no_attribute_of_it():
    with pytest.raises(AttributeError):
        pattern("a").nothing  # noqa: B018


def test_all_that_kdoctor_has_are_right():
    later = type(pattern("a"))
    found = 0
    for each in pkgutil.walk_packages(kdoctor.__path__, "kdoctor."):
        if each.name.startswith(TOPS):
            values = vars(importlib.import_module(each.name)).values()
            found += sum(bool(value.pattern) for value in values if isinstance(value, later))
    assert found > 100
