"""``optimizer.lr``: the learning rate is now ``learning_rate``.

## What it does
Reports reads of `.lr` from an optimizer, including `K.get_value(model.optimizer.lr)` and
`optimizer.lr *= 0.1`. (A KD4 rule reports a plain `optimizer.lr = 0.1`, which silently has no
effect.) Also reports the check at the start of callbacks copied from Keras 2,
`if not hasattr(self.model.optimizer, "lr"): raise …`.

## Why it breaks
`lr` was an alias of `learning_rate` up to Keras 2. Keras 3 does not have it: `AttributeError:
'Adam' object has no attribute 'lr'`. The attribute exists only after an assignment, and the
optimizer ignores it: a read then returns the assigned value, whatever the learning rate is. The
`hasattr` check fails, and the callback raises at the first epoch.

## What to write instead
`optimizer.learning_rate`. Its value as a number is `float(optimizer.learning_rate)`, even if the
optimizer was created with a schedule. `optimizer.lr(step)` called the schedule: call the schedule
itself now.

## How we know
Run on Keras 3.15.1 with `Adam` and `SGD`; the fixed code on Keras 3 returned the same numbers as
the old code on Keras 2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, changes_of, reads_of, word
from kdoctor.model import Confidence, Edit, Finding, NoFix, Severity, Span
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind, Type

_TELL_SCHEDULES = frozenset({"isinstance", "callable"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each read, and each update, which reads as well."""
    for use in module.members:
        mine = use.owner_defines and not use.is_assigned
        if _is_it(use.owner, use.member) and not mine and not module.is_guarded(use.node):
            if use.called is not None and not _is_asked_for(module, use):
                yield _called(module, use)
            else:
                yield _finding(module, use.node, use.owner, is_assigned=use.is_assigned)
    for store in module.member_stores:
        if _is_update(store) and not module.is_guarded(store.node):
            yield _finding(module, store.node, store.owner, is_assigned=False)
    for owner, name, raised in _refusals(module):
        if not module.is_guarded(name):
            yield _refused(module, owner, name, raised)


def _refusals(module: Module) -> Iterator[tuple[Type, cst.SimpleString, cst.Raise]]:
    """Yield the optimizer and the `"lr"` of each `if not hasattr(optimizer, "lr"): raise …`.

    Not where something is given an attribute of that name, nor of an optimizer of the file's own.
    """
    if any(store.member == "lr" for store in module.member_stores):
        return
    for node in module.nodes(cst.If):
        match node:
            case cst.If(
                test=cst.UnaryOperation(
                    operator=cst.Not(),
                    expression=cst.Call(
                        func=cst.Name(value="hasattr"),
                        args=[
                            cst.Arg(value=asked),
                            cst.Arg(value=cst.SimpleString(raw_value="lr") as name),
                        ],
                    ),
                ),
                body=cst.IndentedBlock(
                    body=[cst.SimpleStatementLine(body=[cst.Raise() as raised]), *_]
                )
                | cst.SimpleStatementSuite(body=[cst.Raise() as raised]),
            ) if (owner := module.type_of(asked)) is not None and _is_it(owner, "lr"):
                known = module.oracle.class_type(owner.qualified) if owner.qualified else None
                if owner.cls is None or (known is not None and known.cls == owner.cls):
                    yield owner, name, raised


def _refused(module: Module, owner: Type, name: cst.SimpleString, raised: cst.Raise) -> Finding:
    span = module.span(name)
    begin = len(name.prefix) + len(name.quote)
    inside = Span(span.start + begin, span.end - len(name.quote))
    return rule.finding(
        module.place(name),
        f"an optimizer no longer has `lr`: {_error(module, raised)}",
        symbol=symbol(owner, "lr"),
        confidence=Confidence.LIKELY,
        help="It is now `learning_rate`.",
        fix=rule.fix("Check for `learning_rate` instead of `lr`", Edit(inside, ("learning_rate",))),
    )


