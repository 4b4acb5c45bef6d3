"""KD312 passes a learning rate where nobody reads it, or where the class was given one."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability

HEAD = "import keras\nimport numpy as np\n\n\nclass Mine(keras.optimizers.Optimizer):\n"
INIT = "    def __init__(self, one{more}):\n        super().__init__({passed})\n        self.one = one\n\n"
APPLY = "    def apply_gradients(self, pairs, **options):\n        return {by}\n\n"
PASSED_ON = APPLY.format(by="self.one.apply_gradients(pairs)")
STEP = "    def update_step(self, gradient, variable, learning_rate):\n        pass\n\n"
RATE = "    @property\n    def learning_rate(self):\n        return self.one.learning_rate\n\n"
SETTER = (
    "    @learning_rate.setter\n    def learning_rate(self, value):\n"
    "        self.one.learning_rate = value\n\n"
)
TRAINED = """
model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
model.compile(Mine(keras.optimizers.SGD(0.5)), "mse")
model.fit(np.ones((4, 2)), np.full((4, 1), 3.0), epochs=2, verbose=0{more})
weights = [float(np.sum(each)) for each in model.get_weights()]
"""


def written(passed: str = "name='mine'", more: str = "", body: str = PASSED_ON) -> str:
    return HEAD + INIT.format(passed=passed, more=more) + body


def told(source: str):
    [finding] = scan(["-"], stdin=source.encode(), select=["KD312"]).findings
    return finding


def fixed(source: str) -> str:
    [file] = fix(["-"], stdin=source.encode(), select=["KD312"], unsafe=True).files
    return file.after.decode()


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("body", "callbacks"),
    [
        (PASSED_ON, ""),
        (f"{PASSED_ON}    def build(self, them):\n        self.one.build(them)\n\n", ""),
        (f"{RATE}{PASSED_ON}", ""),
        (
            f"{RATE}{SETTER}{PASSED_ON}",
            ", callbacks=[keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.25)]",
        ),
    ],
)
def test_what_passes_gradients_on_trains_as_on_keras_2(body, callbacks):
    source = written(body=body) + TRAINED.format(more=callbacks)
    assert told(source).fix.applicability is Applicability.SAFE
    old, new = {}, {}
    exec(source.replace("import keras\n", "import tf_keras as keras\n"), old)  # noqa: S102
    exec(fixed(source), new)  # noqa: S102
    assert new["weights"] == old["weights"]
    assert new["weights"] != [2.0, 0.0]


@pytest.mark.parametrize(
    ("passed", "wanted"),
    [
        ("", "learning_rate=0.0"),
        ("'mine'", "learning_rate=0.0, name='mine'"),
        ("'mine', clipnorm=1.0", "learning_rate=0.0, name='mine', clipnorm=1.0"),
        ("f'{one}', **options", "learning_rate=0.0, name=f'{one}', **options"),
        (
            "\n            # its name\n            name='mine',\n        ",
            "\n            # its name\n            learning_rate=0.0, name='mine',\n        ",
        ),
    ],
)
def test_the_rate_stands_first_and_the_name_is_a_keyword(passed, wanted):
    assert fixed(written(passed, ", **options")) == written(wanted, ", **options")


@pytest.mark.parametrize(
    ("more", "passed", "wanted"),
    [
        (", learning_rate=0.1", "name='mine'", "learning_rate=learning_rate, name='mine'"),
        (", *, lr", "name='mine'", "learning_rate=lr, name='mine'"),
    ],
)
def test_a_rate_that_the_class_is_given_is_passed_and_that_is_unsafe(more, passed, wanted):
    source = written(passed, more, STEP)
    assert fixed(source) == written(wanted, more, STEP)
    assert told(source).fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize(
    ("more", "is_said"),
    [("", True), (", lr", True), (", learning_rate", False)],
)
def test_a_config_of_keras_3_is_thought_of(more, is_said):
    finding = told(written("'mine', **options", f"{more}, **options"))
    assert ("config" in finding.fix.unsafe_because) is is_said


@pytest.mark.parametrize(
    "source",
    [
        written(body=STEP),
        written(body=PASSED_ON + STEP),
        written(body="    def get_config(self):\n        return {}\n"),
        written(body=APPLY.format(by="super().apply_gradients(pairs)")),
        written(body=APPLY.format(by="self.apply(*zip(*pairs))")),
        written(body=PASSED_ON + APPLY.format(by="self.learning_rate * 2").replace("apply", "ask")),
        written(body=APPLY.format(by="self.one.apply_gradients(pairs, self.learning_rate)")),
        written(more=", learning_rate=None", body=STEP),
        written("'mine', 0.1"),
        written("'mine', *one"),
        written("'mine', learning_rate=one"),
        written("'mine', name='yours'"),
    ],
)
def test_a_rate_that_may_matter_is_not_made_up(source):
    finding = told(source)
    assert finding.fix is None
    assert finding.no_fix_because
