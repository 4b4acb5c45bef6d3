"""User code that loops, exits, forks, writes, deletes or uses up memory affects only its own verdict."""

import os
import socket
from pathlib import Path

import pytest

from kdoctor.interpreters import interpreter_for
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.results import VerdictState
from kdoctor.verify.user.running import Limits
from kdoctor.verify.user.verifying import verify

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(900)]

GOOD = """
from keras import backend as K

def good(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred))
"""
FIXED = """
from keras import ops

def good(y_true, y_pred):
    return ops.mean(ops.square(y_true - y_pred))
"""
# Each is the body of `bad(y_true, y_pred)`. Attributes are put together at run time where their
# names alone would be reason enough not to run them.
BODIES = {
    "loops": "while True: pass",
    "sleeps a little at a time": "while True: getattr(time, 'sl' + 'eep')(0.01)",
    "stops itself": "signal.raise_signal(signal.SIGSTOP)",
    "ignores the signal to end": (
        "for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):\n"
        "        signal.signal(each, signal.SIG_IGN)\n    while True: pass"
    ),
    "exits": "sys.exit(0)",
    "exits at once": "getattr(os, '_ex' + 'it')(0)",
    "says that it is through": "getattr(os, '_ex' + 'it')(87)",
    "has no exit": "os._exit = None; sys.exit()",
    "interrupts": "raise KeyboardInterrupt",
    "forks": "getattr(os, 'fo' + 'rk')(); return 0.0",
    "forks below Python": (
        "import ctypes\n    if not ctypes.CDLL(None).fork():\n        os.setsid()\n"
        "        while True: getattr(time, 'sl' + 'eep')(1)\n    return 0.0"
    ),
    "starts a program": "subprocess.Popen(['sleep', '1000']); return 0.0",
    "starts a program by the shell": "getattr(os, 'sys' + 'tem')('sleep 1000 &'); return 0.0",
    "starts a process by multiprocessing": (
        "import multiprocessing as m\n    m.get_context('spawn').Process(target=print).start()\n"
        "    return 0.0"
    ),
    "starts threads": (
        "import threading\n    for _ in range(4):\n"
        "        threading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()\n"
        "    return 0.0"
    ),
    "writes into its folder": "getattr(io, 'op' + 'en')('here.txt', 'w').write('x'); return 0.0",
    "writes by an absolute path": "getattr(io, 'op' + 'en')(OUTSIDE + '/new', 'w'); return 0.0",
    "writes at home": "pathlib.Path('~/new').expanduser().write_text('x'); return 0.0",
    "writes by NumPy": "np.save(OUTSIDE + '/new', np.ones(3)); return 0.0",
    "writes by TensorFlow": "tf.io.write_file(OUTSIDE + '/new', 'x'); return 0.0",
    "deletes": "getattr(os, 're' + 'move')(OUTSIDE + '/kept'); return 0.0",
    "deletes folders": "shutil.__dict__['rm' + 'tree'](OUTSIDE); return 0.0",
    "deletes by TensorFlow": "getattr(tf.io, 'gf' + 'ile').__dict__['rm' + 'tree'](OUTSIDE); return 0.0",
    "connects": "socket.create_connection(('127.0.0.1', 9)); return 0.0",
    "listens": "socket.create_server(('127.0.0.1', 0)); return 0.0",
    "sends": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, PORT); return 0.0"
    ),
    "sends below Python, its guard switched off": (
        "from worker import sandbox; sandbox._AuditHook.active = False; import ctypes, struct\n"
        "    to = struct.pack('=HH4s8x', 2, socket.htons(PORT[1]), bytes([127, 0, 0, 1]))\n"
        "    libc = ctypes.CDLL(None)\n"
        "    if libc.sendto(libc.socket(2, 2, 0), b'x', 1, 0, to, 16) < 0: raise PermissionError\n"
        "    return 0.0"
    ),
    "reads a file of the user's": "getattr(io, 'op' + 'en')(OUTSIDE + '/kept').read(); return 0.0",
    "reads by TensorFlow": "tf.io.read_file(OUTSIDE + '/kept'); return 0.0",
    "reads a key of the environment": "os.environ['CLOUD_KEY']; return 0.0",
    "reads a key of its process": (
        "if b'CLOUD_KEY' not in pathlib.Path('/proc/self/environ').read_bytes(): raise KeyError\n"
        "    return 0.0"
    ),
    "reads a key of who runs it": (
        "pathlib.Path(f'/proc/{RUNNER}/environ').read_bytes(); return 0.0"
    ),
    "changes the mode of what is open": "os.fchmod(1, 0o777); return 0.0",
    "fills the disk": (
        "for number in range(10 ** 6):\n"
        "        with getattr(io, 'op' + 'en')(f'{number}', 'wb') as it: it.truncate(2 ** 27)\n"
        "    return 0.0"
    ),
    "writes a million files": (
        "for number in range(10 ** 6): getattr(io, 'op' + 'en')(f'{number}', 'w').close()\n"
        "    return 0.0"
    ),
    "eats memory": "kept = []\n    while True: kept.append(bytearray(10 ** 7))",
    "eats memory at once": "np.ones(2 * 10 ** 10); return 0.0",
    "calls itself": "return bad(y_true, y_pred)",
    "calls itself without a limit": "sys.setrecursionlimit(10 ** 9); return bad(y_true, y_pred)",
    "prints megabytes": "for _ in range(400): print('x' * 10 ** 6)\n    return 0.0",
    "writes where answers are written": (
        "for each in range(3, 64):\n        try: os.write(each, b'{\"job\": 0}\\ngarbage\\n')\n"
        "        except OSError: pass\n    return 0.0"
    ),
    "kills who runs it": "getattr(os, 'ki' + 'll')(os.getppid(), 9); return 0.0",
    "patches Keras": "K.mean = K.square = None; return 0.0",
    "asks": "return float(getattr(builtins, 'in' + 'put')('? '))",
    "crashes": "import ctypes; return ctypes.string_at(0)",
}
HEAD = """
import builtins, io, os, pathlib, shutil, signal, socket, subprocess, sys, time
import numpy as np
import tensorflow as tf
from keras import backend as K

OUTSIDE = {outside!r}
PORT = ("127.0.0.1", {port})
RUNNER = {runner}
"""
MODULES = {
    "loops when it is imported": "while True:\n    pass\n\ndef bad(y_true, y_pred):\n    return tf.reduce_mean(y_pred)",
    "writes when it is imported": (
        "open(OUTSIDE + '/new', 'w')\nos.remove(OUTSIDE + '/kept')\n\n"
        "def bad(y_true, y_pred):\n    return tf.reduce_mean(y_pred)"
    ),
    "exits when it is imported": "sys.exit(1)\n\ndef bad(y_true, y_pred):\n    return tf.reduce_mean(y_pred)",
    "raises when it is imported": (
        "raise RuntimeError\n\ndef bad(y_true, y_pred):\n    return tf.reduce_mean(y_pred)"
    ),
    "has a decorator that loops": (
        "def forever(function):\n    while True: pass\n\n"
        "@forever\ndef bad(y_true, y_pred):\n    return tf.reduce_mean(y_pred)"
    ),
    "has a body that loops": "class bad(tf.keras.layers.Layer):\n    while True: pass",
    "loops when it is made": (
        "class bad(tf.keras.layers.Layer):\n    def __init__(self):\n        while True: pass"
    ),
    "imports what is not there": "import not_there_at_all\n\ndef bad(y_true, y_pred):\n    return not_there_at_all.f()",
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory, is_run):
    """Verify all that was drawn in one go."""
    outside = tmp_path_factory.mktemp("outside")
    room = tmp_path_factory.mktemp("room")
    (outside / "kept").write_text("kept")
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
    listener.settimeout(0.0)
    port = listener.getsockname()[1]
    head = HEAD.format(outside=str(outside), port=port, runner=os.getpid())
    texts = {
        name: f"{head}\ndef bad(y_true, y_pred):\n    {body}\n" for name, body in BODIES.items()
    }
    texts |= {name: f"{head}\n{body}\n" for name, body in MODULES.items()}
    test = test_it_and_its_neighbour_get_a_verdict
    texts = {name: text for name, text in texts.items() if is_run(test, name)}
    sources = [Source(f"{name}.py", text + GOOD, text + FIXED) for name, text in texts.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLOUD_KEY", "secret")
        patch.setenv("HOME", str(outside))
        patch.setenv("TMPDIR", str(room))
        patch.setattr("tempfile.tempdir", None)
        patch.chdir(outside)
        report = verify(
            sources, lambda _: None, interpreter_for("/"), Limits(4.0, 2**30, at_once=4)
        )
    by_name = {}
    for verdict in report.verdicts:
        by_name.setdefault(verdict.path.removesuffix(".py"), {})[verdict.name] = verdict
    with listener:
        yield by_name, outside, room, listener


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*BODIES, *MODULES])
def test_it_and_its_neighbour_get_a_verdict(tried, name):
    found = tried[0][name]
    print(found["bad"])
    assert found["good"].state is VerdictState.EQUAL, found["good"]
    harmless = {"writes into its folder", "prints megabytes", "writes where answers are written"}
    harmless |= {
        "starts threads",
        "forks below Python",
        "patches Keras",
        "listens",
        "writes at home",
    }
    # Its child may not start a program, which multiprocessing does not tell.
    harmless.add("starts a process by multiprocessing")
    harmless |= {each for each in MODULES if each.endswith("is imported")}
    allowed = {VerdictState.NOT_ON_KERAS_2, VerdictState.NOT_TRIED} | (
        {VerdictState.EQUAL} if name in harmless else set()
    )
    assert found["bad"].state in allowed, found["bad"]


def test_nothing_outside_is_written_or_deleted(tried):
    _, outside, room, _ = tried
    assert [each.name for each in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text() == "kept"
    assert list(room.iterdir()) == []


def test_nothing_is_sent(tried):
    with pytest.raises(BlockingIOError):
        tried[3].recv(1)


def test_nothing_is_left_running(tried):
    left = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            environment = (each / "environ").read_bytes()
        except OSError:
            continue
        # All that it starts has its home in the room.
        if f"HOME={tried[2]}".encode() in environment and int(each.name) != os.getpid():
            left.append((each / "cmdline").read_bytes())
    assert left == []
