"""The shipped tables: small, quick to load, and written the same way every time."""

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from kdoctor.keras_api import lookup, newest_target, tables

DATA = Path(tables.__file__).parent / tables.DATA
NAMES = sorted(path.name for path in DATA.glob("*.names.bin"))
CLASSES = sorted(path.name for path in DATA.glob("*.classes.bin"))


def test_all_tables_together_stay_below_600_kilobytes():
    assert sum(path.stat().st_size for path in DATA.glob("*.bin")) < 600_000


@pytest.mark.parametrize("name", NAMES)
def test_a_names_table_is_written_as_it_was_read(name):
    data = (DATA / name).read_bytes()
    assert tables.pack(tables.unpack_names(data)) == data


@pytest.mark.parametrize("name", CLASSES)
def test_a_classes_table_is_written_as_it_was_read(name):
    data = (DATA / name).read_bytes()
    assert tables.pack(tables.unpack_classes(data)) == data


@pytest.mark.parametrize("name", NAMES)
def test_the_spans_of_a_name_follow_each_other(name):
    table = tables.unpack_names((DATA / name).read_bytes())
    for row in table.names.values():
        spans = tables.name_spans(row)
        assert all(span.first <= span.last < len(table.releases) for span in spans)
        assert all(a.last < b.first for a, b in pairwise(spans))


@pytest.mark.parametrize("name", NAMES)
def test_an_object_moves_only_to_names_that_are_there_and_work(name):
    table = tables.unpack_names((DATA / name).read_bytes())
    for old, row in table.moves.items():
        for move in tables.move_spans(row):
            assert move.names
            assert old not in move.names
            for new in move.names:
                spans = tables.name_spans(table.names[new])
                there = [s for s in spans if s.first <= move.last and move.first <= s.last]
                assert there
                assert not any(span.stub for span in there)


def test_the_table_of_the_commonest_root_loads_within_15_milliseconds():
    data = (DATA / "keras.names.bin").read_bytes()

    def seconds() -> float:
        begun = time.perf_counter()
        tables.unpack_names(data)
        return time.perf_counter() - begun

    assert min(seconds() for _ in range(10)) < 0.015


def test_a_repeated_lookup_takes_less_than_20_microseconds():
    target = newest_target()
    names = [f"keras.{name}" for name in list(tables.names_table("keras").names)[1:1001]]
    for name in names:
        lookup(name, target)

    def seconds() -> float:
        begun = time.perf_counter()
        for name in names:
            lookup(name, target)
        return (time.perf_counter() - begun) / len(names)

    assert min(seconds() for _ in range(5)) < 20e-6


def test_only_the_root_that_is_asked_for_is_loaded():
    code = (
        "from kdoctor.keras_api import lookup, newest_target\n"
        "from kdoctor.keras_api import tables\n"
        "lookup('keras.layers.Dense', newest_target())\n"
        "print(tables.names_table.cache_info().currsize)\n"
        "print(tables.classes_table.cache_info().currsize)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]
