"""The generator, on wheels made here: what it reads, and that it always writes the same."""

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from kdoctor.keras_api import tables
from kdoctor.keras_api.tables import ClassFamily, EntryKind, MemberKind
from tests.keras_api.wheels import NEW, OLD, ROOT, generate, span, wheel
from tools.api_data.releases import RELEASES

CACHE = Path.home() / ".cache" / "kdoctor" / "wheels"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheels")
    return [str(wheel(folder, "2.3.1", OLD)), str(wheel(folder, "3.1.0", NEW))]


@pytest.fixture(scope="module")
def files(wheels, tmp_path_factory) -> dict[str, bytes]:
    return generate(tmp_path_factory.mktemp("out"), "--wheels", *wheels)


@pytest.fixture(scope="module")
def table(files) -> tables.NamesTable:
    return tables.unpack_names(files["keras.names.bin"])


def test_the_same_wheels_give_the_same_bytes_whatever_the_hash_seed(files, wheels, tmp_path):
    for seed in ("1", "2"):
        assert generate(tmp_path / seed, "--wheels", *wheels, seed=seed) == files


@pytest.mark.skipif(
    not list(CACHE.glob("keras_core-*.whl")),
    reason=f"optional: no wheels in {CACHE}, which `make api-data` fills",
)
def test_a_released_wheel_gives_what_is_checked_in(tmp_path):
    wheel = min(CACHE.glob("keras_core-*.whl"))
    shipped = Path(tables.__file__).parent / tables.DATA
    for name, data in generate(tmp_path, "--wheels", str(wheel)).items():
        assert data == (shipped / name).read_bytes()


def test_every_root_that_a_wheel_serves_gets_its_table(files):
    assert list(files) == ["keras.classes.bin", "keras.names.bin", "tf.keras.names.bin"]
    assert tables.unpack_names(files["tf.keras.names.bin"]).releases == ["3.1.0"]


def test_without_a_public_listing_every_file_is_public(table):
    assert span(table, "layers.core.Dense", "2.3.1").kind is EntryKind.CLASS
    assert span(table, "engine.base.Layer", "2.3.1")
    assert span(table, "backend.tensorflow_backend.sum", "2.3.1")


def test_with_a_public_listing_only_it_counts(table):
    assert span(table, "layers.Dense", "3.1.0")
    assert not any(name == "src" or name.startswith("src.") for name in table.names)
    assert not any("_tf_keras" in name for name in table.names)


def test_private_names_and_tests_are_left_out(table):
    assert "backend.tensorflow_backend._private" not in table.names
    assert "layers.core_test" not in table.names


def test_star_imports_are_followed_inside_the_wheel(table):
    assert span(table, "backend.sum", "2.3.1")
    assert span(table, "layers.Dense", "2.3.1")


def test_branches_for_another_backend_are_not_read(table):
    assert "backend.only_theano" not in table.names


def test_an_alias_of_a_module_is_not_followed(table):
    assert span(table, "layers.core.K", "2.3.1").kind is EntryKind.ALIAS
    assert "layers.core.K.sum" not in table.names


def test_what_a_module_imports_from_other_packages_is_marked(table):
    assert span(table, "backend.np", "2.3.1").kind is EntryKind.EXTERNAL


def test_two_names_of_one_object_have_one_home(table):
    names = ("layers.Dense", "layers.core.Dense", "layers.Linear")
    assert len({span(table, name, "2.3.1").home for name in names}) == 1


def test_a_signature_keeps_defaults_and_drops_annotations_and_self(table):
    sum_ = span(table, "backend.sum", "2.3.1")
    expected = "x, axis=None, keepdims=False, *rest, name=None, **kwargs"
    assert table.signatures[sum_.signature] == expected
    old, new = (span(table, "layers.Dense", release) for release in ("2.3.1", "3.1.0"))
    assert table.signatures[old.signature] == "units, activation=None"
    assert table.signatures[new.signature] == "units, activation='linear'"


def test_a_class_that_only_raises_is_a_stub(table):
    assert span(table, "layers.Old", "3.1.0").stub == "ImportError: Old is no more"
    assert span(table, "layers.Dense", "3.1.0").stub == ""


def test_the_family_comes_from_the_bases_in_other_files(table):
    assert span(table, "layers.core.Dense", "2.3.1").family is ClassFamily.LAYER
    assert span(table, "layers.Old", "3.1.0").family is ClassFamily.OTHER


def test_a_move_is_proven_by_the_release_that_has_both_names(table):
    (move,) = tables.move_spans(table.moves["layers.core.Dense"])
    assert [table.name_at(n) for n in move.names] == ["layers.Dense", "layers.Linear"]
    assert "backend.sum" not in table.moves


