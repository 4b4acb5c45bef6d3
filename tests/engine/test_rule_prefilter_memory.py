"""What the gate says of a file is the same whatever was looked at before: it remembers only facts."""

from __future__ import annotations

import pytest

from kdoctor.engine.examine import Examiner
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target
from kdoctor.rules import all_rules

PROJECT = {
    "pkg/__init__.py": "from pkg.compat import *\n",
    "pkg/compat.py": "from keras import backend as K\nfrom keras.layers import Dense, Merge\n",
    "pkg/base.py": "import keras\n\n\nclass Base(keras.layers.Layer):\n    def build(self, s): ...\n",
    "pkg/ops.py": "from pkg.compat import K\n\n\ndef mean(x):\n    return K.mean(x)\n",
    "pkg/ring.py": "from pkg.other import *\nfrom pkg.compat import Merge as Joined\n",
    "pkg/other.py": "from pkg.ring import *\nprint(Joined)\n",
    "user.py": "from pkg import Merge, Dense\nMerge([Dense(2)(x), y])\n",
    "child.py": "from pkg.base import Base\n\n\nclass Child(Base):\n    pass\n\n\nChild().output_shape\n",
    "caller.py": "import keras\nfrom pkg.ops import mean\nmean(keras.Input((2,)))\n",
    "plain.py": "import os\n# nothing of keras\nos.getcwd()\n",
    "broken.py": "import keras\nprint 1\n",
}


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for name, source in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    examples = (each.before for rule in all_rules() for each in rule.invalid[:1])
    return [
        *((str(tmp_path / name), source) for name, source in PROJECT.items()),
        *((str(tmp_path / "example.py"), source) for source in examples),
    ]


def may_fire(sources):
    """Ask one examiner of sources, one after another."""
    examiner = Examiner(ScanOptions(newest_target()))
    take = examiner._package.trees.take
    # Each rule's answer for itself.
    return {each: frozenset(examiner._gate.may_fire(*each, take(each[1]))) for each in sources}


def test_the_order_of_the_files_changes_nothing(sources):
    said = may_fire(sources)
    assert any(said.values())
    assert not all(said.values())
    assert may_fire(sources[::-1]) == may_fire(sources[1::2] + sources[::2]) == said


def test_what_was_asked_before_changes_nothing(sources):
    said = may_fire(sources)
    for each in sources[: len(PROJECT) + 5]:
        assert may_fire([each]) == {each: said[each]}
