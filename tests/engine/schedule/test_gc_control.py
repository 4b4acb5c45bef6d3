"""Python's garbage collector while files are examined: it waits, and little is left for it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

import kdoctor
from kdoctor.engine.schedule import gc_control
from kdoctor.engine.schedule.gc_control import gc_paused
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.symbol_table import Namespace

# Rings were made by scopes and what they bind, by guards that ask what names mean, by conditions
# of which several parts are unknown, and by rewrites that are refused.
CODE = """\
import keras
import keras.backend as K
from keras.layers import Dense

if keras.__version__ > "2" and unknown() or K.image_data_format() == "x" or other:
    axis = 1


class Net(keras.Model):
    def call(self, x):
        try:
            return K.dot(x, *x) + K.sum(x, 1, *x) + K.foldl(x) + K.arange(1, *x)
        except AttributeError:
            return lambda: K.mean(x)


model = keras.models.Sequential([Dense(output_dim=1, init="zero")])
model.fit_generator(iter([]), 1, *model.layers)
print([K.eval(each) for each in model.layers])
"""


@pytest.fixture(params=[True, False], ids=["enabled", "disabled"])
def enabled(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def scan(path: Path) -> kdoctor.ScanResult:
    return kdoctor.scan([path], target="keras==3.15.1", jobs=1, isolated=True)


def test_the_collector_is_left_as_the_user_has_set_it(tmp_path: Path, *, enabled: bool) -> None:
    (tmp_path / "a.py").write_text(CODE)
    scan(tmp_path)
    assert gc.isenabled() is enabled


def test_it_is_left_so_where_the_scan_is_broken_off(tmp_path: Path, *, enabled: bool) -> None:
    def interrupt(_done: int, _all: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a.py").write_text(CODE)
    with pytest.raises(KeyboardInterrupt):
        kdoctor.scan([tmp_path], target="keras==3.15.1", jobs=1, progress=interrupt)
    assert gc.isenabled() is enabled


def test_what_stays_is_spared_while_it_lasts(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.py").write_text(CODE)
    frozen: list[int] = []

    def note(_done: int, _all: int) -> None:
        frozen.append(gc.get_freeze_count())

    gc.enable()
    before = gc.get_freeze_count()  # of Python 3.12 itself, which has what is immortal there
    kdoctor.scan([tmp_path], target="keras==3.15.1", jobs=1, isolated=True, progress=note)
    assert frozen[-1] > before + 10_000
    assert gc.get_freeze_count() <= before


def test_what_others_have_frozen_stays_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    gc.enable()
    gc.freeze()
    before = gc.get_freeze_count()
    try:
        scan(tmp_path)
        assert gc.get_freeze_count() > 0.9 * before  # some of it has died
    finally:
        gc.unfreeze()


def test_it_waits_for_the_last_of_several_threads(*, enabled: bool) -> None:
    one, other = gc_paused(), gc_paused()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert not gc.isenabled()
    other.__exit__(None, None, None)
    assert gc.isenabled() is enabled


def test_a_tree_is_gone_after_its_file_without_any_collection(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CODE)
    scan(path)  # the rules' own patterns are read
    gc.collect()
    before = nodes_alive()
    with gc_paused():
        result = scan(path)
        gc.unfreeze()  # what is frozen is not told of
        after = nodes_alive()
    assert len(result.findings) > 5
    assert after == before


def test_no_glimpse_waits_for_that_of_the_next_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CODE)
    with gc_paused():
        scan(path)
        gc.unfreeze()
        assert not any(type(each) is QuickFacts for each in gc.get_objects())


def nodes_alive() -> int:
    """Count what a file's trees are made of: the parse's, and what the gate makes of its own."""
    kinds = (cst.CSTNode, QuickFacts, MayTypes, Namespace)
    return sum(issubclass(type(each), kinds) for each in gc.get_objects())


def test_memory_is_given_back_after_many_bytes(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(gc_control, "_malloc_trim", lambda: given.append)
    monkeypatch.setattr(gc_control, "_TRIM_AFTER_BYTES", 20)
    for name in "abcd":
        (tmp_path / f"{name}.py").write_text("import keras\n")

    kdoctor.scan([tmp_path], jobs=1, isolated=True)

    assert len(given) == 2


def test_memory_is_given_back_after_a_large_file(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(gc_control, "_malloc_trim", lambda: given.append)
    monkeypatch.setattr(gc_control, "_TRIM_AFTER_FILE_BYTES", 20)
    for name, code in ("a", "import keras\n"), ("b", "import keras\n" * 2), ("c", "import keras\n"):
        (tmp_path / f"{name}.py").write_text(code)

    kdoctor.scan([tmp_path], jobs=1, isolated=True)

    assert len(given) == 1


def test_a_system_without_glibc_keeps_its_memory(monkeypatch):
    monkeypatch.setattr(gc_control.sys, "platform", "darwin")
    gc_control._malloc_trim.cache_clear()

    gc_control.trim_heap_if_due(gc_control._TRIM_AFTER_BYTES + 1)

    assert gc_control._malloc_trim() is None
    gc_control._malloc_trim.cache_clear()
