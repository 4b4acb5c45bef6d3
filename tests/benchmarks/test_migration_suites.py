"""The benchmark of real packages: what happens to a package's tests."""

import json
import os
import sys
import threading
import time

import pytest

from benchmarks.migration import (
    suites,
)
from benchmarks.migration.model import (
    Arm,
    Failure,
    Frame,
    Package,
    Places,
    Result,
)

# --- what happens to a package's tests --------------------------------------------------------

TESTS = {
    "conftest.py": "",
    "thing/core.py": "def half(x):\n    return x.no_such_member\n",
    "tests/test_all.py": (
        "import os, time\nimport numpy as np\nfrom thing.core import half\n"
        "def test_passes():\n    assert np.float is float and np.float32 in np.sctypes['float']\n"
        "def test_is_installed():\n    from importlib.metadata import version\n"
        "    assert version('my-pkg') == '0.0'\n"
        "def test_fails(): half(3)\n"
        "def test_dies(): os.abort()\n"
        "def test_is_after_the_one_that_dies(): pass\n"
        "def test_never_ends():\n    while True: pass\n"
        "def test_hangs():\n    import signal\n    signal.signal(signal.SIGPROF, signal.SIG_IGN)\n"
        "    while True: pass\n"
        "def test_is_after_the_one_that_hangs(): pass\n"
        "class Spoiled(Exception):\n    @property\n    def __traceback__(self): raise SystemError\n"
        "def test_breaks_pytest(): raise Spoiled\n"
        "def test_is_after_the_one_that_breaks_pytest(): pass\n"
        "def test_is_skipped():\n    import pytest\n    pytest.skip('no')\n"
    ),
    "tests/broken_test.py": "import no_such_module\ndef test_unseen(): pass\n",
    "examples/test_example.py": "def test_not_counted(): pass\n",
}


@pytest.fixture(scope="module")
def run_suite(tmp_path_factory):
    root = tmp_path_factory.mktemp("arm")
    for name, text in TESTS.items():
        path = root / "my-pkg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    places = Places(tmp_path_factory.mktemp("cache"), sys.executable, None, 1)
    return suites.run(Package("my-pkg"), Arm.BEFORE, root, places)


def outcome_of(suite, name):
    return suite.of(f"tests/test_all.py::{name}").outcome


def test_a_process_that_dies_takes_one_test_with_it(run_suite):
    assert outcome_of(run_suite, "test_dies") == "crashed"
    assert outcome_of(run_suite, "test_passes") == "passed"
    assert outcome_of(run_suite, "test_is_after_the_one_that_dies") == "passed"
    assert outcome_of(run_suite, "test_is_skipped") == "skipped"


def test_a_test_that_pytest_fails_to_report_is_the_only_one_that_is_lost(run_suite):
    assert outcome_of(run_suite, "test_breaks_pytest") == "crashed"
    assert outcome_of(run_suite, "test_is_after_the_one_that_breaks_pytest") == "passed"


def test_a_package_finds_itself_installed(run_suite):
    assert outcome_of(run_suite, "test_is_installed") == "passed"


def test_a_test_that_no_signal_reaches_is_killed_with_its_process(run_suite):
    assert outcome_of(run_suite, "test_hangs") == "crashed"
    assert "killed: it hung" in run_suite.of("tests/test_all.py::test_hangs").failure.message
    assert outcome_of(run_suite, "test_is_after_the_one_that_hangs") == "passed"


def test_a_test_that_never_ends_is_stopped(run_suite):
    assert outcome_of(run_suite, "test_never_ends") == "failed"
    assert (
        "1 s of processor time"
        in run_suite.of("tests/test_all.py::test_never_ends").failure.message
    )


def test_a_failure_tells_the_frames_inside_the_package(run_suite):
    failure = run_suite.of("tests/test_all.py::test_fails").failure

    assert failure.type == "AttributeError"
    assert failure.raised_at == "my-pkg/thing/core.py:2"
    assert [(frame.path, frame.line, frame.last) for frame in failure.frames] == [
        ("my-pkg/tests/test_all.py", 9, False),
        ("my-pkg/thing/core.py", 2, True),
    ]