def _error(module: Module, raised: cst.Raise) -> str:
    """Return what a statement raises, as Python shows it where that is written out."""
    match raised.exc:
        case cst.Call(func=cst.Name(value=name), args=[cst.Arg(value=cst.SimpleString() as text)]):
            return f"{name}: {text.raw_value}"
    return module.source(raised)


def _may_be_refused(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value == "lr"
        for called in quick.calls_by_leaf.get("hasattr", ())
        for each in called.node.args
    )


def _is_it(owner: Type, member: str) -> bool:
    return owner.kind is Kind.OPTIMIZER and member == "lr"


def _is_update(store: MemberStore) -> bool:
    is_it = _is_it(store.owner, store.member) and not store.owner_defines
    return is_it and store.how is BindingKind.AUGMENT


def _is_asked_for(module: Module, use: MemberUse) -> bool:
    """Say whether it is called only where it is a schedule: which `learning_rate` never is."""
    rate = module.source(use.node)
    return any(
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value in _TELL_SCHEDULES
        and bool(call.args)
        and module.source(call.args[0].value) == rate
        for each in module.ancestors(use.node)
        if isinstance(each, cst.If | cst.IfExp)
        for call in (each.test, *descendants(each.test))
    )


def _called(module: Module, use: MemberUse) -> Finding:
    """Return the finding of ``optimizer.lr(step)``, which was a schedule."""
    return rule.finding(
        module.place(use.node),
        _message(use.owner, is_assigned=use.is_assigned),
        symbol=symbol(use.owner, "lr"),
        confidence=Confidence.LIKELY,
        severity=_severity(is_assigned=use.is_assigned),
        help="Keep the schedule in a variable, and call it; `float(optimizer.learning_rate)` is "
        "the rate of the next step.",
        fix=NoFix(
            "a schedule is called here: `learning_rate` returns the rate, a number, not "
            "the schedule"
        ),
    )


def _message(owner: Type, *, is_assigned: bool) -> str:
    if is_assigned:
        return (
            "`lr` of an optimizer is not its learning rate, but a value that this file assigned: "
            "Keras 3 uses `learning_rate`"
        )
    return f"an optimizer no longer has `lr`: {attribute_error(owner, 'lr')}"


def _severity(*, is_assigned: bool) -> Severity:
    return Severity.CHANGE if is_assigned else Severity.ERROR


def _finding(module: Module, node: cst.Attribute, owner: Type, *, is_assigned: bool) -> Finding:
    return rule.finding(
        module.place(node),
        _message(owner, is_assigned=is_assigned),
        symbol=symbol(owner, "lr"),
        confidence=Confidence.LIKELY,
        severity=_severity(is_assigned=is_assigned),
        help="It is now `learning_rate`.",
        fix=rule.fix(
            "Read `.learning_rate` instead of `.lr`",
            Edit(module.span(node.attr), ("learning_rate",)),
        ),
    )


rule = Rule(
    code="KD206",
    name="optimizer-lr",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=reads_of({Kind.OPTIMIZER}, "lr")
    | changes_of({Kind.OPTIMIZER}, "lr")
    | (word("hasattr") & word("lr") & Trigger(_may_be_refused)),
    since="3.0",
)

