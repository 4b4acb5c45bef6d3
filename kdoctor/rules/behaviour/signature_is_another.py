"""`inspect.signature(keras.layers.Dense)`: the parameters or defaults have changed.

## What it does
Reports `inspect.signature`, `getfullargspec` and `getargspec` of a class or function of Keras whose
parameters or defaults differ between the last Keras 2 and the target. Classes passed by
`pytest.mark.parametrize` count too. Code that only checks for a parameter by name
(`"autocast" in inspect.signature(…).parameters`) or binds arguments (`.bind(…)`) adapts to the
signature and is not reported.

## Why it breaks
Code that compares the parameters with its own, or builds arguments from them, sees different ones:
`Dense` now has `lora_rank`, and `data_format` of `Conv1D` is None instead of `"channels_last"`.

## What to write instead
If a custom class copies the parameters, adopt those of Keras 3, or forward `**kwargs` and compare
only what the class itself adds. Names that only Keras 3 has can be left out of a comparison.

## How we know
Both signatures are read from the releases, and checked on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_keras_3, is_not_a_variable
from kdoctor.analysis.dataflow.uses import names_with_spelling
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.behaviour.default_changed import LAST_KERAS_2
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.parametrized import pytest_parameter_values

_ASK: Final = frozenset({"inspect.signature", "inspect.getfullargspec", "inspect.getargspec"})


def _may_differ(facts: TargetFacts, name: str) -> bool:
    name = name.removesuffix(".__init__")
    return is_keras_3(facts, name) and bool(_difference(facts, name))


@rule(
    "KD433",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=references(
        "signature", "getfullargspec", "getargspec", where=lambda _, name: name in _ASK
    ).beside(references(where=_may_differ, guarded=True).trigger | attribute("parametrize")),
)
def check(asking: Name) -> Finding | None:
    """Report each question about a signature that changed."""
    module, call = asking.module, asking.call
    if call is None or not call.args or call.args[0].star or _asks_for_one(module, call):
        return None
    changed = {
        name: difference
        for each in _asked(module, call.args[0].value)
        if (name := module.qualified(each)) and is_keras_3(asking.facts, name)
        if (difference := _difference(asking.facts, name))
    }
    return _finding(asking, call, changed) if changed else None


def _asks_for_one(module: Module, node: cst.CSTNode, kept_in: frozenset[str] = frozenset()) -> bool:
    """Say whether all that is asked is if there is a parameter of some name, or which one it is.

    Also by way of variables, those in ``kept_in`` among them: ``names = signature.parameters``.
    """
    while isinstance(above := module.parent(node), cst.Attribute | cst.Call):
        if isinstance(above, cst.Call) and above.func is node and _binds(node):
            return True
        if isinstance(above, cst.Call) and (above.args or above.func is not node):
            return False
        node = above
    match above:
        case cst.ComparisonTarget():
            return isinstance(above.operator, cst.In | cst.NotIn)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            reads = [] if name in kept_in else _reads(module, name)
            return bool(reads) and all(
                _asks_for_one(module, each, kept_in | {name}) for each in reads
            )
    return False


def _binds(function: cst.CSTNode) -> bool:
    """Say whether arguments are bound as a call would bind them, whatever the parameters are."""
    return isinstance(function, cst.Attribute) and function.attr.value in {"bind", "bind_partial"}


def _reads(module: Module, name: str) -> list[cst.Name]:
    return [
        each
        for each in names_with_spelling(module, name)
        if not isinstance(module.parent(each), cst.AssignTarget)
        and not is_not_a_variable(module, each)
    ]


def _asked(module: Module, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what is asked about: the class, that of its ``__init__``, all that pytest passes."""
    if isinstance(node, cst.Attribute) and node.attr.value == "__init__":
        node = node.value
    bound = binding_of(module, node)
    return list(pytest_parameter_values(bound) if bound else ()) or [node]


def _difference(facts: TargetFacts, name: str) -> str:
    """Return in words what is another one, nothing where all is as it was."""
    split = split_root(name)
    if split is None or facts.lookup(name).presence is not Presence.EXISTS:
        return ""
    plain = f"keras.{split[1]}"
    new, old = facts.signature(plain), facts.at_release(LAST_KERAS_2).signature(plain)
    if new is None or old is None:
        return ""
    now = {each.name: each.default for each in new.parameters}
    before = {each.name: each.default for each in old.parameters}
    said = [f"{'without' if each in before else 'with'} `{each}`" for each in _either(now, before)]
    said += [
        f"`{each}={now[each]}`, not {before[each]}"
        for each in now
        if each in before and str(now[each]) != str(before[each])
    ]
    if not said and list(now) != list(before):
        said = ["in a different order"]
    return ", ".join(said[:3])


def _either(now: Collection[str], before: Collection[str]) -> list[str]:
    return [each for each in (*now, *before) if (each in now) != (each in before)]


def _finding(asking: Name, call: cst.Call, changed: dict[str, str]) -> Finding:
    name, difference = next(iter(changed.items()))
    leaf = name.rpartition(".")[2]
    more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
    return asking.finding(
        f"the signature of `{leaf}` changed in Keras 3: {difference}{more}",
        at=call,
        symbol=name,
        confidence=Confidence.LIKELY,
        help="Adopt the parameters of Keras 3 if a custom class copies them, or compare only "
        "what it adds.",
        fix=NoFix("kdoctor cannot tell what the parameters are used for"),
    )


_HEAD = "import inspect\n\nimport keras\n\n"

VALID = [
    _HEAD + "inspect.signature(keras.layers.Flatten)\ninspect.signature(mine)",
    _HEAD + "inspect.signature(keras.layers.Dense(2).call)",
    "import inspect\n\nimport tf_keras\n\ninspect.signature(tf_keras.layers.Dense)",
    # It goes by what it is told.
    _HEAD + "knows = 'autocast' in inspect.signature(keras.layers.Layer.add_weight).parameters",
    _HEAD + "if 'fused' not in inspect.getfullargspec(keras.layers.Dense).args:\n    pass",
    _HEAD + "'lora_rank' in inspect.signature(keras.layers.Dense).parameters.keys()",
    _HEAD + "inspect.signature(keras.layers.Dense).bind(3, use_bias=False).arguments['units']",
    (
        f"{_HEAD}told = inspect.signature(keras.layers.Conv1D)\n\n\ndef filters(*given, **more):\n"
        "    return told.bind_partial(*given, **more).arguments.get('filters')"
    ),
]
INVALID = [
    Example(
        before=_HEAD + "names = list(inspect.signature(keras.layers.Dense).parameters)\n",
        check="assert names[-1] == 'kwargs' and len(names) == 11",
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + "given = inspect.signature(keras.layers.Conv1D.__init__).parameters\n",
        check="assert given['data_format'].default == 'channels_last'",
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + "same = 11 in [len(inspect.signature(keras.layers.Dense).parameters)]\n",
        check="assert same",
        on_keras_2=True,
    ),
    Example(
        before=f"{_HEAD}import pytest\n\n\n"
        "@pytest.mark.parametrize('layer', [keras.layers.Dense, keras.layers.Conv1D])\n"
        "def test(layer):\n    return len(inspect.signature(layer).parameters)\n",
        check="assert test(keras.layers.Dense) == 11",
        on_keras_2=True,
    ),
]
