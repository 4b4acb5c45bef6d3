"""The standard library and the installed packages: thousands of files nobody wrote for kdoctor."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def figures():
    """What ``make corpus`` prints, with 1 file of 200 where it is slow, another each time."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.check_corpus", "--json", "--sample", "200"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_the_corpus_has_at_least_five_thousand_files(figures):
    assert figures["files"] >= 5000
    assert figures["scanned"] >= 5000


def test_every_document_of_the_corpus_comes_back_byte_for_byte(figures):
    assert figures["not_byte_equal"] == []
    assert figures["round_trips"] >= figures["files"] - len(figures["unreadable"])


def test_no_file_of_the_corpus_crashes_the_scanner(figures):
    assert figures["crashes"] == []


def test_nothing_is_found_in_a_file_without_keras_gate_or_no_gate(figures):
    assert figures["false_alarms"] == []


def test_the_gate_hides_no_finding(figures):
    assert figures["hidden_by_gate"] == []
