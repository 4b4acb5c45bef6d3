"""An import stays that another file takes from here, and goes that none does."""

from __future__ import annotations

import pytest

from kdoctor.documents import read_regular
from kdoctor.engine import fix, scan
from kdoctor.modules import project_files


def test_an_import_that_a_star_of_the_tree_hides_is_not_used_again(tmp_path):
    (tmp_path / "mine.py").write_text("def ops(x):\n    return x\n", encoding="utf-8")
    code = tmp_path / "code.py"
    code.write_text(
        "from keras import ops, backend as K\nfrom mine import *\n\nx = K.sum([1.0])\n", "utf-8"
    )
    (fixed,) = fix([code], target="keras==3.15.1").files
    assert b"x = keras_ops.sum([1.0])\n" in fixed.after
    (tmp_path / "mine.py").write_text("from keras import ops\n", encoding="utf-8")
    (fixed,) = fix([code], target="keras==3.15.1").files
    assert b"x = ops.sum([1.0])\n" in fixed.after


_LOSSES = "import keras.backend as K\n\n\ndef dice(a, b):\n    return K.sum(a * b)\n"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("train.py", "from pk.losses import K\n"),
        ("train.py", "from pk.losses import (\n    dice,  # the loss\n    K,\n)\n"),
        ("train.py", "from pk.losses import *\n\nK.clear_session()\n"),
        ("train.py", "import pk.losses as own\n\nown.K.clear_session()\n"),
        ("train.py", "import pk.losses\n\npk.losses.K.clear_session()\n"),
        ("train.py", "import pk\n\npk.losses.K.clear_session()\n"),
        ("train.py", "from pk import losses\n\nlosses.K.clear_session()\n"),
        ("pk/more.py", "from .losses import K\n"),
        ("pk/more.py", "from . import losses\n\nlosses.K.clear_session()\n"),
        ("pk/more.py", "def f():\n    from pk.losses import K\n"),
        ("train.ipynb", '{"cells": [{"source": "import os\\nfrom pk.losses import K"}]}'),
        ("train.ipynb", '{"cells": [{"source": "%run -i pk/losses\\nK.clear_session()"}]}'),
        ("train.ipynb", '{"cells": [{"source": ["%run \\"pk/losses.py\\"\\n", "K.cast(1)"]}]}'),
        ("train.py", "exec(open('pk/losses.py').read())\nK.clear_session()\n"),
        ("pk/more.py", "execfile('./losses.py')\nK.clear_session()\n"),
    ],
)
def test_an_import_stays_that_another_file_takes_from_here(tmp_path, path, source):
    losses = tmp_path / "pk/losses.py"
    losses.parent.mkdir()
    losses.write_text(_LOSSES)
    for each in ("setup.py", "pk/__init__.py"):
        (tmp_path / each).write_text("")
    (tmp_path / path).write_text(source)
    (fixed,) = fix([losses], target="keras==3.15.1").files
    assert fixed.after == (
        b"import keras.backend as K\nfrom keras import ops\n\n\n"
        b"def dice(a, b):\n    return ops.sum(a * b)\n"
    )


def test_the_diff_of_a_finding_keeps_an_import_that_another_file_takes_from_here(tmp_path):
    losses = tmp_path / "losses.py"
    losses.write_text(_LOSSES)
    (finding,) = scan([losses], target="keras==3.15.1").findings
    assert "-import keras.backend as K\n" in finding.fix.diff
    (tmp_path / "train.py").write_text("from losses import K\n")
    (finding,) = scan([losses], target="keras==3.15.1", replacements=True).findings
    (fixed,) = fix([losses], target="keras==3.15.1").files
    assert finding.fix.diff == fixed.diff
    assert " import keras.backend as K\n+from keras import ops\n" in finding.fix.diff
    assert {each.text for each in finding.fix.replacements} == {"from keras import ops\n", "ops"}


def fixed_losses(folder, files):
    """Return the text of ``losses.py`` after a fix of that file alone."""
    for name, source in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source)
    (fixed,) = fix([folder / "losses.py"], target="keras==3.15.1").files
    return fixed.after.decode()