def test_a_module_that_its_package_does_not_import_is_marked(table):
    assert span(table, "saving", "3.1.0").import_only
    assert not span(table, "layers", "3.1.0").import_only


def test_what_only_a_function_imports_is_marked(files):
    table = tables.unpack_names(files["tf.keras.names.bin"])
    assert span(table, "metrics", "3.1.0").import_only
    assert not span(table, "losses", "3.1.0").import_only


def test_a_module_that_hides_another_is_what_attributes_find(files):
    table = tables.unpack_names(files["tf.keras.names.bin"])
    assert table.homes[span(table, "layers", "3.1.0").home] == "keras.layers"
    assert not span(table, "layers.Dense", "3.1.0").import_only
    assert span(table, "layers.Hidden", "3.1.0").import_only


def test_a_name_kept_from_the_builtins_is_theirs(table):
    assert span(table, "odd.py_sum", "2.3.1").kind is EntryKind.EXTERNAL
    assert span(table, "odd.sum", "2.3.1").kind is EntryKind.FUNCTION


def test_loops_and_blocks_bind_their_targets(table):
    assert span(table, "odd.each", "2.3.1").kind is EntryKind.VALUE
    assert span(table, "odd.file", "2.3.1").kind is EntryKind.VALUE


def test_branches_for_python_2_are_not_read(table):
    assert "odd.of_python_2" not in table.names


def test_a_module_that_is_loaded_late_is_an_alias(table):
    assert span(table, "odd.training", "2.3.1").kind is EntryKind.ALIAS


def test_a_named_tuple_is_made_of_its_fields(table):
    assert table.signatures[span(table, "odd.Place", "2.3.1").signature] == "layer, index"


def test_a_star_brings_the_modules_of_a_package(table):
    assert span(table, "engine.saving.core", "2.3.1").kind is EntryKind.ALIAS
    assert span(table, "engine.saving.Dense", "2.3.1").kind is EntryKind.CLASS


def test_names_that_a_module_computes_are_read(table):
    names = ("Constant", "constant", "ConstantV2", "GlorotNormal", "glorot_normal", "glorot")
    found = {name: span(table, f"initializers.{name}", "2.3.1") for name in names}
    assert all(found.values())
    assert found["glorot"].home == found["GlorotNormal"].home != found["constant"].home


def test_what_an_optimizer_sets_by_name_is_an_attribute(files):
    table = tables.unpack_classes(files["keras.classes.bin"])
    (read,) = tables.class_spans(table.classes["keras.initializers.initializers_v2.Constant"])
    assert {table.members[i].name for i in read.members} == {"value"}


def test_a_class_has_its_own_members_and_its_bases(files):
    table = tables.unpack_classes(files["keras.classes.bin"])
    (read,) = tables.class_spans(table.classes["keras.layers.core.Dense"])
    kinds = {table.members[i].name: table.members[i].kind for i in read.members}
    assert kinds == {"units": MemberKind.ATTRIBUTE, "from_config": MemberKind.CLASS}
    assert [table.homes[i] for i in read.bases] == ["keras.engine.base.Layer"]
    (layer,) = tables.class_spans(table.classes["keras.engine.base.Layer"])
    kinds = {table.members[i].name: table.members[i].kind for i in layer.members}
    assert kinds == {
        "name": MemberKind.ATTRIBUTE,
        "weights": MemberKind.PROPERTY,
        "call": MemberKind.METHOD,
    }


def test_a_wheel_that_is_not_there_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tools.api_data", "--wheels", str(tmp_path / "keras-9-x.whl")],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "keras-9-x.whl" in done.stderr


def test_a_first_patch_is_kept_where_its_names_differ(tmp_path):
    extra = {"keras/extra.py": ""}
    paths = [
        wheel(tmp_path, "2.1.0", OLD),
        wheel(tmp_path, "2.1.6", OLD),
        wheel(tmp_path, "2.2.0", OLD),
        wheel(tmp_path, "2.2.5", {**OLD, **extra}),
    ]
    files = generate(tmp_path / "out", "--wheels", *map(str, paths))
    for name in ("keras.names.bin", "keras.classes.bin"):
        unpack = tables.unpack_names if "names" in name else tables.unpack_classes
        assert unpack(files[name]).releases == ["2.1.6", "2.2.0", "2.2.5"]


def test_the_known_releases_are_written_oldest_first():
    for versions in RELEASES.values():
        assert list(versions) == sorted(versions, key=Version)
        minors = [Version(version).release[:2] for version in versions]
        assert max(map(minors.count, minors)) <= 2
