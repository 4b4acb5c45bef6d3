"""A metric returns the result of `tf.py_function`, a tensor of unknown shape.

## What it does
Reports metric functions that return the result of `tf.py_function`, `tf.numpy_function` or
`tf.py_func`, unchanged, cast, or after simple arithmetic with a number: functions passed to
`compile` as `metrics`, and functions of `y_true` and `y_pred` in a file that compiles nothing and
never calls them. Files that run eagerly (`run_eagerly=True`) are not reported.

## Why it breaks
TensorFlow does not know the shape of a value computed in Python. Keras 2 took its mean. Keras 3
asks for the rank: `ValueError: Cannot take the length of shape with unknown rank.`

## What to write instead
The same value reshaped to one dimension: `tf.reshape(tf.py_function(…), (-1,))`. The mean is that
of Keras 2, both for a single number and for one per sample. `keras.metrics.AUC()` accumulates over
all batches of an epoch, unlike the mean of `roc_auc_score` per batch.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, for metrics that return one number, and one per sample, with
a smaller last batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.uses import names_with_spelling
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Context

Function = cst.FunctionDef | cst.Lambda

_PYTHON: Final = frozenset({"numpy_function", "py_func", "py_function"})
_KEEP_IT: Final = frozenset({"cast", "convert_to_tensor", "identity", "stop_gradient"})
# They say what the shape is; or nothing is traced.
_SHAPED: Final = frozenset({"ensure_shape", "set_shape"})
_EAGER: Final = frozenset({
    "enable_eager_execution", "experimental_run_functions_eagerly", "run_eagerly",
    "run_functions_eagerly",
})  # fmt: skip
_MAX_DEPTH: Final = 6
_UNKNOWN: Final = "ValueError: Cannot take the length of shape with unknown rank."


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such result of a metric."""
    if not module.words.isdisjoint(_EAGER | _SHAPED):
        return
    measured = _measured(module)
    functions: list[Function] = [*module.nodes(cst.FunctionDef), *module.nodes(cst.Lambda)]
    for function in functions:
        given = [(each, _from_python(module, each)) for each in _given(function)]
        found = [(each, call) for each, call in given if call is not None]
        if not found or not _is_metric(module, function, measured):
            continue
        for value, call in found:
            if not module.is_guarded(value):
                yield _finding(module, value, call)


def _finding(module: Module, value: cst.BaseExpression, call: cst.Call) -> Finding:
    called = module.source(call.func)
    fix = None
    if isinstance(call.func, cst.Attribute):
        place = module.outer_span(value)
        opening = f"{module.source(call.func.value).removesuffix('.compat.v1')}.reshape("
        edit = Edit(place, (opening, Hole(place), ", (-1,))"))
        fix = rule.fix("Reshape it to one dimension", edit, proven_by=INVALID)
    return rule.finding(
        module.place(value),
        f"the result of `{called}` has no known shape, but Keras 3 needs the rank of a metric: "
        f"{_UNKNOWN}",
        symbol="keras.Model.compile(metrics)",
        confidence=Confidence.LIKELY,
        help="Write `tf.reshape(value, (-1,))`: Keras takes its mean, as Keras 2 did.",
        fix=fix or NoFix("there is no name for TensorFlow here to call `reshape` on"),
    )


def _given(function: Function) -> list[cst.BaseExpression]:
    """Return what a function gives."""
    if isinstance(function, cst.Lambda):
        return [function.body]
    returned = [each.value for each in own_nodes(function.body) if isinstance(each, cst.Return)]
    return [each for each in returned if each is not None]


def _from_python(module: Module, node: cst.BaseExpression, depth: int = 0) -> cst.Call | None:
    """Return the call of `tf.py_function` whose result an expression has the shape of."""
    if depth > _MAX_DEPTH:
        return None
    node = value_of(module, node)
    match node:
        case cst.Call(func=function):
            name = module.qualified(function) or ""
            package, _, leaf = name.rpartition(".")
            if package.partition(".")[0] != "tensorflow":
                return None
            if leaf in _PYTHON:
                return node if _gives_one_tensor(node) else None
            if leaf in _KEEP_IT and node.args and node.args[0].keyword is None:
                return _from_python(module, node.args[0].value, depth + 1)
        case cst.BinaryOperation(left=cst.BaseNumber(), right=value):
            return _from_python(module, value, depth + 1)
        case cst.BinaryOperation(left=value, right=cst.BaseNumber()):
            return _from_python(module, value, depth + 1)
        case cst.UnaryOperation(expression=value, operator=cst.Minus()):
            return _from_python(module, value, depth + 1)
    return None