@pytest.mark.parametrize(
    "files",
    [
        # A star hands it on, be it in a file that is no Python yet.
        {
            "more.py": "from losses import *\n",
            "train.py": "from more import *\n\nK.clear_session()\n",
        },
        {"train.py": "from losses import *\n\nK.clear_session(\n"},
        # The module lies in no package.
        {"train.py": "import losses\n\nlosses.K.clear_session()\n"},
        # Whoever takes it lies in a package, in a folder of the project.
        {"pk/__init__.py": "", "pk/train.py": "from losses import K\n"},
        {"pyproject.toml": "", "jobs/train.py": "from losses import K\n"},
    ],
)
def test_an_import_stays_that_is_taken_from_wherever_python_finds_it(tmp_path, files):
    files = {"losses.py": _LOSSES, **files}
    assert "import keras.backend as K\n" in fixed_losses(tmp_path, files)


@pytest.mark.parametrize(
    "reader",
    [
        "from importlib import import_module\n\ngetattr(import_module('losses'), 'K')\n",
        "import importlib\n\nK = importlib.import_module('losses').K\n",
        "K = getattr(__import__('losses'), 'K')\n",
        "import losses\n\nK = vars(losses)['K']\n",
        "import losses\n\nK = losses.__dict__['K']\n",
        "import losses\n\nK = getattr(losses, 'K')\n",
        "import sys\n\nimport losses as other\n\nsys.modules['losses'].K\n",
        "from unittest import mock\n\nmock.patch('losses.K').start()\n",
        "from unittest import mock\n\nimport losses\n\nmock.patch.object(losses, 'K')\n",
        "def test_it(monkeypatch):\n    monkeypatch.setattr('losses.K', None)\n",
        "from pkgutil import resolve_name\n\nresolve_name('losses:K')\n",
        "import runpy\n\nrunpy.run_path('losses.py')['K']\n",
        "import importlib\nimport sys\n\nimportlib.import_module(sys.argv[1]).K.clear_session()\n",
        "import importlib\n\nimportlib.import_module(f'{__name__}.losses').K\n",
        # What holds the module goes from name to name.
        "import losses\n\ndef show(module):\n    return getattr(module, 'K')\n\nshow(losses)\n",
        "import losses\n\nfor module in (losses, print):\n    print(module.__dict__)\n",
        "import importlib\n\nname = 'losses'\nmodule = importlib.import_module(name)\nvars(module)\n",
        "from importlib import import_module as get\n\ndef load(name):\n    return get(f'pk.{name}')\n\nload('losses').K\n",
        "import importlib\nimport sys\n\ngetattr(\n    importlib.import_module(sys.argv[1]),\n    'K',\n)\n",
        "from importlib import util\n\nmodule = util.module_from_spec(util.spec_from_file_location('any', __file__))\nmodule.K\n",
        "import sys\n\nfor module in list(sys.modules.values()):\n    getattr(module, 'K', None)\n",
        "import losses\n\nall_of_them = []\nall_of_them.append(losses)\nall_of_them[0].K\n\nvars()\n",
        "import losses\n\nprint(list(map(lambda module: module.K, [losses])), vars())\n",
        "import losses\n\ndef show(module):\n    return vars(module)\n\nlist(map(show, [losses]))\n",
        "import losses\n\ndef show(module=losses):\n    return vars(module)\n",
        "import losses\n\nsetattr(print, 'held', losses)\nprint.held.K\n",
        "from operator import attrgetter\n\nimport losses\n\nattrgetter('K')(losses)\n",
        "from unittest import mock\n\nmock.patch.multiple('losses', K=None)\n",
        # However it is written that the name is read.
        "import losses\n\nmodule = losses\nprint(vars(), (module.  # of Keras\n    K))\n",
        "import losses\n\nmodule = losses\nprint(vars(), module. \\\n    K)\n",
        "import losses\n\nvars()\n\ngetattr(losses, '' 'K')\n",
        "from keras.K import layers\n\nimport losses\n\ngetattr(losses, 'K')\n",
        # Of what Python cannot parse, the words count.
        "import losses\n\nprint getattr(losses, 'K')\n",
    ],
)
def test_an_import_stays_that_another_file_reads_through_text(tmp_path, reader):
    files = {"losses.py": _LOSSES, "train.py": reader}
    assert "import keras.backend as K\n" in fixed_losses(tmp_path, files)


