"""Adding a rule means adding one file: what the registry finds, and what it refuses."""

import functools
import subprocess
import sys
import types
from pathlib import Path

import msgspec
import pytest

from kdoctor.analysis import facts as facts_module
from kdoctor.analysis.facts import TargetFacts
from kdoctor.engine import scan
from kdoctor.errors import UsageProblem
from kdoctor.keras_api import newest_target
from kdoctor.model import Applicability, ImportNeed
from kdoctor.rules import Example, all_rules, index, registry, rule_by_code
from kdoctor.rules.index import INDEX, rule_index
from kdoctor.rules.pages import HEADINGS, page_of
from tools.rule_index import index_text


def test_rules_come_in_the_order_of_their_codes() -> None:
    codes = [rule.code for rule in all_rules()]
    assert codes == sorted(set(codes))
    assert codes


def test_every_rule_documents_and_shows_itself() -> None:
    for rule in all_rules():
        assert [line for line in rule.docs.splitlines() if line.startswith("## ")] == [*HEADINGS]
        assert rule.summary.endswith("."), rule.code
        assert rule.valid, rule.code
        assert rule.invalid, rule.code


def test_a_rule_is_found_by_code_and_by_name() -> None:
    assert rule_by_code("kd102") is rule_by_code("missing-name")


def test_an_unknown_rule_is_a_problem_of_usage() -> None:
    with pytest.raises(UsageProblem, match="KD999"):
        rule_by_code("KD999")


def test_two_rules_of_one_code_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "places", lambda: iter(["names.missing_name"] * 2))
    with pytest.raises(ValueError, match="two rules with the code KD102"):
        registry.built_in_rules.__wrapped__()


def test_importing_the_package_imports_no_rule_and_no_libcst() -> None:
    program = (
        "import sys, kdoctor.rules; kdoctor.rules.words();"
        "print([m for m in sys.modules if m == 'libcst' or m.startswith('kdoctor.rules.names')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_asking_for_one_rule_imports_no_other() -> None:
    program = (
        "import sys\n"
        "from kdoctor.engine.selection.codes import rule_named\n"
        "from kdoctor.rules.index import places\n"
        "rule_named('KD201')\n"
        "print([each for each in places() if f'kdoctor.rules.{each}' in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['members.model_has_no_backend']\n"


def test_the_proof_of_an_example_ends_with_the_example() -> None:
    one = Example(before="a", after="b")
    assert one.id != Example(before="a", after="c").id
    assert one.id == Example(before="a", after="b", unsafe=True).id


def test_a_rule_is_silent_on_versions_that_it_does_not_concern() -> None:
    source = b"import keras\nkeras.layers.Dense(3, input_shape=(4,))"
    assert scan(["-"], stdin=source, target="keras==3.15.1", select=["KD301"]).findings
    assert not scan(["-"], stdin=source, target="keras==2.15", select=["KD301"]).findings


def test_without_a_record_nothing_is_safe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    example = Example(before="a", after="b")
    facts = TargetFacts(newest_target())
    record = tmp_path / "proofs.json"
    monkeypatch.setattr(facts_module, "RECORD", record)
    read_anew = facts_module.proofs_that_hold.__wrapped__
    monkeypatch.setattr(facts_module, "proofs_that_hold", read_anew)
    assert facts.applicability(example) is Applicability.UNSAFE
    for held, wanted in (
        ({}, Applicability.UNSAFE),
        ({example.id: {"holds": False}}, Applicability.UNSAFE),
        ({example.id: {"holds": True}}, Applicability.SAFE),
    ):
        record.write_bytes(msgspec.json.encode(held))
        assert facts.applicability(example) is wanted
    assert facts.applicability() is Applicability.UNSAFE


_RULE = '''"""A rule in a single file.

## What it does
## Why it breaks
## What to write instead
## How we know
"""
from kdoctor.model import Severity
from kdoctor.rules.rule import Example, Rule


def check(module, facts):
    yield


rule = Rule("KD599", "a-rule", "idioms", Severity.ERROR, check)
INVALID = [
    Example(before="a", after="b"),
    Example(before="c", after="d"),
    Example(before="e"),
    Example(before="f", after="g", unsafe=True),
]
VALID = []
'''


@pytest.fixture
def written(monkeypatch):
    """The names of a rule's module, which lies nowhere."""
    module = types.ModuleType("a_rule")
    module.__file__ = "a_rule.py"
    monkeypatch.setitem(sys.modules, "a_rule", module)
    exec(_RULE, vars(module))  # noqa: S102 - our own text
    page_of.cache_clear()
    return vars(module)


def test_a_fix_is_rated_by_the_examples_that_are_fixed_without_unsafe(written, monkeypatch):
    rule, examples = written["rule"], written["INVALID"]
    held = {each.id for each in examples[:2]}
    monkeypatch.setattr(facts_module, "proofs_that_hold", lambda: held)
    assert rule.fix("a title").applicability is Applicability.SAFE
    assert rule.fix("a title", unsafe_because="it may").applicability is Applicability.UNSAFE
    held.remove(examples[0].id)
    assert rule.fix("a title").applicability is Applicability.UNSAFE
    assert rule.fix("a title", proven_by=[examples[1]]).applicability is Applicability.SAFE
    assert rule.fix("a title", proven_by=()).applicability is Applicability.UNSAFE


def test_a_rule_whose_check_is_wrapped_knows_its_examples(written, monkeypatch):
    rule, examples = written["rule"], written["INVALID"]
    monkeypatch.setattr(facts_module, "proofs_that_hold", lambda: {each.id for each in examples})

    @functools.wraps(rule.check)
    def wrapped(module, facts):
        return rule.check(module, facts)

    around = msgspec.structs.replace(rule, check=wrapped)
    assert around.fix("a title").applicability is Applicability.SAFE


def test_an_import_that_is_not_needed_is_not_in_the_fix(written):
    need = ImportNeed("keras", "ops", "ops")
    assert written["rule"].fix("a title", imports=(None, need, need)).imports == (need,)


def test_the_index_is_what_the_rules_say() -> None:
    assert INDEX.read_text("utf-8") == index_text(), "a rule is another one: run `make rule-index`"


def test_the_index_knows_every_rule_and_how_to_get_it() -> None:
    assert [entry.load() for entry in rule_index()] == list(all_rules())


def test_a_rule_that_is_not_in_the_index_yet_counts_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(index, "INDEX", tmp_path / "none.json")
    unlisted, listed = (
        [msgspec.structs.replace(entry, load=None) for entry in entries]
        for entries in (index.built_in_index.__wrapped__(), rule_index())
    )
    assert unlisted == listed