def test_tests_of_a_file_that_cannot_be_imported_fail_with_its_error(run_suite):
    failure = run_suite.of("tests/broken_test.py::test_unseen").failure

    assert failure.type == "ModuleNotFoundError"
    assert failure.frames[-1] == Frame("my-pkg/tests/broken_test.py", 1, 1, "<module>", last=True)


def test_examples_are_not_tests(run_suite):
    assert not [name for name in run_suite.tests if "example" in name]


def test_setup_and_call_decide_and_teardown_does_not():
    def log(**failing):
        phases = ("setup", "call", "teardown")
        entries = [
            {
                "test": "t",
                "phase": each,
                "outcome": "passed",
                "seconds": 1.0,
                **failing.get(each, {}),
            }
            for each in phases
        ]
        return "\n".join([*map(json.dumps, entries), '{"half a li'])

    failed = {"outcome": "failed", "failure": {"type": "E", "message": "m"}}

    assert suites.read(log(), {}).tests == {"t": Result("passed", 3.0)}
    assert suites.read(log(teardown=failed), {}).tests == {"t": Result("passed", 3.0)}
    assert suites.read(log(call=failed), {}).tests == {
        "t": Result("failed", 3.0, Failure("E", "m"))
    }


# --- which tests are run, and with what -------------------------------------------------------


def test_only_files_of_the_patterns_are_test_files(tmp_path):
    for name in ("a/tests/test_a.py", "b/test_b.py", "b/c_test.py", "b/more.py", "docs/test_d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert suites.test_files(tmp_path, ()) == ["a/tests/test_a.py", "b/c_test.py", "b/test_b.py"]
    assert suites.test_files(tmp_path, ("a/*", "*/c_*")) == ["a/tests/test_a.py", "b/c_test.py"]


@pytest.fixture
def run_drawn(tmp_path):
    def run(package, arm=Arm.BEFORE, also=()):
        root = tmp_path / arm
        (root / "p" / "src").mkdir(parents=True)
        (root / "p" / "src" / "inside.py").write_text("")
        text = "import pytest\nimport inside, besides\n"
        text += "@pytest.mark.parametrize('n', range(40))\ndef test_n(n): pass\n"
        (root / "p" / "test_p.py").write_text(text)
        return suites.run(
            package, arm, root, Places(tmp_path, sys.executable, None, 9), [root / "p/src", *also]
        )

    return run


def test_a_share_of_the_tests_is_the_same_in_every_arm(run_drawn, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "besides.py").write_text("")
    package = Package("p", share=0.5)

    before = run_drawn(package, Arm.BEFORE, [tmp_path / "more"])
    fixed = run_drawn(package, Arm.SAFE, [tmp_path / "more"])

    assert 10 < len(before.passed) < 30
    assert before.passed == fixed.passed


def test_what_is_not_on_the_path_is_not_found(run_drawn):
    assert run_drawn(Package("p")).uncollected["test_p.py"].message == "No module named 'besides'"


def test_a_suite_that_is_stopped_leaves_no_record_and_no_process(tmp_path, monkeypatch):
    root = tmp_path / "arm"
    (root / "p").mkdir(parents=True)
    text = "import os, pathlib, time\ndef test_p():\n"
    text += f"    pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
    (root / "p" / "test_p.py").write_text(text + "    time.sleep(600)\n")
    monkeypatch.setattr(suites, "_stopping", threading.Event())

    def stop_in_the_test():
        while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text():
            time.sleep(0.1)
        suites.stop()

    threading.Thread(target=stop_in_the_test).start()
    with pytest.raises(suites.Stopped):
        suites.run(Package("p"), Arm.BEFORE, root, Places(tmp_path, sys.executable, None, 9))

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
