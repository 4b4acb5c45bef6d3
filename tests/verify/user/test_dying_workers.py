"""A definition whose process dies is not tried; the others still run."""

import sys

import pytest

from kdoctor.interpreters import Interpreter, interpreter_for
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.results import VerdictState
from kdoctor.verify.user.running import Limits, run
from kdoctor.verify.user.verifying import verify
from kdoctor.verify.user.worker.endings import how_it_ended

HEAD = "import ctypes, os, signal\nfrom keras import backend as K\n"
FIXED = "import ctypes, os, signal\nfrom keras import ops as K\n"
ENDS = {
    "leaves": ("os._exit(3)", "its process exited with code 3"),
    "says_that_it_is_through": ("os._exit(87)", "its process ended before it finished"),
    "is_killed": ("os.kill(os.getpid(), signal.SIGKILL)", "its process was killed by SIGKILL"),
    "crashes": ("ctypes.string_at(0)", "its process was killed by SIGSEGV"),
    "has_no_name": ("signal.raise_signal(40)", "its process was killed by signal 40"),
    "kills_the_worker": (
        "os.kill(os.getppid(), signal.SIGKILL)",
        "the worker process was killed by SIGKILL",
    ),
}


def module(head, bodies):
    functions = [
        f"def {name}(y_true, y_pred):\n    {body}\n    return K.mean(y_true - y_pred)\n"
        for name, body in bodies.items()
    ]
    return "\n\n".join([head, *functions])


def with_others(bodies):
    """Put a definition that lives after each."""
    return {k: v for name, body in bodies.items() for k, v in ((name, body), (f"{name}_", "pass"))}


@pytest.fixture(scope="module")
def found():
    ends = with_others({name: body for name, (body, _) in ENDS.items()})
    lives = with_others(dict.fromkeys(ENDS, "pass"))
    # A worker takes seconds to start: one side is enough for what ends it.
    before = ends | {"kills_the_worker": "pass"}
    # What kills a worker comes last but one: it starts again for what ran beside, and for the rest.
    sources = [
        Source("on_2.py", module(HEAD, before), module(FIXED, lives)),
        Source("on_3.py", module(HEAD, lives), module(FIXED, ends)),
    ]
    limits = Limits(20.0, at_once=4, sandboxed=False)
    report = verify(sources, lambda _: None, interpreter_for("/"), limits)
    return {(each.path, each.name): each for each in report.verdicts}


@pytest.mark.frameworks
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ENDS)
def test_a_definition_that_ends_its_process_is_not_tried(found, name):
    why = ENDS[name][1]
    told = {"on_3.py": f"it runs on Keras 2, but on Keras 3 {why}", "on_2.py": f"on Keras 2 {why}"}
    if name == "kills_the_worker":
        del told["on_2.py"]
    for path, expected in told.items():
        verdict = found[path, name]
        assert verdict.state is VerdictState.NOT_TRIED, verdict
        assert verdict.why == expected
        assert not verdict.is_bad


@pytest.mark.frameworks
@pytest.mark.timeout(600)
def test_all_others_keep_their_verdicts(found):
    others = {key: each for key, each in found.items() if key[1].endswith("_")}
    assert len(others) == 2 * len(ENDS)
    assert {each.state for each in others.values()} == {VerdictState.EQUAL}


def test_a_worker_that_dies_before_its_first_job_is_not_restarted_for_ever(tmp_path):
    script = tmp_path / "python"
    script.write_text(
        f"#!{sys.executable}\nimport os\nwith open({str(tmp_path / 'starts')!r}, 'a') as starts:\n"
        '    starts.write("x")\nprint(\'{"ready": {"keras": "3"}}\', flush=True)\nos._exit(5)\n'
    )
    script.chmod(0o755)
    jobs = [{"id": 0}, {"id": 1}]
    ran = run(jobs, jobs, Interpreter(str(script), "a test"), Limits())
    assert [each["state"] for each in ran.keras_2.values()] == ["ended", "ended"]
    assert "exited with code 5" in ran.keras_2[0]["error"]
    assert not ran.keras_3
    assert len((tmp_path / "starts").read_text()) <= 3  # each side, and one more


def test_an_exit_code_is_described():
    assert how_it_ended(3) == "exited with code 3"
    assert how_it_ended(-11) == "was killed by SIGSEGV"
    assert how_it_ended(-40) == "was killed by signal 40"
