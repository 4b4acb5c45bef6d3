"""A file is written whole or not at all."""

import os
import signal
import stat
import threading
from pathlib import Path

import pytest

from kdoctor.documents import write_anew, write_atomically
from kdoctor.errors import FileProblem

HAS_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    return path


def test_the_content_is_replaced_and_nothing_is_left_beside_it(target: Path) -> None:
    write_atomically(target, b"new\r\n")

    assert target.read_bytes() == b"new\r\n"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.skipif(os.name == "nt", reason="mode bits")
@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664])
def test_the_mode_is_kept(target: Path, mode: int) -> None:
    target.chmod(mode)
    write_atomically(target, b"new")

    assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away"
)
def test_the_owner_is_kept(target: Path) -> None:
    os.chown(target, 1234, 1235)
    write_atomically(target, b"new")

    assert (target.stat().st_uid, target.stat().st_gid) == (1234, 1235)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="only Linux has them here")
def test_what_else_hangs_on_the_file_is_kept(target: Path) -> None:
    try:
        os.setxattr(target, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system takes no attributes")
    write_atomically(target, b"new")

    assert os.getxattr(target, "user.note") == b"mine"


def test_a_new_file_has_the_mode_that_new_files_have(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_anew(tmp_path / "new", b"new")

    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    write_anew(tmp_path / "new", b"newer")
    assert (tmp_path / "new").read_bytes() == b"newer"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "usual"]


def test_a_link_stays_a_link(target: Path) -> None:
    link = target.with_name("link.py")
    link.symlink_to("a.py")
    write_atomically(link, b"new")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_read_only_file_is_left_as_it_is(target: Path) -> None:
    target.chmod(0o444)

    with pytest.raises(FileProblem, match="read-only; make it writable first"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_other(
    target: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)

    with pytest.raises(FileProblem, match="cannot be written: No space left on device"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_an_interruption_waits_until_the_file_is_whole(
    target: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    real = getattr(os, step)

    def interrupted(*arguments: object, **options: object) -> object:
        signal.raise_signal(signal.SIGINT)
        return real(*arguments, **options)

    monkeypatch.setattr(os, step, interrupted)

    with pytest.raises(KeyboardInterrupt):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("what", ["missing", "folder", pytest.param("pipe", marks=HAS_PIPES)])
def test_only_a_regular_file_that_exists_is_written(tmp_path: Path, what: str) -> None:
    path = tmp_path / "x.py"
    if what == "folder":
        path.mkdir()
    if what == "pipe":
        os.mkfifo(path)

    with pytest.raises(FileProblem, match="cannot be written"):
        write_atomically(path, b"new")


def test_a_reader_sees_the_old_or_the_new_file_at_every_moment(target: Path) -> None:
    contents = [bytes([65 + number]) * 100_000 for number in range(30)]
    target.write_bytes(contents[0])
    seen: list[bytes] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append(target.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for content in contents[1:]:
        write_atomically(target, content)
    done.set()
    reader.join()

    assert seen
    assert set(seen) <= set(contents)
