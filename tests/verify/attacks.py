"""Attacks on the sandbox of ``kdoctor verify``, and a process that runs them, each in a fork.

Each attack is Python code that ends without an exception if it succeeds. All begin by disabling
Python's audit hook, as user code can: only the kernel refuses them.

As a program: ``attacks.py FOLDER-OF-THE-WORKER SETTINGS.json``, which prints a JSON object.
"""

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path

PRELUDE = """
import ctypes, errno, fcntl, os, resource, signal, socket, struct, sys, threading
from worker import sandbox
sandbox._AuditHook.active = False
libc = ctypes.CDLL(None, use_errno=True)

def called(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""
NETWORK = {
    "TCP": "socket.create_connection(('127.0.0.1', TCP), 5).sendall(b'x')",
    "UDP by sendto": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDP))",
    "UDP by sendmsg": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('127.0.0.1', UDP))"
    ),
    "UDP by ctypes": (
        "to = struct.pack('=HH4s8x', 2, socket.htons(UDP), bytes([127, 0, 0, 1]))\n"
        "called(libc.sendto(called(libc.socket(2, 2, 0)), b'x', 1, 0, to, len(to)))"
    ),
    "UDP by the system call itself": (
        "number = 41 if os.uname().machine == 'x86_64' else 198\n"
        "called(libc.syscall(number, 2, 2, 0))"
    ),
    "UDP from a thread": (
        "found = []\n"
        "def send():\n    try: found.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))\n"
        "    except OSError as error: found.append(error)\n"
        "thread = threading.Thread(target=send); thread.start(); thread.join()\n"
        "if isinstance(found[0], OSError): raise found[0]"
    ),
    "a TCP socket that listens": "socket.create_server(('127.0.0.1', 0))",
    "a UDP socket that is bound": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(('127.0.0.1', 0))"
    ),
    "a Unix socket": "socket.socket(socket.AF_UNIX).connect(OUTSIDE + '/stream')",
    "a Unix socket of datagrams": (
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', OUTSIDE + '/datagrams')"
    ),
    "a pair of Unix sockets, sent elsewhere": (
        "one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "one.sendto(b'x', OUTSIDE + '/datagrams')"
    ),
    "an abstract Unix socket": "socket.socket(socket.AF_UNIX).connect(ABSTRACT)",
    "a Unix socket that listens": (
        "of = socket.socket(socket.AF_UNIX); of.bind('here'); of.listen()"
    ),
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
}
WRITING = {
    "writes": "open(OUTSIDE + '/new', 'w').write('x')",
    "writes by ctypes": (
        "called(libc.open((OUTSIDE + '/new').encode(), os.O_CREAT | os.O_WRONLY, 0o600))"
    ),
    "writes over a file": "os.open(OUTSIDE + '/kept', os.O_WRONLY | os.O_TRUNC)",
    "writes through a link": (
        "os.symlink(OUTSIDE + '/kept', 'link'); open('link', 'a').write('x')"
    ),
    "links a file in": "os.link(OUTSIDE + '/kept', 'mine')",
    "moves a file out": "open('a', 'w'); os.rename('a', OUTSIDE + '/a')",
    "moves a file in": "os.rename(OUTSIDE + '/moved', 'moved')",
    "deletes": "os.remove(OUTSIDE + '/deleted')",
    "makes a folder": "os.mkdir(OUTSIDE + '/folder')",
    "deletes a folder": "os.rmdir(OUTSIDE + '/empty')",
    "shortens by path": "os.truncate(OUTSIDE + '/kept', 1)",
    "writes shared memory": "open('/dev/shm/kdoctor-trial', 'w'); os.remove('/dev/shm/kdoctor-trial')",
    "writes to /proc": "open('/proc/self/oom_score_adj', 'w').write('0')",
    "makes a named pipe": "os.mkfifo('pipe')",
}
METADATA = {
    "chmod": "os.chmod(OUTSIDE + '/kept', 0o777)",
    "chmod by ctypes": "called(libc.chmod((OUTSIDE + '/kept').encode(), 0o777))",
    "fchmod of what was open": "os.fchmod(1, 0o777)",
    "chown": "os.chown(OUTSIDE + '/kept', os.getuid(), os.getgid())",
    "fchown of what was open": "os.fchown(1, os.getuid(), os.getgid())",
    "utime": "os.utime(OUTSIDE + '/kept', (1, 1))",
    "utime of what was open": "os.utime(1, (1, 1))",
    "futimes by ctypes": "called(libc.futimes(1, None))",
    "chmod through /proc": "os.chmod('/proc/self/fd/1', 0o777)",
}
READING = {
    "a secret": "open(OUTSIDE + '/secret').read()",
    "a secret by ctypes": "called(libc.open((OUTSIDE + '/secret').encode(), os.O_RDONLY))",
    "a secret through a link": "os.symlink(OUTSIDE + '/secret', 'it'); open('it').read()",
    "a secret through /proc": "open('/proc/self/root' + OUTSIDE + '/secret').read()",
    "a folder": "os.listdir(OUTSIDE)",
    "the root": "os.listdir('/')",
    "the users": "open('/etc/passwd').read()",
    "what the log of the worker says": "open('../' + os.path.basename(os.getcwd()) + '.log').read()",
    "the environment of who runs it": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "the memory of who runs it": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "the files of who runs it": "os.listdir(f'/proc/{os.getppid()}/fd')",
    "the command of a process": "open(f'/proc/{VICTIM}/cmdline').read()",
    "the memory of who runs it, by one call": (
        "to = ctypes.create_string_buffer(6)\n"
        "vector = lambda at: (ctypes.c_size_t * 2)(at, 6)\n"
        "called(libc.process_vm_readv(\n"
        "    os.getppid(), vector(ctypes.addressof(to)), 1, vector(KEPT), 1, 0))\n"
        "assert to.raw == b'secret'"
    ),
}
PROCESSES = {
    "fork": "os.fork() or os._exit(0)",
    "fork by ctypes": "called(libc.fork()) or os._exit(0)",
    "vfork by posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "a program in its place": (
        "os.execv(sys.executable, [sys.executable, '-c', f'open({SEEN!r}, \"w\").write(\"\")'])"
    ),
    "a program by ctypes": (
        "words = [sys.executable, '-c', f'open({SEEN!r}, \"w\").write(\"\")']\n"
        "words = (ctypes.c_char_p * 4)(*[each.encode() for each in words], None)\n"
        "called(libc.execv(words[0], words))"
    ),
    "signals who runs it": "os.kill(os.getppid(), 0)",
    "signals a process": "os.kill(VICTIM, signal.SIGCONT)",
    "signals all processes": "os.kill(-os.getpgid(VICTIM), 0)",
    "signals a thread": (
        "called(libc.syscall(234 if os.uname().machine == 'x86_64' else 131, VICTIM, VICTIM, 0))"
    ),
    "signals by sigqueue": "called(libc.sigqueue(VICTIM, 0, None))",
    "signals by a descriptor": "signal.pidfd_send_signal(os.pidfd_open(VICTIM), 0)",
    "has the system signal a process": "fcntl.fcntl(1, fcntl.F_SETOWN, VICTIM)",
    "traces a process": "called(libc.ptrace(0x4206, VICTIM, None, None))",
    "limits who runs it": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)",
    "slows a process down": "os.setpriority(os.PRIO_PROCESS, VICTIM, 15)",
    "outlives its worker": "called(libc.prctl(1, 0, 0, 0, 0))",
}
MACHINE = {
    "shared memory of System V": "called(libc.shmget(0, 4096, 0o1600))",
    "semaphores of System V": "called(libc.semget(0, 1, 0o1600))",
    "queues of System V": "called(libc.msgget(0, 0o1600))",
}
# What some systems, or users that are not root, are refused without a sandbox too.
AT_TIMES = {
    "writes an attribute": "os.setxattr(1, 'user.kdoctor', b'x')",
    "a device": "os.mknod('zero', 0o600 | 0x2000, os.makedev(1, 5))",
    "a packet socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)",
    "a ring": ("called(libc.syscall(425, 1, ctypes.create_string_buffer(120)))"),
    "a namespace": "called(libc.unshare(0x10000000))",
    "another root": "os.chroot('.')",
    "a mount": "called(libc.mount(b'none', os.getcwd().encode(), b'tmpfs', 0, None)); called(libc.umount2(os.getcwd().encode(), 2))",
    "another user": "os.setresuid(65534, 65534, 65534)",
    "the name of the machine": "name = socket.gethostname().encode(); called(libc.sethostname(name, len(name)))",
    "what the kernel says": "called(libc.klogctl(10, None, 0))",
    "the rights of root": (
        "held = [each for each in open('/proc/self/status') if each.startswith('CapEff')]\n"
        "if not int(held[0].split()[1], 16) & ~4: raise PermissionError('only reading is left')"
    ),
    "a higher limit": "resource.setrlimit(resource.RLIMIT_CORE, (4096, 4096))",
    "a key": "called(libc.syscall(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 1))",
    "a queue with a name": "called(libc.syscall(240 if os.uname().machine == 'x86_64' else 180, b'kdoctor', os.O_CREAT | os.O_RDWR, 0o600, None))",
}
ATTACKS = {
    f"{family}: {name}": code
    for family, attacks in (
        ("network", NETWORK),
        ("writing", WRITING),
        ("metadata", METADATA),
        ("reading", READING),
        ("processes", PROCESSES),
        ("machine", MACHINE),
        ("at times", AT_TIMES),
    )
    for name, code in attacks.items()
}


def main(worker: str, settings: str) -> None:
    """Run all attacks in the sandbox, or outside; answer by name with the error, "" for none."""
    sys.path.insert(0, worker)
    from worker import sandbox  # noqa: PLC0415

    given = json.loads(Path(settings).read_text())
    kept = ctypes.create_string_buffer(b"secret")
    answers = {}
    for number, (name, code) in enumerate(ATTACKS.items()):
        home = Path(given["room"]) / str(number)
        home.mkdir()
        seen = home / "seen"
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            given |= {"KEPT": ctypes.addressof(kept), "SEEN": str(seen)}
            os._exit(_attack(sandbox, home, code, given, write))
        os.close(write)
        with os.fdopen(read) as pipe:
            said = pipe.read()
        os.waitpid(pid, 0)
        through = seen.exists()  # another program took the place of the attack
        answers[name] = "" if through else said or "it ended without a word"
    print(json.dumps({k: "" if v == "through" else v for k, v in answers.items()}))


def _attack(sandbox, home, code, given, write):
    said = "through"
    try:
        limits = {"seconds": 10, "memory": 2**30}
        sandbox.enter(home, limits, confine=given["confined"])
        exec(PRELUDE + code, dict(given))  # noqa: S102 - that is the attack
    except PermissionError as error:
        said = f"refused: {error}"
    except BaseException:  # noqa: BLE001
        said = traceback.format_exc()
    os.write(write, said.encode())
    return 0


if __name__ == "__main__":
    main(*sys.argv[1:])
