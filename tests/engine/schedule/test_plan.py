"""Files that stand side by side: those that are imported come before those that import them."""

from __future__ import annotations

from pathlib import Path

import pytest

import kdoctor
from kdoctor.engine.schedule.dispatch import run
from kdoctor.engine.schedule.plan import Plan
from kdoctor.engine.schedule.task import Priority, ScanOptions, Source, Task
from kdoctor.keras_api import newest_target
from kdoctor.modules import ast_cache

SOURCES = {
    "__init__.py": "from .layer import Mine\nfrom . import model\n",
    "layer.py": "import keras\n\n\nclass Mine(keras.layers.Layer):\n    pass\n",
    "model.py": "import keras\n\nfrom .layer import Mine\n\nmodel = keras.Sequential([Mine()])\n",
    "train.py": "import keras\n\nkeras.backend.square(1)\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, source in SOURCES.items():
        (tmp_path / name).write_text(source)
    return tmp_path


def test_who_imports_what_speaks_of_keras_comes_last_and_what_it_imports_first(project: Path):
    tasks = Plan([project], {"isolated": True}).discover().tasks
    assert {Path(task.source.path).name: task.priority for task in tasks} == {
        "__init__.py": Priority.IMPORTER,
        "layer.py": Priority.IMPORTED,
        "model.py": Priority.IMPORTED,
        "train.py": Priority.USUAL,
    }


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_of_one_folder_are_done_by_turns_and_told_of_in_order(jobs):
    turns = [Priority.IMPORTER, Priority.USUAL, Priority.IMPORTED, Priority.IMPORTED]
    tasks = [
        Task(Source(f"{folder}/{place}.py"), 1, priority=priority)
        for folder in "ab"
        for place, priority in enumerate(turns)
    ]
    done: list[str] = []

    def work(_scan_options: ScanOptions, some: list[Task]) -> list[str]:
        done.extend(task.source.path for task in some)
        return [task.source.path for task in some]

    told = run(work, ScanOptions(newest_target()), tasks, jobs)
    assert told == [task.source.path for task in tasks]
    assert done == [f"{folder}/{place}.py" for folder in "ab" for place in (2, 3, 1, 0)]


def test_each_file_is_parsed_once(project: Path, monkeypatch):
    parsed: list[str] = []
    parse = ast_cache.parsed
    monkeypatch.setattr(ast_cache, "parsed", lambda text: parsed.append(text) or parse(text))
    kdoctor.scan([project], isolated=True, jobs=1)
    assert sorted(parsed) == sorted(SOURCES.values())


def test_the_first_files_are_there_before_the_others_are_read(tmp_path: Path):
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("import keras\n" * 30_000)
    (tmp_path / "d.py").write_text("import a\n")
    plan = Plan([tmp_path], {"isolated": True, "jobs": 2})
    discovery = plan.discovery()
    first = next(discovery)
    (tmp_path / "c.py").unlink()
    assert [Path(task.source.path).name for task in (first, *discovery)] == ["a.py", "b.py", "d.py"]
    discovered = discovery.finish()
    assert [Path(task.source.path).name for task in discovered.tasks] == ["a.py", "b.py", "d.py"]
    assert [Path(file.path).name for file in discovered.unreadable] == ["c.py"]


def test_what_is_left_of_a_discovery_is_found_when_it_is_finished(project: Path):
    plan = Plan([project], {"isolated": True})
    discovery = plan.discovery()
    next(discovery)
    assert discovery.finish() == discovery.finish() == plan.discover()
    assert list(discovery) == []
    assert len(plan.discover().tasks) == plan.discover().read == len(SOURCES)