@pytest.mark.parametrize(
    "reader",
    [
        # Another module, or another name.
        "from importlib import import_module\n\ngetattr(import_module('layers'), 'K')\n",
        "from unittest import mock\n\nmock.patch('losses.loss').start()\n",
        "import losses\n\ngetattr(losses, 'loss')\n",
        "import keras\n\nsetattr(keras, 'K', 1)\n",
        "import importlib\n\nimportlib.import_module(f'{__name__}.layers').K\nprint('losses')\n",
        # What is read is no module, and stands beside the words.
        "import argparse\n\nfrom losses import dice\n\nprint(vars(argparse.Namespace()))\n",
        "NAMES = {'losses': 'loss', 'K': 'backend'}\n\ndef show(one):\n    return vars(one)\n",
        "import losses\n\ndef show(one):\n    return getattr(one, 'K')\n\nlosses.dice(1, 2)\n",
        "import sys\n\nsys.modules['keras'].K\nprint('losses')\n",
        # It is imported, or used: nothing is read.
        "import importlib\nimport sys\n\nfrom keras import backend as K\n\nimportlib.import_module(sys.argv[1])\nK.mean(1)\n",
        "import importlib\nimport sys\n\nfrom keras.K import mean\n\nimportlib.import_module(sys.argv[1])\n",
        # A program in a text.
        "PROGRAM = 'import importlib, sys; importlib.import_module(sys.argv[1]).K'\n",
    ],
)
def test_an_import_goes_that_no_text_elsewhere_speaks_of(tmp_path, reader):
    files = {"losses.py": _LOSSES, "train.py": reader}
    assert "import keras.backend as K\n" not in fixed_losses(tmp_path, files)


def test_an_import_of_a_package_stays_that_is_taken_as_its_attribute(tmp_path):
    package = tmp_path / "pk/__init__.py"
    package.parent.mkdir()
    package.write_text(_LOSSES)
    (tmp_path / "train.py").write_text("import pk\n\npk.K.clear_session()\n")
    (fixed,) = fix([package], target="keras==3.15.1").files
    assert b"import keras.backend as K\n" in fixed.after


def test_outside_of_a_project_no_folder_is_searched_that_cannot_import_a_module(
    tmp_path, monkeypatch
):
    read = []
    monkeypatch.setattr(
        project_files, "read_regular", lambda path: read.append(path) or read_regular(path)
    )
    files = {"losses.py": _LOSSES, "train.py": "", "jobs/train.py": "", "pk/__init__.py": ""}
    fixed_losses(tmp_path, files)
    searched = {"losses.py", "train.py", "pk/__init__.py"}
    assert set(read) == {str(tmp_path / each) for each in searched}


@pytest.mark.parametrize(
    "files",
    [
        # A star brings no name that begins so.
        {
            "losses.py": _LOSSES.replace("K", "_K"),
            "train.py": "from losses import *\n\nprint(_K)\n",
        },
        # Round in circles.
        {
            "losses.py": _LOSSES,
            "a.py": "from losses import *\nfrom b import *\n",
            "b.py": "from a import *\n",
        },
    ],
)
def test_an_import_goes_that_no_star_hands_on(tmp_path, files):
    assert "import keras.backend" not in fixed_losses(tmp_path, files)


@pytest.mark.parametrize(
    "source",
    [
        "from pk.losses import dice\n",
        "from pk.losses import *\n\ndice(1, 2)\n",
        # It has its own.
        "import keras.backend as K\nfrom pk.losses import *\n\nK.clear_session()\n",
        "import pk.losses\nimport keras.backend as K\n\nK.clear_session()\n",
        "from other.losses import K\n",
    ],
)
def test_an_import_goes_that_no_other_file_takes_from_here(tmp_path, source):
    losses = tmp_path / "pk/losses.py"
    losses.parent.mkdir()
    losses.write_text(_LOSSES)
    (tmp_path / "pk/__init__.py").write_text("")
    (tmp_path / "train.py").write_text(source)
    (fixed,) = fix([losses], target="keras==3.15.1").files
    assert b"import keras.backend as K" not in fixed.after


def test_an_import_goes_that_fails_on_the_target_whoever_takes_it(tmp_path):
    (tmp_path / "losses.py").write_text("from keras.backend import square\n\nx = square(2.0)\n")
    (tmp_path / "train.py").write_text("from losses import square\n")
    (fixed,) = fix([tmp_path / "losses.py"], target="keras==3.15.1").files
    assert b"backend" not in fixed.after
