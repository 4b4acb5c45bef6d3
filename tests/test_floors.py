"""Imports go down the floors of the house only, and never in circles."""

from __future__ import annotations

import graphlib
import subprocess
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent


def test_no_package_imports_from_its_own_floor_or_above():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_modules_import_each_other():
    graph = grimp.build_graph("kdoctor", cache_dir=None)
    # The package's own face offers names of every floor, to type checkers only.
    modules = graph.modules - {"kdoctor"}
    imports = {each: graph.find_modules_directly_imported_by(each) & modules for each in modules}

    assert len(imports) > 500
    assert tuple(graphlib.TopologicalSorter(imports).static_order())  # raises CycleError
