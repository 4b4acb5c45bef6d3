"""The benchmark of backends: what is counted, and who may look at what."""

import ast
import importlib.metadata
import sys
from pathlib import Path

from benchmarks.backends import figures, table
from benchmarks.backends.figures import FIXED
from benchmarks.backends.model import Backend, Half, Stage, read
from benchmarks.backends.runs import DRIVERS, HARNESS
from benchmarks.migration import environment
from benchmarks.migration.model import Result, Suite

SUBJECTS = read()


def suite(*passed):
    return Suite({name: Result("passed" if name in passed else "failed") for name in "abcd"}, {}, 0)


def counted(after_jax=("a", "b"), after_tensorflow=("a", "b", "c")):
    suites = {
        (stage, backend): suite("a", "b", "c") if backend is Backend.TENSORFLOW else suite("a")
        for stage in Stage
        for backend in Backend
    }
    suites[Stage.UNSAFE, Backend.JAX] = suite(*after_jax)
    suites[Stage.UNSAFE, Backend.TENSORFLOW] = suite(*after_tensorflow)
    return figures.of("gpt", Half.WORK, suites)


def test_what_fails_on_tensorflow_is_not_counted():
    found = counted(after_jax=("a", "b", "d"))

    assert found.tests == 3
    assert found.gap == {Backend.JAX: 2, Backend.TORCH: 2}
    assert found.gained[Backend.JAX] == {Stage.SAFE: 0, Stage.UNSAFE: 1}


def test_the_share_is_of_what_fails_on_either_backend():
    assert counted().share(Stage.UNSAFE) == 1 / 4
    assert counted().share(Stage.SAFE) == 0


def test_a_test_that_passed_before_on_any_backend_can_be_lost():
    assert counted().lost == {Stage.SAFE: 0, Stage.UNSAFE: 0}
    assert counted(after_jax=("b",)).lost[Stage.UNSAFE] == 1
    assert counted(after_tensorflow=("a", "b")).lost[Stage.UNSAFE] == 1


def test_each_subject_counts_the_same_in_the_mean_and_each_test_in_the_pooled_share():
    every = counted(after_jax=("a", "b", "c"))

    assert figures.mean_share([counted(), every], Stage.UNSAFE) == (1 / 4 + 2 / 4) / 2
    assert figures.pooled_share([counted(), every], Stage.UNSAFE) == 3 / 8
    assert figures.mean_share([], Stage.SAFE) is None


def test_the_tables_go_between_the_marks_of_the_readme(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- results -->\nold\n<!-- end -->\nafter\n", "utf-8")

    table.write([counted()], tmp_path / "results.json", readme)

    text = readme.read_text("utf-8")
    assert text.startswith("before\n<!-- results -->\n| ")
    assert text.endswith(" |\n<!-- end -->\nafter\n")
    assert "| half to work on | 1 | 3 | 2 | 2 | 0% | 25% | 0% | 25% | 0 | 0 |" in text
    assert "| gpt | work | 3 | 1 | 1 | 2 | 1 | 1 | 1 | 0 |" in text
    assert "old" not in text


def test_both_halves_are_measured_and_an_author_is_in_one():
    halves = {each.half for each in SUBJECTS}

    assert halves == {Half.WORK, Half.HELD}
    assert all(
        each.half is (Half.WORK if each.looked_into else Half.of(each.package.owner))
        for each in SUBJECTS
    )
    assert len({each.name for each in SUBJECTS}) == len(SUBJECTS) >= 25


def test_each_program_has_a_driver_and_each_driver_a_program():
    drivers = {path.name for path in DRIVERS.glob("*.py")} - {HARNESS}

    assert drivers == {each.driver for each in SUBJECTS if each.driver}


def test_no_driver_is_tied_to_a_backend():
    for path in DRIVERS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            roots = {name.partition(".")[0] for name in names}
            assert roots.isdisjoint({"tensorflow", "jax", "torch"}), Path(path).name


def test_what_is_safe_is_asked_for_before_what_is_unsafe():
    assert FIXED == (Stage.SAFE, Stage.UNSAFE)


def test_a_record_is_known_by_all_that_is_installed(tmp_path):
    mine = environment.installed(Path(sys.executable)).splitlines()
    (tmp_path / "jax-0.9.dist-info").mkdir()
    (tmp_path / "jax-0.9.dist-info" / "METADATA").write_text("Name: jax\nVersion: 0.9\n", "utf-8")

    assert f"pytest=={importlib.metadata.version('pytest')}" in mine
    assert environment.installed(Path(sys.executable), tmp_path) == "jax==0.9\n"
