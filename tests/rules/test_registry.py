"""Adding a rule means adding one file: what the registry finds, and what it refuses."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kdoctor.analysis import facts as facts_module
from kdoctor.analysis.facts import TargetFacts
from kdoctor.engine import scan
from kdoctor.errors import UsageProblem
from kdoctor.keras_api import newest_target
from kdoctor.model import Applicability
from kdoctor.rules import Example, all_rules, index, registry, rule_by_code
from kdoctor.rules.index import INDEX, rule_index
from kdoctor.rules.rule import HEADINGS
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
