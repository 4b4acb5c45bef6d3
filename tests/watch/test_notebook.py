"""``%load_ext kdoctor``: the diagnosis under a cell that failed, in a real IPython."""

from __future__ import annotations

import pytest

from .conftest import ERROR, MEANING

pytest.importorskip("IPython", reason="IPython is not installed: pip install --group dev")

SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.history import HistoryManager
HistoryManager.enabled = False
shell = InteractiveShell.instance(colors="NoColor")
{load}
before = set(sys.modules)
for cell in {cells!r}:
    shell.run_cell(cell, store_history=True)
print(sorted(n for n in set(sys.modules) - before if n.startswith("kdoctor.")) == [])
"""
LOAD = "shell.run_line_magic('load_ext', 'kdoctor')"


def run(folder, *cells, load=LOAD):
    env = {"IPYTHONDIR": str(folder.path / "ipython")}
    done = folder.python("-c", SHELL.format(load=load, cells=list(cells)), env=env)
    assert done.returncode == 0, done.stderr
    return done


def test_a_failing_cell_is_explained_under_its_traceback(folder):
    folder.keras()
    done = run(folder, "from keras import backend as K", "x = 1\nK.sum([x])", "print('after')")
    assert ERROR in done.stdout
    assert MEANING in done.stderr
    assert "fault: your line (Cell In[2]:2)" in done.stderr
    assert "ipython-input" not in done.stderr
    assert "K.sum([x])" in done.stderr
    assert "after\n" in done.stdout
    assert done.stderr.count("kdoctor:") == 1


def test_healthy_cells_and_other_errors_show_nothing_and_import_nothing(folder):
    cells = ("1 + 1", "print('said')", "x = [1, 2]\nx")
    watched, alone = run(folder, *cells), run(folder, *cells, load="")
    assert (watched.stdout, watched.stderr) == (alone.stdout, alone.stderr)
    assert watched.stdout.endswith("True\n")
    done = run(folder, "1 / 0")
    assert done.stderr == ""


def test_loading_it_twice_answers_once_and_unloading_ends_it(folder):
    folder.keras()
    fail = "from keras import backend as K\nK.sum(1)"
    twice = run(folder, "%reload_ext kdoctor", fail)
    assert twice.stderr.count("kdoctor:") == 1
    assert run(folder, "%unload_ext kdoctor", fail).stderr == ""
