"""The rules about members open the gate for what may be such an object, however it gets there."""

from __future__ import annotations

import pytest

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import trigger_of
from kdoctor.engine.examine import Examiner
from kdoctor.engine.rule_prefilter import RulePrefilter
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target, oracle
from kdoctor.modules.exports import ProjectPackage
from kdoctor.rules import all_rules

FACTS = TargetFacts(newest_target())
TRIGGERS = {rule.code: trigger_of(rule.triggers) for rule in all_rules()}


def opens(code, source, path="nowhere/f.py"):
    package = ProjectPackage(oracle(newest_target()).star_names)
    gate = RulePrefilter(
        ["keras"], {code: lambda quick: TRIGGERS[code].holds(quick, FACTS)}, package
    )
    source = f"import keras\n{source}"
    return gate.admits(path, source, package.trees.take(source))


def found(code, source, path):
    scan_options = ScanOptions(newest_target(), codes=(code,), diffs=False, anchors=False)
    return Examiner(scan_options).examine(path, f"import keras\n{source}".encode()).scan.findings


NEAR_MISSES = [
    # A callback has a model, a layer makes weights, a set takes items, a dict gives them.
    ("KD205", "class C(keras.callbacks.Callback):\n    def f(self):\n        self.model.stop = 1"),
    ("KD205", "class L(keras.layers.Layer):\n    def build(self, s):\n        self.add_weight()"),
    ("KD205", "keras.Sequential().add(keras.layers.Dense(1))"),
    ("KD205", "m = keras.Model()\nseen = set()\nseen.add(m)\nkwargs.pop('m')"),
    ("KD205", "def size(model):\n    return model.count_params()\nkeras.metrics.Mean()"),
    ("KD205", "class M(keras.metrics.Metric): ...\nclass A:\n    def f(self):\n        self.weights"),
    ("KD205", ("class L(keras.losses.Loss):\n    def __init__(self):\n        self.count = 0\n"
              "    def call(self, a, b):\n        return self.count")),
    ("KD206", "class Args: ...\nargs = Args()\nkeras.optimizers.Adam(args.lr)"),
    ("KD207", "class A:\n    def f(self):\n        return self.value, np.concatenate(self.parts)"),
    ("KD208", "keras.layers.LSTM(3).reset_states()"),
    ("KD214", "class A:\n    def f(self):\n        self.layers, self.output = [], keras.Model()"),
    ("KD217", "options.variables()\nkeras.optimizers.Adam()"),
    ("KD218", "class A:\n    def f(self):\n        return self.output\nkeras.Sequential()"),
    ("KD219", "def f(args):\n    return args.params['metrics'], keras.callbacks.Callback()"),
    ("KD225", ("class A(keras.layers.Layer):\n    def call(self, x):\n        a, b = x\n        return a\n"
              "class B(keras.layers.Layer):\n    def call(self, x):\n        return x\n"
              "    def compute_output_shape(self, shape):\n        return shape")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "source"), NEAR_MISSES)
def test_a_member_of_something_else_does_not_open_the_gate(code, source):
    assert not opens(code, source)
    assert not found(code, source, "nowhere/f.py")


SNEAKY = [
    ("KD205", "m, n = keras.Sequential(), 1\n[m for m in r]\nm.fit_generator(d)"),
    ("KD205", ("class K:\n    @property\n    def m(self):\n        return self.n\n    def g(self):\n"
              "        self.n = keras.Sequential()\n        self.m.predict_classes(1)")),
    ("KD205", "def f(model):\n    model.compile('sgd', loss='mse')\n    model.fit_generator(d)"),
    ("KD205", "class M(keras.Model):\n    def f(me):\n        return lambda: me.to_yaml()"),
    ("KD205", "if (m := keras.Sequential()):\n    del m.a\n    m.to_yaml()"),
    ("KD205", "for i, (a, l) in enumerate(zip(r, keras.Sequential().layers)):\n    l.output_shape"),
    ("KD206", "opt = keras.optimizers.Adam()\nopt.lr *= 2"),
    ("KD206", "o = keras.Sequential().optimizer\nprint(o.lr)\no.lr = 3"),
    ("KD207", "x = keras.Input((4,))\ns = t = x.shape\nt.as_list()"),
    ("KD208", "def make():\n    global m\n    m = keras.Sequential()\ndef f():\n    m.reset_states()"),
    ("KD214", "x = keras.Input((4,))\nm = keras.Model(x, x)\nm.layers, n = [], 1"),
    ("KD219", "class C(keras.callbacks.Callback):\n    def f(self):\n        self.params['metrics']"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "source"), SNEAKY)
def test_a_member_of_what_gets_there_in_a_hidden_way_opens_it(code, source):
    assert opens(code, source)
    assert found(code, source, "nowhere/f.py")


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("KD205", "from nets import Net\nNet().fit_generator(d)"),
        ("KD205", "from nets import *\nNet().fit_generator(d)"),
        ("KD205", "import nets\nclass Mine(nets.Net):\n    def f(self):\n        self.to_yaml()"),
        ("KD205", "from nets import Base as B\nclass Mine(B):\n    def f(self):\n        self.to_yaml()"),
        ("KD205", "from nets import Base\ndef f(m: 'Base'):\n    m.to_yaml()"),
    ],
)  # fmt: skip
def test_a_class_of_another_file_opens_it(code, source, tmp_path):
    (tmp_path / "nets.py").write_text(
        "import keras\n\nBase = keras.Model\n\n\nclass Net(Base):\n    pass\n"
    )
    path = str(tmp_path / "f.py")
    assert opens(code, source, path)
    assert found(code, source, path)


def test_what_is_too_deep_to_tell_opens_it():
    steps = "".join(f"x{n + 1} = x{n}\n" for n in range(2000))
    assert opens("KD205", f"x0 = keras.Sequential()\n{steps}x2000.fit_generator(d)")