def _gives_one_tensor(call: cst.Call) -> bool:
    """Say whether one type is asked for: of a list of them comes a list."""
    asked = argument(call, "Tout", 2)
    return asked is not None and isinstance(asked.value, cst.Attribute | cst.SimpleString)


def _is_metric(module: Module, function: Function, measured: frozenset[cst.CSTNode]) -> bool:
    """Say whether a function is one that Keras measures with."""
    if function in measured:
        return True
    if isinstance(function, cst.Lambda) or function.decorators or "compile" in module.words:
        return False
    if not isinstance(module.parent(module.parent(function) or function), cst.Module | None):
        return False  # a method, or a function within another
    is_spelled_once = len(names_with_spelling(module, function.name.value)) == 1
    return is_spelled_once and module.context_of(function.body) is Context.LOSS_OR_METRIC


def _measured(module: Module) -> frozenset[cst.CSTNode]:
    """Return the functions of the file that `compile` is given as metrics."""
    found: set[cst.CSTNode] = set()
    for call in module.nodes(cst.Call):
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "compile":
            continue
        if module.qualified(call.func) is not None or module.is_guarded(call):
            continue
        for given in (argument(call, "metrics", 2), argument(call, "weighted_metrics", 4)):
            if given is not None:
                found.update(_functions(module, value_of(module, given.value)))
    return frozenset(found)


def _functions(module: Module, given: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield what stands in a list or a dict of metrics: lambdas, and functions by their names."""
    if isinstance(given, cst.List | cst.Tuple | cst.Dict):
        for each in given.elements:
            if isinstance(each, cst.Element | cst.DictElement):
                yield from _functions(module, each.value)
    elif isinstance(given, cst.Lambda):
        yield given
    elif isinstance(given, cst.Name):
        bindings = module.bindings_at(given)
        if len(bindings) == 1:
            yield bindings[0].node
            if isinstance(bindings[0].value, cst.Lambda) and not bindings[0].path:
                yield bindings[0].value


def _may_give_one(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a function of TensorFlow is called that runs Python's."""
    return any(
        name.partition(".")[0] == "tensorflow" and name.rpartition(".")[2] in _PYTHON
        for name in quick.calls_by_meaning
    ) and ("compile" in quick.written or _has_targets(quick))


def _has_targets(quick: QuickFacts) -> bool:
    """Say whether a function has parameters as a loss or a metric has them."""
    return any(
        len(each.args.args) > 1 and each.args.args[0].arg.lower().replace("_", "") == "ytrue"
        for each in quick.nodes.get(ast.FunctionDef, ())
    )


rule = Rule(
    code="KD521",
    name="metric-of-unknown-shape",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*_PYTHON) & Trigger(_may_give_one),
    since="3.0",
    only_alone=True,
)

_HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n\n\n"
_FIT = (
    "rows = np.arange(30.0).reshape((10, 3)) / 30\n"
    "model = keras.Sequential([keras.layers.Dense(2, kernel_initializer='ones')])\n"
    "model.compile(keras.optimizers.SGD(0.0), 'mse', metrics={})\n"
    "history = model.fit(rows, rows[:, :2], batch_size=4, shuffle=False, verbose=0)\n"
)
_NUMBER = "def hit(true, pred):\n    return float(np.mean(true * pred))\n\n\n"
_VECTOR = "def hit(true, pred):\n    return np.mean(true * pred, axis=-1)\n\n\n"
_METRIC = "def product(y_true, y_pred):\n    return {}\n\n\n"
_AROUND = (
    "def product(y_true, y_pred):\n    def hit(true, pred):\n"
    "        return np.mean(true * pred)\n\n    return {}\n\n\n"
)
_CALLED = "tf.py_function(hit, (y_true, y_pred), tf.float32)"
_IN_NUMPY = "tf.numpy_function(hit, [y_true, y_pred], tf.float32)"
_SHAPE = "tf.reshape({}, (-1,))"
_SAME = "round(history.history['product'][0], 4)"


def _whole(head: str, given: str, metric: str = _METRIC, metrics: str = "[product]") -> str:
    return _HEAD + head + metric.format(given) + _FIT.format(metrics)


