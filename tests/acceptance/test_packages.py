"""Three packages of Keras 2 times from the package index, as their authors released them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]
UNREACHABLE = 3

pytestmark = pytest.mark.frameworks


@pytest.fixture(scope="module")
def reports():
    """What ``make packages`` prints, as data."""
    command = [sys.executable, "-m", "tools.check_packages", "--json"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode == UNREACHABLE:
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-500:]}")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_three_packages_are_read_and_something_is_found_in_each(reports):
    assert len(reports) >= 3
    assert all(report["files"] and report["findings"] for report in reports)


def test_no_file_of_the_packages_crashes_the_tool(reports):
    assert [report["crashes"] for report in reports] == [[] for _ in reports]


def test_every_error_about_a_name_is_confirmed_by_the_installed_keras(reports):
    assert sum(report["errors_checked"] for report in reports) >= 50
    assert [report["false_alarms"] for report in reports] == [[] for _ in reports]


def test_every_file_that_compiled_compiles_after_the_fix(reports):
    assert [report["compile_failures"] for report in reports] == [[] for _ in reports]


def test_a_second_fix_changes_nothing(reports):
    assert [report["second_run_changes"] for report in reports] == [[] for _ in reports]
