"""The shipped tables: small, quick to load, and written the same way every time."""

import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from kdoctor.keras_api import tables
from kdoctor.keras_api.surface import known_releases, minor, surface_at

DATA = Path(tables.__file__).parent / tables.DATA
NAMES = sorted(path.name for path in DATA.glob("*.names.bin"))
CLASSES = sorted(path.name for path in DATA.glob("*.classes.bin"))


def test_all_tables_together_stay_below_650_kilobytes():
    assert sum(path.stat().st_size for path in DATA.glob("*.bin")) < 650_000


@pytest.mark.parametrize("name", NAMES)
def test_a_names_table_is_written_as_it_was_read(name):
    data = (DATA / name).read_bytes()
    assert tables.pack(tables.unpack_names(data)) == data


@pytest.mark.parametrize("name", CLASSES)
def test_a_classes_table_is_written_as_it_was_read(name):
    data = (DATA / name).read_bytes()
    assert tables.pack(tables.unpack_classes(data)) == data


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_a_table_are_counted_in_written_order(name):
    table = tables.unpack_names((DATA / name).read_bytes())
    listed = [table.name_at(number) for number in range(len(table.names))]
    assert listed == tables.in_written_order(dict(table.names))


@pytest.mark.parametrize("name", NAMES)
def test_names_are_found_by_home_module_and_last_part_as_if_all_were_read(name):
    table = tables.unpack_names((DATA / name).read_bytes())
    of_home, of_module, of_leaf = defaultdict(set), defaultdict(set), defaultdict(set)
    for each, spans in table.all_spans():
        module, _, leaf = each.rpartition(".")
        of_module[module].add(each)
        of_leaf[leaf].add(each)
        for span in spans:
            of_home[table.homes[span.home]].add(each)
    for asked, found in (
        (table.names_defined_at, of_home),
        (table.names_in, of_module),
        (table.names_ending_in, of_leaf),
    ):
        for key in [*found][::9]:
            assert sorted(asked(key)) == sorted(found[key])
        assert not list(asked("never.there"))


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
            names = [table.name_at(number) for number in move.names]
            assert old not in names
            for new in names:
                spans = tables.name_spans(table.names[new])
                there = [s for s in spans if s.first <= move.last and move.first <= s.last]
                assert there
                assert not any(span.stub for span in there)


@pytest.mark.parametrize("root", ["keras", "tf.keras", "tf_keras"])
def test_only_releases_that_differ_in_names_share_a_minor(root):
    """A first patch is kept for its names (``tf.keras`` of the same wheel may have changed)."""
    firsts = [a for a, b in pairwise(known_releases(root)) if minor(a) == minor(b)]
    for first in firsts:
        last = next(r for r in reversed(known_releases(root)) if minor(r) == minor(first))
        roots = {root, "keras", "tf.keras"} if root != "tf_keras" else {root}
        pairs = [(surface_at(r, first), surface_at(r, last)) for r in roots]
        assert any(a and b and set(a.names) != set(b.names) for a, b in pairs)


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
