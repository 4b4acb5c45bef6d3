"""What lies in the folder of the cache: other versions, harm, what several runs write, and where it is."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from pathlib import Path

import pytest

from kdoctor.engine.cache import store, version
from tests.engine.cache.cached_scans import OLD, files_of, scan, write


def test_the_version_is_that_of_every_file_of_kdoctor(tmp_path, monkeypatch):
    home = shutil.copytree(Path(version.__file__).parent, tmp_path / "kdoctor")
    monkeypatch.setattr(version, "_HOME", str(home))
    before = version.version_key()
    assert version.version_key() == before
    os.utime(home / "cache.py", ns=(1, 1))
    assert version.version_key() != before


@pytest.mark.parametrize(
    "harm",
    [
        lambda _: b"",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"keras.backend.sum", b"keras.backend.mum"),
        lambda data: b"\x80\x04\x95" + data,
        lambda data: os.urandom(len(data)),
        lambda _: store._MAGIC + (0).to_bytes(4, "little"),
    ],
)
def test_a_harmed_file_is_made_anew(project, examined, harm):
    first = scan()
    (file,) = files_of(project)
    file.write_bytes(harm(file.read_bytes()))
    examined.clear()
    assert scan() == first
    assert examined
    examined.clear()
    assert scan() == first
    assert not examined


def test_a_sound_file_with_foreign_content_is_none(project):
    first = scan()
    (file,) = files_of(project)
    for payload in (b"\x90", b"\xc0", b"\x95\x00\x90\x90\x90\x90" + b"\x00", b"\x91" * 100_000):
        total = store.zlib.crc32(payload).to_bytes(4, "little")
        file.write_bytes(store._MAGIC + total + payload)
        assert scan() == first


def test_folders_where_the_cache_should_lie_stop_nobody(project, monkeypatch):
    first = scan(cache=False)
    (project / ".kdoctor_cache").write_text("a file, not a folder")
    assert scan() == first
    monkeypatch.setenv("KDOCTOR_CACHE_DIR", "/dev/null/nowhere")
    assert scan() == first
    monkeypatch.setenv("KDOCTOR_CACHE_DIR", "cache")
    scan()
    (file,) = (project / "cache" / "scan").glob("*-*")
    file.unlink()
    file.mkdir()
    assert scan() == first
    file.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(file)
        assert scan() == first


@pytest.mark.usefixtures("project")
def test_a_cache_that_cannot_be_written_stops_nobody(monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refused)
    assert scan() == scan(cache=False)


def test_a_write_that_fails_leaves_nothing_beside(project, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        scan()
    assert not files_of(project)


@pytest.mark.skipif(os.name == "nt", reason="forks")
def test_runs_side_by_side_spoil_nothing(project):
    write(project, {f"m{number}.py": OLD for number in range(6)})
    expected = scan(cache=False)
    context = multiprocessing.get_context("fork")
    runs = [context.Process(target=_scan_halves, args=(number,)) for number in range(4)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert [each.exitcode for each in runs] == [0] * 4
    assert scan() == expected


def _scan_halves(number):
    for round_ in range(3):
        scan(*(f"m{each}.py" for each in range(6) if (each + number + round_) % 2))


@pytest.mark.usefixtures("project")
def test_what_two_runs_found_is_kept_from_both(examined):
    scan("train.py")
    scan("use.py")
    examined.clear()
    scan("train.py", "use.py")
    assert not examined


def test_what_is_gone_or_not_used_is_left_out(project, monkeypatch):
    def known():
        snapshot = store.Store(project / ".kdoctor_cache", files_of(project)[0].name).read()
        return {Path(snapshot.paths[row.path]).name for row in snapshot.facts}

    write(project, {"old/later.py": OLD})
    scan()
    assert "later.py" in known()
    (project / "old" / "later.py").unlink()
    now = time.time()
    monkeypatch.setattr(store.time, "time", lambda: now + 2 * 86_400)
    scan("train.py")
    assert {"train.py", "clean.py"} <= known()
    assert "later.py" not in known()
    monkeypatch.setattr(store.time, "time", lambda: now + 20 * 86_400)
    scan("train.py")
    assert "train.py" in known()
    assert "clean.py" not in known()


def test_old_files_of_other_versions_and_of_killed_runs_go(project, monkeypatch):
    scan()
    folder = project / ".kdoctor_cache" / "scan"
    for name in ("old-version", "x-y.0123.tmp"):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, ns=(0, 0))
    now = time.time()
    monkeypatch.setattr(store.time, "time", lambda: now + 86_400)
    scan()
    assert {each.name for each in folder.iterdir()} == {"CACHEDIR.TAG", files_of(project)[0].name}


def test_git_and_backups_pass_over_it(project):
    scan()
    assert (project / ".kdoctor_cache" / ".gitignore").read_text().endswith("\n*\n")
    tag = (project / ".kdoctor_cache" / "scan" / "CACHEDIR.TAG").read_text()
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_settings_and_the_environment_say_where_it_lies(project, monkeypatch):
    write(project, {"kdoctor.toml": "cache-dir = '.own'\n"})
    scan()
    assert (project / ".own" / "scan").is_dir()
    monkeypatch.setenv("KDOCTOR_CACHE_DIR", str(project / "other"))
    scan()
    assert (project / "other" / "scan").is_dir()
    assert not (project / ".kdoctor_cache").exists()