VALID = [
    "import keras\noptimizer = keras.optimizers.Adam()\noptimizer.learning_rate",
    "import keras\nlr = 0.1\nkeras.optimizers.Adam(lr)",
    "import tf_keras\ntf_keras.optimizers.Adam().lr",
    (
        "import keras\noptimizer = keras.optimizers.Adam()\nif hasattr(optimizer, 'lr'):\n"
        "    optimizer.lr"
    ),
    "import keras\nfrom mine import Optimizer\nOptimizer().lr",
    (
        "import keras\n\n\nclass Mine(keras.optimizers.SGD):\n    lr = 0.1\n\n\n"
        "print(Mine().lr)\nMine().lr *= 2"
    ),
    (
        "import keras\n\n\nclass Mine(keras.optimizers.SGD):\n    def __init__(self, lr):\n"
        "        super().__init__(lr)\n        self.lr = lr\n\n    def show(self):\n"
        "        print(self.lr)"
    ),
    # It is asked for, and done without.
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def on_epoch_begin(self, epoch, logs=None):\n"
        "        if not hasattr(self.model.optimizer, 'lr'):\n            return\n"
        "        if not hasattr(self.model, 'lr'):\n            raise ValueError"
    ),
    # It gets such an attribute.
    (
        "import keras\nkeras.optimizers.Adam().lr = 0.1\n\n\n"
        "def asked(model: keras.Model):\n"
        "    if not hasattr(model.optimizer, 'lr'):\n        raise ValueError"
    ),
    # Nothing is read here.
    "import keras\noptimizer = keras.optimizers.Adam()\noptimizer.lr = 0.1",
]
_COMPILED = (
    "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
    'model.compile("sgd", "mse")\n'
)
_SCHEDULED = (
    "import keras\n\nSchedule = keras.optimizers.schedules.LearningRateSchedule\n"
    "schedule = keras.optimizers.schedules.ExponentialDecay(0.5, 9, 0.5)\n"
    "optimizer = keras.optimizers.SGD(schedule)\n"
)
INVALID = [
    Example(
        before=f"{_COMPILED}rate = float(model.optimizer.lr)",
        after=f"{_COMPILED}rate = float(model.optimizer.learning_rate)",
        raises="AttributeError: ",
        same="round(rate, 6)",
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\nprint(optimizer.lr)",
        after="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\n"
        "print(optimizer.learning_rate)",
        raises="AttributeError: 'Adam' object has no attribute 'lr'",
    ),
    # The rate of a schedule is a number.
    Example(
        before=f"{_SCHEDULED}print(optimizer.lr(3))",
        raises="AttributeError: 'SGD' object has no attribute 'lr'",
    ),
    Example(
        before=f"{_SCHEDULED}rate = float(\n    optimizer.lr(optimizer.iterations)\n"
        "    if isinstance(optimizer.lr, Schedule)\n    else optimizer.lr\n)",
        after=f"{_SCHEDULED}rate = float(\n    optimizer.learning_rate(optimizer.iterations)\n"
        "    if isinstance(optimizer.learning_rate, Schedule)\n    else optimizer.learning_rate\n)",
        raises="AttributeError: 'SGD' object has no attribute 'lr'",
        findings=3,
        on_keras_2=True,
        same="rate",
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\noptimizer.lr *= 0.5",
        after="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\n"
        "optimizer.learning_rate *= 0.5",
        raises="AttributeError: 'Adam' object has no attribute 'lr'",
        check="assert float(optimizer.learning_rate) == 0.25",
    ),
    Example(
        before=f"{_COMPILED}\n\nclass Halve(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        print(float(self.model.optimizer.lr))\n\n\n"
        "halve = Halve()\nhalve.set_model(model)\nhalve.on_epoch_end(0)",
        after=f"{_COMPILED}\n\nclass Halve(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        print(float(self.model.optimizer.learning_rate))\n\n\n"
        "halve = Halve()\nhalve.set_model(model)\nhalve.on_epoch_end(0)",
        raises="AttributeError: ",
    ),
    Example(
        before=f"{_COMPILED}\n\nclass Schedule(keras.callbacks.Callback):\n"
        "    def on_epoch_begin(self, epoch, logs=None):\n"
        "        if not hasattr(self.model.optimizer, 'lr'):\n"
        "            raise ValueError('The optimizer must have a rate.')\n\n\n"
        "schedule = Schedule()\nschedule.set_model(model)\nschedule.on_epoch_begin(0)\nruns = True",
        after=f"{_COMPILED}\n\nclass Schedule(keras.callbacks.Callback):\n"
        "    def on_epoch_begin(self, epoch, logs=None):\n"
        "        if not hasattr(self.model.optimizer, 'learning_rate'):\n"
        "            raise ValueError('The optimizer must have a rate.')\n\n\n"
        "schedule = Schedule()\nschedule.set_model(model)\nschedule.on_epoch_begin(0)\nruns = True",
        raises="ValueError: The optimizer must have a rate.",
        on_keras_2=True,
        same="runs",
    ),
]
