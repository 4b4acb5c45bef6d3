"""The sandbox: each attack fails inside it, and succeeds without it."""

import errno
import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import kdoctor.verify.user
from kdoctor.verify.user.interpreter import choose
from kdoctor.verify.user.worker import seccomp

WORKER = Path(kdoctor.verify.user.__file__).parent
ATTACKER = Path(__file__).with_name("attacks.py")
_TABLE = runpy.run_path(str(ATTACKER))
ATTACKS, AT_TIMES = _TABLE["ATTACKS"], _TABLE["AT_TIMES"]


class Outside:
    """What attacks reach for: files, sockets that listen, a process."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("kept", "secret", "moved", "deleted"):
            (folder / name).write_text(name)
        (folder / "empty").mkdir()
        (folder / "kept").chmod(0o640)
        os.utime(folder / "kept", (5, 5))
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.bind(str(folder / "stream"))
        self.datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.datagrams.bind(str(folder / "datagrams"))
        self.abstract = socket.socket(socket.AF_UNIX)
        self.abstract_name = f"\0kdoctor-{folder}"
        self.abstract.bind(self.abstract_name)
        for each in (self.stream, self.abstract):
            each.listen()
        self.all = [self.tcp, self.udp, self.stream, self.datagrams, self.abstract]
        self.victim = subprocess.Popen(["sleep", "600"], start_new_session=True)

    def close(self):
        for each in self.all:
            each.close()
        self.victim.send_signal(signal.SIGKILL)
        self.victim.wait()

    def reached(self):
        """Return which sockets somebody has come to."""
        found = []
        for name in ("tcp", "udp", "stream", "datagrams", "abstract"):
            each = getattr(self, name)
            each.settimeout(0.0)
            try:
                each.recv(9) if name in {"udp", "datagrams"} else each.accept()[0].close()
            except BlockingIOError:
                continue
            found.append(name)
        return found

    def files(self):
        """Return what a person would see of the folder."""
        return {
            each.name: (
                each.stat().st_mode,
                each.stat().st_mtime,
                each.is_file() and each.read_text(),
            )
            for each in self.folder.iterdir()
        }


def attacked(folder, *, confined):
    """Run all attacks; return their answers, what was reached, and the files before and after."""
    place, room = folder / "outside", folder / "room"
    place.mkdir(parents=True)
    room.mkdir()
    outside = Outside(place)
    try:
        before = outside.files()
        settings = {
            "room": str(room),
            "confined": confined,
            "OUTSIDE": str(place),
            "TCP": outside.tcp.getsockname()[1],
            "UDP": outside.udp.getsockname()[1],
            "ABSTRACT": outside.abstract_name,
            "VICTIM": outside.victim.pid,
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        done = subprocess.run(
            [sys.executable, ATTACKER, WORKER, folder / "settings.json"],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        assert outside.victim.poll() is None
        return json.loads(done.stdout), outside.reached(), before, outside.files()
    finally:
        outside.close()


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    return attacked(tmp_path_factory.mktemp("in"), confined=True)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    return attacked(tmp_path_factory.mktemp("out"), confined=False)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_in_the_sandbox(inside, name):
    otherwise = ("Function not implemented", "Invalid cross-device link", "maximum limit")
    said = inside[0][name]
    assert said.startswith("refused: ") or any(each in said for each in otherwise), said


@pytest.mark.parametrize("name", ATTACKS)
def test_the_same_attack_gets_through_without_the_sandbox(without, name):
    said = without[0][name]
    if said and name.removeprefix("at times: ") in AT_TIMES:
        pytest.skip(f"this system refuses it by itself: {said.splitlines()[-1]}")
    assert said == ""


def test_nothing_outside_is_reached_or_changed_from_the_sandbox(inside, without):
    _, reached, before, after = inside
    assert reached == []
    assert after == before
    _, reached, before, after = without
    assert reached == ["tcp", "udp", "stream", "datagrams", "abstract"]
    assert after != before


def kernel_without(*calls):
    """Return what makes a process's kernel one that answers these calls by ENOSYS.

    Each is a number, and where it is not None, the first argument.
    """

    def lack():
        machine = seccomp.X86_64 if os.uname().machine == "x86_64" else seccomp.AARCH64
        column = 0 if machine == seccomp.X86_64 else 1
        steps = []
        for numbers, argument in calls:
            steps += [(seccomp._LOAD, 0, 0, 0), (seccomp._EQUAL, 0, 3, numbers[column])]
            other = 0 if argument is None else 1
            steps += [(seccomp._LOAD, 0, 0, 16), (seccomp._EQUAL, 0, other, argument or 0)]
            steps += [(seccomp._RETURN, 0, 0, seccomp._ERROR | errno.ENOSYS)]
        steps += [(seccomp._RETURN, 0, 0, seccomp._ALLOW)]
        seccomp.install(steps)

    return lack


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("lack", "named"),
    [
        ([((444, 444), None)], ["Landlock"]),
        ([((157, 167), 22)], ["seccomp"]),
        ([((444, 444), None), ((157, 167), 22)], ["Landlock", "seccomp"]),
    ],
)
def test_without_kernel_support_nothing_runs_and_the_option_is_suggested(tmp_path, lack, named):
    (tmp_path / "loss.py").write_text(
        "from keras import backend as K\ndef f(y_true, y_pred): return K.mean(y_true - y_pred)\n"
    )

    def verify(*more):
        return subprocess.run(
            [sys.executable, "-m", "kdoctor", "verify", "loss.py", *more],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            preexec_fn=kernel_without(*lack),
            check=False,
        )

    ran = verify()
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "nothing was run" in ran.stderr
    assert "--no-sandbox" in ran.stderr
    assert [each for each in ("Landlock", "seccomp") if each in ran.stderr] == named
    assert len(ran.stderr.strip().splitlines()) == 1
    if len(named) == 2:
        ran = verify("--no-sandbox")
        assert ran.returncode == 0, ran.stderr
        assert "1 equal" in ran.stdout
        assert "without the sandbox" in ran.stdout


def test_the_python_of_a_project_sees_no_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("CLOUD_KEY", "secret")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nenv > {tmp_path}/told\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    choose(str(tmp_path), str(python))
    told = (tmp_path / "told").read_text()
    assert "PATH=" in told
    assert "CLOUD_KEY" not in told


# What Python does not have on Windows, of what kdoctor might use.
AS_ON_WINDOWS = """
import os, platform, select, signal, sys
for module, names in (
    (os, "fork killpg sysconf geteuid getuid getpgid setsid"),
    (signal, "SIGHUP SIGUSR1 SIGALRM alarm setitimer"),
    (select, "poll epoll"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty"):
    sys.modules[name] = None
platform.system = lambda: "Windows"
"""


def run_as_on_windows(folder, program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", f"{AS_ON_WINDOWS}\n{program}", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "loss.py"],
        ["verify", "loss.py", "--no-sandbox", "--json"],
        ["fix", "--verify", "loss.py"],
        ["fix", "--apply", "--unsafe", "--verify", "--no-sandbox", "loss.py"],
    ],
)
def test_a_system_without_fork_gives_one_sentence(tmp_path, command):
    text = "from keras import backend as K\n\n\ndef loss(t, p):\n    return K.mean(t - p)\n"
    (tmp_path / "loss.py").write_text(text)
    ran = run_as_on_windows(tmp_path, "from kdoctor.__main__ import main\nmain()", *command)
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert "which Windows does not support" in ran.stderr
    assert ran.stdout == ""
    assert (tmp_path / "loss.py").read_text() == text


@pytest.mark.parametrize(
    "program",
    [
        "from kdoctor.verify.prove import main\nsys.exit(main())",
        "from kdoctor.__main__ import main\nmain()",
    ],
)
def test_commands_that_do_not_fork_start_without_fork(tmp_path, program):
    # The proofs and the reference run in processes of their own: Windows has those.
    arguments = ["verify", "--help"] if "__main__" in program else ["--help"]
    ran = run_as_on_windows(tmp_path, program, *arguments)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("header", "column"),
    [("x86_64-linux-gnu/asm/unistd_64.h", 0), ("asm-generic/unistd.h", 1)],
)
def test_system_call_numbers_are_those_of_the_kernel_headers(header, column):
    path = Path("/usr/include") / header
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    text = path.read_text()
    there = {k: int(v) for k, v in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    for table in (*seccomp._REFUSED, seccomp._LACKING):
        for each in table.split(","):
            name, *numbers = each.split()
            assert numbers[column] == str(there.get(name, "-")), name
    for name in ("socketpair", "clone", "ioctl", "fcntl", "kill", "tkill", "tgkill", "prctl"):
        assert getattr(seccomp, f"_{name.upper()}")[column] == there[name]


def test_both_machines_have_a_filter_without_jumps_past_its_end():
    for machine in (seccomp.X86_64, seccomp.AARCH64):
        steps = list(seccomp.program(machine, 1))
        assert len(steps) < 4096
        assert steps[-1][:3] == (6, 0, 0)  # a verdict
        for place, (_, yes, no, _) in enumerate(steps[:-1]):
            assert place + 1 + max(yes, no) < len(steps)
