"""An optimizer shared by two models raises when the second one is trained.

## What it does
Reports an optimizer that is passed to the `compile` of two models which the file both trains, if
each has its own weights; and one that is created once, while a loop or a function creates, compiles
and trains a new model each time. Models and optimizers are tracked through names, functions and
`self`.

## Why it breaks
Up to Keras 2.10 an optimizer created its slots for each weight on first use: GANs shared one `Adam`
between both of their models, and cross-validation one between all folds. Since Keras 2.11 an
optimizer is built with the weights of the model that is trained first, and knows no others:
`ValueError: Unknown variable: … This optimizer can only be called for the variables it was
originally built with` (`KeyError: The optimizer cannot recognize variable …` up to 2.15).

## What to write instead
One optimizer per model:

    critic.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-4))
    both.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-4))

The fix gives a copy of it to all models but the last. It is unsafe, as each copy then counts the
steps of its own model, and a learning rate that is set later applies to only one of them.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.freezing import TRAINING, copy_optimizer_edit
from kdoctor.analysis.triggers import Trigger, attribute, calls_that_make
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.behaviour._shared_optimizers import Compiled, Sharing
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_RAISED = "ValueError: Unknown variable"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each optimizer of several models, where the second is compiled."""
    sharing = Sharing(module)
    if sharing.freezing.is_too_much:
        return
    for clash in sharing.clashes():
        yield _finding(module, clash)


def _finding(module: Module, clash: Sequence[Compiled]) -> Finding:
    ordered = sorted(clash, key=lambda each: module.span(each.given))
    places = {module.span(each.given): each for each in ordered}
    several = list(places.values())
    here = several[min(1, len(several) - 1)]
    written, model = module.source(here.given), module.source(here.use.model)
    made = module.type_of(here.optimizer.call)
    if len(several) == 1:
        message = (
            f"`{written}` is created once, but `{model}` is a new model each time: it only knows "
            f"the weights of the first, and training the second raises `{_RAISED}`"
        )
    else:
        message = (
            f"`{written}` is also the optimizer of `{module.source(several[0].use.model)}`: it "
            "only knows the weights of the model that is trained first, and training the other "
            f"raises `{_RAISED}`"
        )
    changed = several if len(several) == 1 else several[:-1]
    return rule.finding(
        module.place(here.given),
        message,
        symbol=f"{(made and made.cls) or 'Optimizer'}.apply",
        confidence=Confidence.LIKELY,
        help="Create one optimizer per model.",
        fix=rule.fix(
            f"Give each model its own optimizer, a copy of `{written}`",
            *(copy_optimizer_edit(module, each.given) for each in changed),
            unsafe_because="each copy counts the steps of its own model, and a rate that is set "
            "later applies to only one of them",
        ),
    )


