"""A sharp trigger lets near misses by unparsed, and none of what is written in an unusual way."""

from __future__ import annotations

import ast
import re
from functools import partial
from random import Random

import pytest

from benchmarks.speed.material import filled, templates
from benchmarks.speed.trees import _HEADS
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import trigger_of
from kdoctor.engine.examine import Examiner
from kdoctor.engine.rule_prefilter import RulePrefilter
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target, oracle
from kdoctor.modules.exports import ProjectPackage
from kdoctor.rules import all_rules

_FACTS = TargetFacts(newest_target())


def _holds(trigger, quick):
    return trigger.holds(quick, _FACTS)


def _cases(text):
    """Return what stands below each `# KD…`, with that code."""
    _, *parts = re.split(r"^# (KD\d+)\n", text, flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


_PACKAGE = ProjectPackage(oracle(newest_target()).star_names)
_GATE = RulePrefilter(
    ["keras"],
    {rule.code: partial(_holds, trigger_of(rule.triggers)) for rule in all_rules()},
    _PACKAGE,
)


@pytest.mark.parametrize("style", ["keras", "tf"])
def test_no_file_of_modern_code_is_opened(style):
    """All of the benchmark's chunks without findings in one file, where any word meets any other."""
    modern = [*templates("any"), *templates(style)]
    source = "\n\n".join([_HEADS[style], *(filled(each, Random(1)) for each in modern)])  # noqa: S311
    opened_by = _GATE.may_fire("nowhere/f.py", source, ast.parse(source))
    assert {*opened_by} == {"KD710"}  # which is not asked without `--namespace`


OWN = """
import tensorflow as tf
from inspect import signature as ask
from keras import Input as symbol, random as draw
from keras.layers import Dense, Dropout as Drop, Layer as Base
from keras.random import normal as noise
from keras.utils import Sequence as Fed
from tensorflow import TensorShape as Shape, function as graph, VariableAggregation as How
"""
BEHIND_OWN_NAMES = """
# KD306
from own import Base, How
class Mine(Base):
    def build(self, given):
        self.w = self.add_weight((3,), aggregation=How.MEAN)

# KD306
import own
class Mine(own.Base):
    def build(self, given):
        self.w = self.add_weight(3)

# KD409
from own import Fed
class Data(Fed):
    def __getitem__(self, index):
        return [self.a, self.b], self.c

# KD410
from own import Dense
from keras import Sequential
Sequential([Dense(1)]).predict([1, 2])

# KD412
from own import Dense
for each in Dense(3).weights: each.name.rpartition("/")

# KD415
from own import symbol
symbol((4,)).shape != [None, 4]

# KD415
import own as o
isinstance(o.symbol((4,)).shape, o.Shape)

# KD419
from own import Base, noise
class Noise(Base):
    def call(self, x):
        return x + noise((2,), seed=1)

# KD419
import own
class Noise(own.Base):
    def call(self, x):
        return x + own.draw.normal((2,), seed=1)

# KD423
from own import *
def build():
    return Drop(0.5)(inputs=symbol((3,)), training=True)

# KD433
from own import Dense, ask
ask(Dense.__init__)

# KD433
from own import Dense
from inspect import getfullargspec
getfullargspec(Dense)

# KD508
from own import graph as fast, symbol
@fast
def double(y): return y
double(symbol((3,)))
"""


@pytest.mark.parametrize(("code", "source"), _cases(BEHIND_OWN_NAMES))
def test_what_a_module_of_the_project_brings_in_is_found_behind_the_gate(code, source, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "own.py").write_text(OWN)
    scan_options = ScanOptions(newest_target(), codes=(code,), diffs=False, anchors=False)
    found = Examiner(scan_options).examine(str(tmp_path / "f.py"), source.encode()).scan.findings
    assert {each.code for each in found} == {code}


# Keras or Python refuse them: what is passed cannot be told, and nothing is said of it.
SENSELESS = """
# KD412
import keras
model = keras.Sequential([keras.layers.Dense(1)])
model.weights[0].name.split(*"/")

# KD415
import keras
import tensorflow as tf
x = keras.Input((4,))
isinstance(x.shape, cls=tf.TensorShape)
isinstance(*x.shape, tf.TensorShape)

# KD433
import inspect
import keras
inspect.signature(*keras.layers.Dense)
"""


@pytest.mark.parametrize(("code", "source"), _cases(SENSELESS))
def test_what_cannot_be_told_is_found_neither_behind_the_gate_nor_without_it(code, source):
    scan_options = ScanOptions(
        newest_target(), codes=(code,), gate=False, diffs=False, anchors=False
    )
    assert not Examiner(scan_options).examine("nowhere/f.py", source.encode()).scan.findings
