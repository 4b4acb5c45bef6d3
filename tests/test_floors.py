"""Imports go down the floors of the house only, and never in circles."""

from __future__ import annotations

import graphlib
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_no_package_imports_from_its_own_floor_or_above():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("added", ["stars.py", "stars/__init__.py"])
def test_a_module_that_is_on_no_floor_breaks_the_contract(added, tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in [*(path.name for path in (ROOT / "kdoctor").iterdir()), added]:
        empty = tmp_path / "kdoctor" / name
        if name.startswith("__") and empty.suffix != ".py":
            continue
        if not empty.suffix:
            empty /= "__init__.py"
        empty.parent.mkdir(parents=True, exist_ok=True)
        empty.write_text("")
    # The contract lets the package's own face import: one import is there to be let.
    (tmp_path / "kdoctor" / "__init__.py").write_text("from kdoctor import cli")

    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache", "--contract", "floors"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "not listed as layers:\n\n- kdoctor.stars\n" in done.stdout


def test_no_modules_import_each_other():
    graph = grimp.build_graph("kdoctor", cache_dir=None)
    # The package's own face offers names of every floor, to type checkers only.
    modules = graph.modules - {"kdoctor"}
    imports = {each: graph.find_modules_directly_imported_by(each) & modules for each in modules}

    assert len(imports) > 500
    assert tuple(graphlib.TopologicalSorter(imports).static_order())  # raises CycleError
