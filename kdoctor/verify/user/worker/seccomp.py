"""seccomp: make the kernel refuse system calls that a computation does not need.

https://docs.kernel.org/userspace-api/seccomp_filter.html. The numbers come from the kernel's own
headers (``asm/unistd_64.h`` and ``asm-generic/unistd.h``). All calls up to 450 were reviewed: those
not listed only compute, or ``landlock`` guards them. Higher numbers fail as on a kernel that does
not have them. It uses ctypes, as libseccomp is not on every machine and the worker runs on the
Python of the user's project.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

X86_64, AARCH64 = "x86_64", "aarch64"
_ARCHITECTURES = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}  # AUDIT_ARCH_ constants of the kernel
_LAST = 450

# A call's name, its number on x86-64 and on 64-bit ARM, which lacks some.
_NETWORK = """
socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242
"""
_PROCESSES = """
fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, ptrace 101 117,
process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
process_mrelease 448 448, kcmp 312 272, pidfd_open 434 434, pidfd_getfd 438 438,
pidfd_send_signal 424 424, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
setpriority 141 140, ioprio_set 251 30, sched_setscheduler 144 119, sched_setparam 142 118,
sched_setattr 314 274, migrate_pages 256 238, move_pages 279 239
"""
_METADATA = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, chown 92 -, lchown 94 -, fchown 93 55,
fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15,
fremovexattr 199 16, truncate 76 45, mknod 133 -, mknodat 259 33
"""
_SHARED_MEMORY_AND_QUEUES = """
msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, semget 64 190, semop 65 193,
semtimedop 220 192, semctl 66 191, shmget 29 194, shmat 30 196, shmdt 67 197, shmctl 31 195,
mq_open 240 180, mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183,
mq_notify 244 184, mq_getsetattr 245 185
"""
_IDENTITY_AND_MOUNTS = """
setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147,
setresgid 119 149, setfsuid 122 151, setfsgid 123 152, setgroups 116 159, capset 126 91,
unshare 272 97, setns 308 268, chroot 161 51, pivot_root 155 41, mount 165 40,
umount2 166 39, open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431,
fsmount 432 432, fspick 433 433, mount_setattr 442 442, name_to_handle_at 303 264,
open_by_handle_at 304 265, fanotify_init 300 262, fanotify_mark 301 263, quotactl 179 60,
quotactl_fd 443 443, swapon 167 224, swapoff 168 225
"""
_MACHINE = """
bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, add_key 248 217,
request_key 249 218, keyctl 250 219, init_module 175 105, finit_module 313 273,
delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294, reboot 169 142,
syslog 103 116, acct 163 89, settimeofday 164 170, clock_settime 227 112,
clock_adjtime 305 266, adjtimex 159 171, sethostname 170 161, setdomainname 171 162,
iopl 172 -, ioperm 173 -, vhangup 153 58, personality 135 92, modify_ldt 154 -,
lookup_dcookie 212 18, sysfs 139 -, _sysctl 156 -, uselib 134 -, ustat 136 -,
create_module 174 -, query_module 178 -, nfsservctl 180 42
"""
_REFUSED = (
    _NETWORK,
    _PROCESSES,
    _METADATA,
    _SHARED_MEMORY_AND_QUEUES,
    _IDENTITY_AND_MOUNTS,
    _MACHINE,
)
# Programs have a fallback if the kernel lacks these. ``clone3`` hides its flags from a filter, and
# operations of an io_uring bypass it.
_LACKING = """
clone3 435 435, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427
"""
# Allowed with some arguments only, see ``_by_argument``.
_SOCKETPAIR, _CLONE, _IOCTL, _FCNTL = (53, 199), (56, 220), (16, 29), (72, 25)
_KILL, _TKILL, _TGKILL, _PRLIMIT, _PRCTL = (62, 129), (200, 130), (234, 131), (302, 261), (157, 167)

_UNIX, _STREAM, _KIND_OF_SOCKET = 1, 1, 0xF
_THREAD = 0x10000  # CLONE_THREAD
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG: without it, the process would outlive its worker
_OWNERS = (8, 15)  # F_SETOWN, F_SETOWN_EX: choose who gets the signals of a descriptor
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: common queries on files.
_FILE_QUERIES = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)

# Classic BPF: load a word, jump if equal / at least / any bit set, and with a mask, return.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL_PROCESS, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in ``struct seccomp_data``
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2  # of prctl

if TYPE_CHECKING:  # Python 3.7 cannot say it
    _Step = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("constant", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("steps", ctypes.POINTER(_Instruction))]


