"""Programs, forked from a process that has imported already what they import.

To start Python and to import what a command of kdoctor needs takes most of a run in a folder of
three files; to import Keras takes five seconds. A fork has it, and is a process for itself in all
else: its own folder, variables and streams. Where a system cannot fork, each is started.

Run as a program, this is the process that forks. It is asked on a socket, its standard input.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_LENGTH = struct.Struct("!I")


class Forking:
    """A process that forks, begun when it is first asked.

    It has imported "kdoctor" or "keras", with these variables from its beginning.
    """

    def __init__(self, imported="kdoctor", **variables):
        self._imported, self._variables = imported, variables
        self._asking = self._process = None

    def kdoctor(self, *arguments, cwd, env, stdin=b""):
        """Run ``python -m kdoctor`` with these arguments, as `subprocess.run` would."""
        return self._ended("", arguments, cwd, env, stdin)

    def python(self, script, *arguments, cwd, env):
        """Run a script of the folder with these arguments."""
        return self._ended(script, arguments, cwd, env, b"")

    def _ended(self, script, arguments, cwd, env, stdin):
        if not hasattr(os, "fork"):
            command = [sys.executable, *([script] if script else ["-m", "kdoctor"]), *arguments]
            env = {**self._variables, **env}
            return subprocess.run(
                command, cwd=cwd, env=env, input=stdin, capture_output=True, check=False
            )
        if self._asking is None:
            self._begin()
        asked = {"script": script, "arguments": arguments, "cwd": str(cwd), "env": dict(env)}
        message = json.dumps(asked).encode()
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in _STREAMS]
            files[0].write(stdin)
            files[0].seek(0)
            numbers = [each.fileno() for each in files]
            socket.send_fds(self._asking, [_LENGTH.pack(len(message))], numbers)
            self._asking.sendall(message)
            code = self._asking.recv(16)
            assert code, "the process that forks has died"
            for each in files[1:]:
                each.seek(0)
            written = [each.read() for each in files[1:]]
        return subprocess.CompletedProcess([script or "kdoctor", *arguments], int(code), *written)

    def _begin(self):
        self._asking, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, __file__, self._imported]
            env = os.environ | self._variables
            self._process = subprocess.Popen(command, stdin=theirs, cwd=ROOT, env=env)

    def end(self):
        if self._process is not None:
            self._asking.close()
            self._process.wait(60)


def _serve():
    """Fork for each request, until there is none any more."""
    asked = socket.socket(fileno=os.dup(0))
    while True:
        length, files, _, _ = socket.recv_fds(asked, _LENGTH.size, len(_STREAMS))
        if not length:
            return
        message = asked.recv(_LENGTH.unpack(length)[0], socket.MSG_WAITALL)
        child = os.fork()
        if child == 0:
            asked.close()
            _be_the_program(files, **json.loads(message))
        for each in files:
            os.close(each)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asked.sendall(str(code).encode())


def _import(what):
    """Import what the programs need, and let forks share it, which no collector touches then."""
    if what == "keras":
        import keras  # noqa: F401, PLC0415
        import tensorflow as tf  # noqa: PLC0415

        assert tf.keras.layers  # it is imported when it is first read
    else:
        _import_kdoctor()
    gc.collect()
    gc.freeze()


def _import_kdoctor():
    from kdoctor.cli.app import COMMANDS, app_of  # noqa: PLC0415
    from kdoctor.rules import all_rules  # noqa: PLC0415

    for room in ("cli.fast_args", "diagnose", "engine", "progress", "report", "rewrite", "syntax"):
        importlib.import_module(f"kdoctor.{room}")
    app_of(COMMANDS)
    all_rules()


def _be_the_program(files, script, arguments, cwd, env):
    """Be what Python is with this script, or with ``-m kdoctor``, and end as it does."""
    for number, (file, (name, mode)) in enumerate(zip(files, _STREAMS, strict=True)):
        os.dup2(file, number)
        os.close(file)
        setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115
    code = 1
    try:
        os.chdir(cwd)
        if not script:
            os.environ.clear()  # else what was imported may have set some
        os.environ.update(env)
        sys.path[0] = cwd
        sys.argv = [script or "kdoctor", *arguments]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if script:
            runpy.run_path(script, run_name="__main__")
        else:
            runpy.run_module("kdoctor", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - told as the interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _import(sys.argv[1])
    _serve()
