"""What is remembered from one file to the next has a bound, and does not change what is found."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from kdoctor.engine import examiners, scanning
from kdoctor.engine.schedule import plan
from kdoctor.engine.schedule.compressed import Compressed
from kdoctor.engine.schedule.task import ScanOptions, Source, Task
from kdoctor.keras_api import newest_target, resolve_target
from kdoctor.modules import exports, prefilter
from kdoctor.modules.ast_cache import AstCache
from kdoctor.modules.exports import ProjectPackage
from kdoctor.modules.module_summary import summary_from
from kdoctor.modules.prefilter import FileWords, Prefilter
from kdoctor.rules import Rule, all_rules
from kdoctor.syntax import Module

FILES = 12


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for number in range(FILES):
        (tmp_path / f"own{number}.py").write_text("from keras import backend as K\n")
        (tmp_path / f"use{number}.py").write_text(f"from own{number} import K\nK.square(1)\n")
    return tmp_path


def test_what_is_known_of_the_tree_is_forgotten_where_it_is_much(project, monkeypatch):
    def found():
        examiners.forget()
        for number in range(FILES):
            path = str(project / f"use{number}.py")
            examiner = examiners.examiner_for(ScanOptions(newest_target()))
            scan = examiner.scan(Task(Source(path), 1))
            sizes.append(examiner.trace.size)
            yield [finding.symbol for finding in scan.findings]

    sizes: list[int] = []
    as_usual = list(found())
    assert all(as_usual)
    assert max(sizes) > FILES
    sizes.clear()
    monkeypatch.setattr(exports, "_MIN_CACHED_ENTRIES", 3)
    monkeypatch.setattr(exports, "_MAX_CACHED_ENTRIES", 3)
    assert list(found()) == as_usual
    assert max(sizes) < FILES


def test_a_project_that_is_much_for_each_of_its_files_is_not_read_again_for_each(
    project, monkeypatch
):
    read = []

    def outlined(tree, source):
        read.append(tree)
        return summary_from(tree, source)

    def read_for(most):
        monkeypatch.setattr(exports, "_MAX_CACHED_ENTRIES", most)
        own = ProjectPackage(lambda _: None)
        read.clear()
        for _ in range(FILES):
            own.evict_if_large()
            for number in range(FILES):
                own.exports(str(project / "use1.py"), f"own{number}", 0, "K")
        return len(read)

    monkeypatch.setattr(exports, "summary_from", outlined)
    monkeypatch.setattr(exports, "_MIN_CACHED_ENTRIES", 3)
    assert read_for(3) == FILES * FILES
    assert read_for(1000) < 5 * FILES


def test_what_was_looked_at_is_collected_only_for_who_asks(project):
    own = ProjectPackage(lambda _: None)
    with own.trace.isolated() as first:
        own.exports(str(project / "use1.py"), "own1", 0, "K")
    with own.trace.isolated() as again:
        own.exports(str(project / "use1.py"), "own1", 0, "K")
    assert str(project / "own1.py") in first
    assert first == again


def test_the_prefilter_forgets_folders_where_they_are_many(project, monkeypatch):
    def admitted():
        own = Prefilter(["keras"])
        for path in sorted(project.rglob("use*.py")):
            yield own.admits(str(path), path.read_bytes())
            sizes.append(own._trace.size)

    for number in range(FILES):
        (project / f"part{number}").mkdir()
        for name in (f"own{number}.py", f"use{number}.py"):
            (project / name).rename(project / f"part{number}" / name)
    sizes: list[int] = []
    assert all(admitted())
    assert max(sizes) > FILES
    sizes.clear()
    monkeypatch.setattr(prefilter, "_TRACE_CACHE_SIZE", 3)
    assert all(admitted())
    assert max(sizes) < FILES


def test_nothing_is_left_of_the_prefilter_once_the_files_are_known(project):
    gc.collect()
    before = facts_alive()
    own = Prefilter(["keras"])
    for path in project.glob("*.py"):
        assert own.admits(str(path), path.read_bytes())
    assert facts_alive() > before
    own.forget()
    assert facts_alive() == before


def test_what_files_have_left_is_forgotten_before_others_share_it(project):
    scan_options = ScanOptions(newest_target())
    examiners.forget()
    examiners.preload(scan_options)
    before = trees_alive()
    examiner = examiners.examiner_for(scan_options)
    for number in range(FILES):
        assert examiner.scan(Task(Source(str(project / f"use{number}.py")), 1)).findings
    assert trees_alive() > before
    assert examiner.trace.size > FILES
    examiners.preload(scan_options)
    assert trees_alive() == before
    assert examiner.trace.size < FILES


def test_no_module_outlives_its_file_whatever_was_asked_about_it():
    """A ring would keep its tree until a collector comes, which waits."""
    gc.collect()
    before = modules_alive()
    gc.disable()
    try:
        scan_examples(all_rules())
        # To look after each rule takes as long as the scans: only where some are left.
        assert modules_alive() == before, {rule.code: left_by(rule) for rule in all_rules()}
    finally:
        gc.enable()


def left_by(rule: Rule) -> int:
    before = modules_alive()
    scan_examples([rule])
    return modules_alive() - before


def scan_examples(rules: Iterable[Rule]) -> None:
    examiner = examiners.examiner_for(ScanOptions(newest_target()))
    for rule in rules:
        for example in rule.invalid:
            source = example.before.encode()
            examiner.scan(Task(Source("own.py", source), len(source)))


def modules_alive() -> int:
    return sum(isinstance(each, Module) for each in gc.get_objects())


def trees_alive() -> int:
    gc.collect()
    return sum(isinstance(each, ast.Module) for each in gc.get_objects())


def test_projects_of_one_release_share_an_examiner_wherever_each_names_it(tmp_path, monkeypatch):
    release, other = newest_target(), resolve_target("keras==2.15.0", "--target")
    sources = [replace(release, source=f"{number}/requirements.txt:{number}") for number in (1, 2)]
    kept = [examiners.examiner_for(ScanOptions(target)) for target in [*sources, other]]
    assert kept[0] is kept[1]
    assert kept[1] is not kept[2]

    monkeypatch.chdir(tmp_path)
    for number in range(FILES):
        folder = tmp_path / f"project{number}"
        folder.mkdir()
        (folder / "requirements.txt").write_text("\n" * number + "keras==3.15.1\n")
        (folder / "train.py").write_text("from keras import backend as K\n\nK.square(1)\n")
    result = scanning.scan([tmp_path], isolated=True)
    assert len(result.findings) == FILES
    # Each project still says where its own is named.
    lines = [f"project{number}/requirements.txt:{number + 1}" for number in range(FILES)]
    assert sorted(use.target.source for use in result.targets) == sorted(lines)
    assert examiners._examiner_for.cache_info().currsize == 1


def test_a_plan_of_many_files_is_kept_as_bytes(project, monkeypatch):
    as_usual = (
        plan.Plan([project], {"isolated": True}).discover().tasks,
        scanning.scan([project], isolated=True),
    )
    monkeypatch.setattr(plan, "_COMPRESSION_THRESHOLD", 2)
    discovered = plan.Plan([project], {"isolated": True}).discover()
    assert isinstance(discovered.tasks, Compressed)
    assert isinstance(discovered.files, Compressed)
    assert list(discovered.tasks) == as_usual[0]
    assert scanning.scan([project], isolated=True) == as_usual[1]


def facts_alive() -> int:
    return sum(isinstance(each, FileWords) for each in gc.get_objects())


def test_the_tree_of_a_large_source_is_not_kept():
    trees, small, large = AstCache(), b"first = 1\n", b"# much\n" * 15_000
    first = trees.of_bytes(small)
    assert trees.of_bytes(large) is not trees.of_bytes(large)
    assert trees.of_bytes(small) is first


# What is left once all is found. Each folder has modules that no other file asks about, and code of
# Keras that runs as before: a gate learns what it can of them, and there is no result to be kept.
HOLDING = """
import gc, sys
from pathlib import Path
from kdoctor.engine import scan

def held(folders):
    root = Path(str(folders))
    for number in range(folders):
        part = root / f"part{number}"
        part.mkdir(parents=True)
        (part / "own.py").write_text(
            f"from keras import backend as K\\ndef own{number}(x):\\n    return K.epsilon()\\n"
        )
        (part / "use.py").write_text(f"from .own import K, own{number}\\nown{number}(K.epsilon())\\n")
    found = scan([root], jobs=1, target="keras==3.15.1")
    assert len(found.files) == 2 * folders and not found.findings and not found.unreadable
    del found
    gc.collect()
    return sys.getallocatedblocks()

before = held(20)
print(held(250) - before, held(1000) - before)
"""


def test_four_times_as_many_files_leave_no_more_behind(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    done = subprocess.run(
        [sys.executable, "-c", HOLDING],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    few, many = map(int, done.stdout.split())
    assert few > 5000  # it does learn something
    assert many < 2 * few, (few, many)