def _may_be_shared(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether two calls of ``compile`` may pass one optimizer, or one call again and again."""
    given = [
        (written, called.node)
        for called in quick.calls_by_leaf.get("compile", ())
        if (value := called.argument("optimizer", 0)) is not None
        if (written := ast_dotted_name(value))
    ]
    if not given or not any(calls_that_make(quick, facts, Kind.OPTIMIZER)):
        return False
    if len({written for written, _ in given}) < len(given):
        return True
    return any(
        _is_around(place, call) and not _assigns(quick, place, written)
        for kind in (ast.For, ast.While, ast.FunctionDef)
        for place in quick.nodes.get(kind, ())
        for written, call in given
        if kind is not ast.FunctionDef or "." not in written
    )


def _is_around(place: ast.stmt, node: ast.stmt | ast.expr) -> bool:
    """Say whether a node stands in the lines of a statement."""
    return place.lineno <= node.lineno <= (place.end_lineno or place.lineno)


def _assigns(quick: QuickFacts, place: ast.stmt, written: str) -> bool:
    return any(
        ast_dotted_name(target) == written and _is_around(place, assign)
        for assign in quick.nodes.get(ast.Assign, ())
        for target in assign.targets
    )


rule = Rule(
    code="KD446",
    name="optimizer-of-two-models",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("compile") & attribute(*TRAINING) & Trigger(_may_be_shared),
    since="2.11",
)

_MODELS = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 2)), np.zeros((4, 1))\n"
    "optimizer = keras.optimizers.Adam(0.1)\n"
    "critic = keras.Sequential([keras.layers.Dense(1)])\n"
    "maker = keras.Sequential([keras.layers.Dense(2)])\n"
)
_NOISE = "noise = keras.layers.Input((2,))\nboth = keras.Model(noise, critic(maker(noise)))\n"
_COMPILED = (
    f"{_MODELS}critic.compile(loss='mse', optimizer={{}})  # Adam\n{_NOISE}"
    "both.compile({}, 'mse')\n"
)
_STEPS = (
    "for _ in range(2):\n    critic.trainable = True\n    critic.train_on_batch(x, y)\n"
    "    critic.trainable = False\n    both.train_on_batch(x, y)\n"
)
_COPY = "{0}.from_config({0}.get_config())"
_FOLDS = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 2)), np.zeros((4, 1))\n"
    "adam = keras.optimizers.Adam(0.1)\n"
)
_LOOP = (
    f"{_FOLDS}for fold in range(3):\n    model = keras.Sequential()\n"
    "    model.add(keras.layers.Dense(1))\n    model.compile(optimizer={}, loss='mse')\n"
    "    model.fit(x, y, verbose=0)\n"
)
_MADE = (
    f"{_FOLDS}\n\ndef made():\n    inputs = keras.Input((2,))\n"
    "    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))\n"
    "    model.compile(loss='mse', optimizer={})\n    return model\n\n\n"
    "def run():\n    model = made()\n    model.fit(x, y, verbose=0)\n    return model\n\n\n"
    "{}\n"
)
_CYCLE = (
    "import keras\nimport numpy as np\nfrom keras.layers import Dense, Input\n\n\n"
    "class Cycle:\n    def __init__(self):\n        self.size = 2\n"
    "        self.optimizer = keras.optimizers.Adam(0.1)\n"
    "        self.one = self.build_critic()\n        self.other = self.build_critic()\n"
    "        self.one.compile({}, 'mse')\n"
    "        self.other.compile(optimizer={}, loss='mse')\n"
    "        self.maker = self.build_maker()\n"
    "        image = Input(shape=(self.size,))\n        fake = self.maker(image)\n"
    "        self.both = keras.Model(image, [self.one(fake), self.other(fake)])\n"
    "        self.both.compile({}, ['mse', 'mse'])\n\n"
    "    def build_critic(self):\n        image = Input(shape=(self.size,))\n"
    "        return keras.Model(image, Dense(1)(image))\n\n"
    "    def build_maker(self):\n        model = keras.Sequential()\n"
    "        model.add(Dense(self.size, input_shape=(self.size,)))\n        return model\n\n"
    "    def train(self, x, y):\n        for epoch in range(2):\n"
    "            for critic in (self.one, self.other):\n                critic.trainable = True\n"
    "            self.one.train_on_batch(x, y)\n            self.other.train_on_batch(x, y)\n"
    "            for critic in (self.one, self.other):\n                critic.trainable = False\n"
    "            self.both.train_on_batch(x, [y, y])\n\n\n"
    "Cycle().train(np.ones((4, 2)), np.zeros((4, 1)))\n"
)
_PENALTY = (
    f"{_MODELS}maker.trainable = False\n"
    "image, noise = keras.layers.Input((2,)), keras.layers.Input((2,))\n"
    "judging = keras.Model([image, noise], [critic(image), critic(maker(noise))])\n"
    "judging.compile({0}, ['mse', 'mse'])\ncritic.trainable = False\nmaker.trainable = {2}\n"
    "making = keras.Model(noise, critic(maker(noise)))\nmaking.compile({1}, 'mse')\n"
)
_TURNS = (
    "for _ in range(2):\n    maker.trainable = False\n    critic.trainable = True\n"
    "    judging.train_on_batch([x, x], [y, y])\n    critic.trainable = False\n"
    "    maker.trainable = True\n    making.train_on_batch(x, y)\n"
)
_ALL = (
    "models = [critic, maker]\nfor model in models:\n    model.compile(optimizer={}, loss='mse')\n"
    "    model.fit(x, y, verbose=0)\n"
)
_UNKNOWN = "ValueError: Unknown variable"
VALID = [
    # One for each.
    _COMPILED.format("optimizer", "keras.optimizers.Adam(0.1)") + _STEPS,
    _COMPILED.format("'adam'", "'adam'") + _STEPS,
    # The second has no weights that the first lacks, or is not trained.
    _COMPILED.format("optimizer", "optimizer") + "both.fit(x, y)\ncritic.fit(x, y)\n",
    _COMPILED.format("optimizer", "optimizer") + "both.fit(x, y)\n",
    (
        f"{_FOLDS}inputs = keras.Input((2,))\nhidden = keras.layers.Dense(2)(inputs)\n"
        "whole = keras.Model(inputs, keras.layers.Dense(1)(hidden))\n"
        "part = keras.Model(inputs, hidden)\nsame = keras.Sequential([part])\n"
        "whole.compile(adam, 'mse')\npart.compile(adam, 'mse')\nsame.compile(adam, 'mse')\n"
        "whole.fit(x, y)\npart.fit(x, x)\nsame.fit(x, x)\n"
    ),
    # The first is frozen, trains nothing, and the optimizer is not built by it: KD403.
    _COMPILED.format("optimizer", "optimizer")
    + "critic.trainable = False\ncritic.train_on_batch(x, y)\nboth.train_on_batch(x, y)\n",
    # Built for both, by hand.
    _COMPILED.format("optimizer", "optimizer")
    + "optimizer.build([*critic.trainable_variables, *maker.trainable_variables])\n"
    + _STEPS,
    # The layers that the second trains are those of the first, under another name.
    (
        f"{_FOLDS}layer = keras.layers.Dense(1)\none = keras.Sequential([layer])\n"
        "other = keras.Sequential([keras.layers.Flatten(), layer])\none.compile(adam, 'mse')\n"
        "other.compile(adam, 'mse')\none.fit(x, y)\nother.fit(x, y)\n"
    ),
    # Each trains what the other one leaves frozen, in models of the same parts; but one of them
    # is frozen all the time.
    _PENALTY.format("optimizer", "optimizer", "False")
    + _TURNS.replace("critic.trainable = True", "pass"),
    # A class of the user's that is given one of them adds nothing to it, as far as anyone knows.
    (
        f"{_MODELS}\n\nclass Around(keras.Model):\n    def __init__(self, inner):\n"
        "        super().__init__()\n        self.inner = inner\n\n    def call(self, x):\n"
        "        return self.inner(x)\n\n\naround = Around(critic)\n"
        "critic.compile(optimizer, 'mse')\naround.compile(optimizer, 'mse')\n"
        "critic.fit(x, y)\naround.fit(x, y)\n"
    ),
    # Either the one or the other.
    _MODELS + "if new:\n    critic.compile(optimizer, 'mse')\n    critic.fit(x, y)\n"
    "else:\n    maker.compile(optimizer, 'mse')\n    maker.fit(x, x)\n",
    _MODELS + "if new:\n    critic.compile(optimizer, 'mse')\n    critic.fit(x, y)\n"
    "if old:\n    maker.compile(optimizer, 'mse')\n    maker.fit(x, x)\n",
    _MODELS + "model = critic if new else maker\nmodel.compile(optimizer, 'mse')\n"
    "for _ in range(3):\n    model.fit(x, y)\n",
    # A new one in each round; the same model in each.
    _LOOP.format("keras.optimizers.Adam(0.1)"),
    (
        f"{_FOLDS}model = keras.Sequential([keras.layers.Dense(1)])\nfor fold in range(3):\n"
        "    model.compile(optimizer=adam, loss='mse')\n    model.fit(x, y)\n"
    ),
    (
        f"{_FOLDS}for fold in range(3):\n    model = keras.Sequential([keras.layers.Dense(1)])\n"
        "    adam = keras.optimizers.Adam(0.1)\n    model.compile(adam, 'mse')\n"
        "    model.fit(x, y)\n"
    ),
    (
        f"{_FOLDS}\n\ndef made(rate):\n    adam = keras.optimizers.Adam(rate)\n"
        "    model = keras.Sequential([keras.layers.Dense(1)])\n    model.compile(adam, 'mse')\n"
        "    return model\n\n\none, other = made(0.1), made(0.2)\none.fit(x, y)\nother.fit(x, y)\n"
    ),
    # Made once.
    _MADE.format("adam", "run()"),
    # What the models are made of, or what the optimizer is, is not known.
    (
        f"{_FOLDS}from models import part, head\n\none = keras.Sequential([part])\n"
        "other = keras.Sequential([part, head])\none.compile(adam, 'mse')\n"
        "other.compile(adam, 'mse')\nother.fit(x, y)\none.fit(x, y)\n"
    ),
    _COMPILED.format("optimizer", "optimizer").replace("keras.optimizers.Adam(0.1)", "given")
    + _STEPS,
]
INVALID = [
    Example(
        before=_COMPILED.format("optimizer", "optimizer") + _STEPS,
        after=_COMPILED.format(_COPY.format("optimizer"), "optimizer") + _STEPS,
        raises=_UNKNOWN,
        unsafe=True,
        check="assert int(optimizer.iterations) == int(critic.optimizer.iterations) == 2",
    ),
    # Two that have nothing in common, in any order.
    Example(
        before=f"{_MODELS}for each in (critic, maker):\n    each.build((None, 2))\n"
        "critic.compile(optimizer, 'mse')\nmaker.compile(optimizer, 'mse')\n"
        "maker.fit(x, x, verbose=0)\ncritic.fit(x, y, verbose=0)\n",
        after=f"{_MODELS}for each in (critic, maker):\n    each.build((None, 2))\n"
        "critic.compile(optimizer.from_config(optimizer.get_config()), 'mse')\n"
        "maker.compile(optimizer, 'mse')\n"
        "maker.fit(x, x, verbose=0)\ncritic.fit(x, y, verbose=0)\n",
        raises=_UNKNOWN,
        unsafe=True,
        check="assert int(critic.optimizer.iterations) == 1",
    ),
    # Two of the same parts, that take turns in being frozen.
    Example(
        before=_PENALTY.format("optimizer", "optimizer", "True") + _TURNS,
        after=_PENALTY.format(_COPY.format("optimizer"), "optimizer", "True") + _TURNS,
        raises=_UNKNOWN,
        unsafe=True,
        check="assert int(optimizer.iterations) == int(judging.optimizer.iterations) == 2",
    ),
    # A new model in each round of a loop.
    Example(
        before=_LOOP.format("adam"),
        after=_LOOP.format(_COPY.format("adam")),
        raises=_UNKNOWN,
        unsafe=True,
        check="assert int(model.optimizer.iterations) == 1",
    ),
    # … and in each call of a function.
    Example(
        before=_MADE.format("adam", "one = run()\nother = run()"),
        after=_MADE.format(_COPY.format("adam"), "one = run()\nother = run()"),
        raises=_UNKNOWN,
        unsafe=True,
        check="assert int(other.optimizer.iterations) == 1",
    ),
    Example(
        before=_MADE.format("adam", "for _ in range(3):\n    run()"),
        after=_MADE.format(_COPY.format("adam"), "for _ in range(3):\n    run()"),
        raises=_UNKNOWN,
        unsafe=True,
    ),
    # Those that a loop goes through.
    Example(
        before=_MODELS + _ALL.format("optimizer"),
        after=_MODELS + _ALL.format(_COPY.format("optimizer")),
        raises=_UNKNOWN,
        unsafe=True,
        check="assert int(critic.optimizer.iterations) == 1",
    ),
    # Three of them, kept in `self`.
    Example(
        before=_CYCLE.format(*["self.optimizer"] * 3),
        after=_CYCLE.format(*[_COPY.format("self.optimizer")] * 2, "self.optimizer"),
        raises=_UNKNOWN,
        unsafe=True,
    ),
]