def restrict() -> None:
    """Refuse this process access to sockets, other processes, metadata and the machine, for good.

    Raises:
        OSError: this kernel has no seccomp filters, or they are disabled.
    """
    machine = {"amd64": X86_64, "arm64": AARCH64}.get(platform.machine(), platform.machine())
    if not sys.platform.startswith("linux") or machine not in _ARCHITECTURES:
        raise OSError(f"no seccomp filter is written for {sys.platform} on {machine}")
    install(program(machine, os.getpid()))


def install(steps: Iterable[_Step]) -> None:
    """Install a filter for this process's system calls, for good.

    Raises:
        OSError: the kernel rejects filters, or this one.
    """
    instructions = [_Instruction(*each) for each in steps]
    body = (_Instruction * len(instructions))(*instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    whole = _Program(len(instructions), body)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        _SET_SECCOMP, _FILTER, ctypes.byref(whole), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "seccomp")


def program(machine: str, pid: int) -> Iterator[_Step]:
    """Yield the filter program for a process on a machine type."""
    column = 0 if machine == X86_64 else 1
    yield from _unless(_ARCHITECTURE, _ARCHITECTURES[machine], _KILL_PROCESS)
    yield _LOAD, 0, 0, _NUMBER
    # Also x86-64's 32-bit (x32) calls, whose numbers have a high bit set.
    yield _AT_LEAST, 0, 1, _LAST + 1
    yield _RETURN, 0, 0, _ERROR | errno.ENOSYS
    for tables, code in (((_LACKING,), errno.ENOSYS), (_REFUSED, errno.EPERM)):
        for number in (each for table in tables for each in _numbers(table, column)):
            yield _EQUAL, 0, 1, number
            yield _RETURN, 0, 0, _ERROR | code
    for call, steps in _by_argument(pid):
        body = list(steps)
        yield _EQUAL, 0, len(body), call[column]
        yield from body
    yield _RETURN, 0, 0, _ALLOW


def _numbers(table: str, column: int) -> Iterator[int]:
    for each in table.split(","):
        number = each.split()[1 + column]
        if number != "-":
            yield int(number)


def _by_argument(pid: int) -> Iterator[tuple[tuple[int, int], Iterator[_Step]]]:
    """Yield calls that are harmless with some arguments, each with steps that decide."""
    yield _CLONE, _decide([(_ANY_BIT, _THREAD)], argument=0)
    for each in (_KILL, _TKILL, _TGKILL):
        yield each, _decide([(_EQUAL, pid)], argument=0)
    yield _PRLIMIT, _decide([(_EQUAL, 0), (_EQUAL, pid)], argument=0)
    yield _PRCTL, _decide([(_EQUAL, _PARENT_DEATH)], argument=0, allows=False)
    yield _FCNTL, _decide([(_EQUAL, each) for each in _OWNERS], argument=1, allows=False)
    queries = [(_EQUAL, each) for each in _FILE_QUERIES]
    yield _IOCTL, _decide(queries, argument=1, code=errno.ENOTTY)
    yield _SOCKETPAIR, _connected_pair()


def _decide(
    tests: Iterable[tuple[int, int]],
    *,
    argument: int,
    allows: bool = True,
    code: int = errno.EPERM,
) -> Iterator[_Step]:
    """Yield steps that allow or refuse a call if one of the tests on an argument holds."""
    refusal = _ERROR | code
    yield _LOAD, 0, 0, _ARGUMENTS + 8 * argument
    for kind, constant in tests:
        yield kind, 0, 1, constant
        yield _RETURN, 0, 0, _ALLOW if allows else refusal
    yield _RETURN, 0, 0, refusal if allows else _ALLOW


def _connected_pair() -> Iterator[_Step]:
    """Yield steps that allow a pair of stream sockets, which event loops use: it is isolated.

    A datagram socket could send to any socket with a path on the machine.
    """
    refusal = _ERROR | errno.EPERM
    yield from _unless(_ARGUMENTS, _UNIX, refusal)
    yield _LOAD, 0, 0, _ARGUMENTS + 8
    yield _AND, 0, 0, _KIND_OF_SOCKET
    yield _EQUAL, 1, 0, _STREAM
    yield _RETURN, 0, 0, refusal
    yield _RETURN, 0, 0, _ALLOW


def _unless(place: int, constant: int, answer: int) -> Iterator[_Step]:
    yield _LOAD, 0, 0, place
    yield _EQUAL, 1, 0, constant
    yield _RETURN, 0, 0, answer