VALID = [
    _whole(_NUMBER, _SHAPE.format(_CALLED)),
    _whole(_NUMBER, f"tf.reduce_mean({_CALLED})"),
    # It is told its shape.
    _whole(_NUMBER, f"tf.ensure_shape({_CALLED}, ())"),
    _HEAD + _NUMBER + f"def product(y_true, y_pred):\n    value = {_CALLED}\n"
    "    value.set_shape(())\n    return value\n\n\n" + _FIT.format("[product]"),
    # Nothing is traced.
    _whole(_NUMBER, _CALLED).replace("metrics=", "run_eagerly=True, metrics="),
    # No metric: a step of a pipeline, a loss, a function that another calls.
    _HEAD + _NUMBER + _METRIC.format(_CALLED) + "data = data.map(product)\nmodel.compile('sgd')",
    _HEAD + _NUMBER + _METRIC.format(_CALLED) + "model.compile('sgd', product)",
    _HEAD + _NUMBER + _METRIC.format(_CALLED) + "print(product(1.0, 2.0).numpy())",
    _HEAD + _NUMBER + _METRIC.format(_CALLED).replace("y_true", "image").replace("y_pred", "mask"),
    _HEAD + "def made():\n    def product(y_true, y_pred):\n"
    f"        return {_CALLED}\n\n    return product\n",
    f"{_HEAD}class Measure:\n    def product(y_true, y_pred):\n        return {_CALLED}\n",
    # A list of tensors comes of a list of types.
    _whole(_NUMBER, _CALLED.replace("tf.float32", "[tf.float32]") + "[0]"),
    _whole(_NUMBER, "tf.py_function(hit, (y_true, y_pred), types)"),
    # Another function of that name, and Keras 2.
    _whole(_NUMBER, "np.py_function(hit, (y_true, y_pred), np.float32)"),
    _whole(_NUMBER, _CALLED).replace("import keras\n", "import tf_keras as keras\n"),
    # The code knows that it may fail.
    _HEAD + _NUMBER + "def product(y_true, y_pred):\n    try:\n"
    f"        return {_CALLED}\n    except ValueError:\n        return 0.0\n\n\n"
    + _FIT.format("[product]"),
]  # fmt: skip


def _example(before: str, after: str, raises: str | None = _UNKNOWN) -> Example:
    return Example(before=before, after=after, raises=raises, on_keras_2=True, same=_SAME)


INVALID = [
    _example(_whole(_NUMBER, _CALLED), _whole(_NUMBER, _SHAPE.format(_CALLED))),
    _example(_whole(_VECTOR, _IN_NUMPY), _whole(_VECTOR, _SHAPE.format(_IN_NUMPY))),
    # Cast, and worked on with numbers.
    *(
        _example(_whole(_NUMBER, given), _whole(_NUMBER, _SHAPE.format(given)))
        for given in (
            f"tf.cast({_CALLED.replace('tf.float32', 'tf.double')}, 'float32')",
            f"1 - {_CALLED}",
            f"-{_CALLED} * 100.0",
            "tf.compat.v1.py_func(hit, [y_true, y_pred], tf.float64)",
        )
    ),
    # By a name; the function within it; as a lambda; in a dict.
    _example(
        _HEAD + _NUMBER + f"def product(target, output):\n"
        f"    value = {_CALLED.replace('y_true', 'target').replace('y_pred', 'output')}\n"
        "    return value\n\n\n" + _FIT.format("[product]"),
        _HEAD + _NUMBER + f"def product(target, output):\n"
        f"    value = {_CALLED.replace('y_true', 'target').replace('y_pred', 'output')}\n"
        "    return tf.reshape(value, (-1,))\n\n\n" + _FIT.format("[product]"),
    ),
    _example(
        _whole("", _IN_NUMPY, _AROUND, "['mae', product]"),
        _whole("", _SHAPE.format(_IN_NUMPY), _AROUND, "['mae', product]"),
    ),
    Example(
        before=_HEAD + _NUMBER + _FIT.format(f"[lambda y_true, y_pred: {_CALLED}]"),
        after=_HEAD + _NUMBER + _FIT.format(f"[lambda y_true, y_pred: {_SHAPE.format(_CALLED)}]"),
        raises=_UNKNOWN,
        on_keras_2=True,
        check="assert len(history.history) == 2",
    ),
    # A file of metrics, which another one compiles with.
    Example(
        before=_HEAD + _NUMBER + _METRIC.format(_CALLED),
        after=_HEAD + _NUMBER + _METRIC.format(_SHAPE.format(_CALLED)),
        check=_FIT.format("[product]"),
    ),
    # Imported by itself: what to write is not known.
    Example(
        before="from tensorflow import py_function\n" + _HEAD + _NUMBER
        + _METRIC.format(_CALLED.replace("tf.py", "py")) + _FIT.format("[product]"),
        raises=_UNKNOWN,
    ),
]  # fmt: skip
