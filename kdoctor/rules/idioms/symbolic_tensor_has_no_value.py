"""Code that uses the value, the length or the elements of a symbolic tensor.

## What it does
Reports `if x > 0:`, `while x:`, `bool(x)`, `len(x)`, `for t in x:`, `float(x)`, `int(x)` and
NumPy's functions (`np.sum(x)`) where `x` is known to be a symbolic tensor, while a model is built.

## Why it breaks
A symbolic tensor is a placeholder without values. Keras 3 raises `TypeError: A symbolic KerasTensor
cannot be used as a boolean.`, `NotImplementedError: Iterating over a symbolic KerasTensor is not
supported.`, `TypeError: object of type 'KerasTensor' has no len()`,
`ValueError: A KerasTensor is symbolic`. Keras 1 on Theano, and TensorFlow graphs with AutoGraph,
accepted some of this.

## What to write instead
- To choose between values: `keras.ops.where(x > 0, a, b)`.
- To loop over an axis of known size: `for t in keras.ops.unstack(x, axis=1):`.
- For the size of an axis: `x.shape[1]` instead of `len(x)`.
- Instead of a NumPy function, the one with the same name in `keras.ops`: `keras.ops.sum(x)`.
- For real control flow: the `call` of a custom layer.

## How we know
Each form was run on Keras 3.15.1 with `keras.Input`; the errors are quoted from there. Comparisons
with `==` or `is`, such as `x is None`, do not use the values and are not reported; `!=` gives a
symbolic tensor, as `<` does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC
from kdoctor.analysis.triggers import Trigger, may_be_of
from kdoctor.memoize import once
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import conditions_in
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_NO_BOOL = "TypeError: A symbolic KerasTensor cannot be used as a boolean."
_NO_LOOP = "NotImplementedError: Iterating over a symbolic KerasTensor is not supported."
_NO_ARRAY = (
    "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. "
    "It doesn't have any actual numerical value. You cannot convert it to "
)
_BUILTINS = {
    "bool": _NO_BOOL,
    "len": "TypeError: object of type 'KerasTensor' has no len()",
    "float": f"{_NO_ARRAY}a float.",
    "int": f"{_NO_ARRAY}an int.",
    "list": _NO_LOOP,
    "enumerate": _NO_LOOP,
}
# NumPy's functions that look at values; `np.shape(x)` and the like ask the tensor itself.
_OF_NUMPY = frozenset({
    "abs", "absolute", "add", "all", "any", "argmax", "argmin", "argsort", "array", "asarray",
    "ceil", "clip", "concatenate", "cos", "cumsum", "dot", "exp", "expand_dims", "floor", "isnan",
    "log", "matmul", "max", "maximum", "mean", "median", "min", "minimum", "multiply", "prod",
    "round", "sign", "sin", "sort", "sqrt", "square", "stack", "std", "subtract", "sum", "tanh",
    "where", "var",
})  # fmt: skip
_NUMPY_NAMES = frozenset(f"numpy.{name}" for name in _OF_NUMPY)
_ORDERING = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_ASKING = (ast.If, ast.While, ast.IfExp, ast.Assert)
_LOOPING = (ast.For, ast.comprehension)
_QUESTIONS = ("isinstance", "hasattr", "callable", "type")
_HELP = {
    _NO_BOOL: "Use `keras.ops.where(condition, a, b)`, or move the branch into the `call` of a "
    "custom layer.",
    _NO_LOOP: "Use `keras.ops.unstack(x, axis=...)` for an axis of known size.",
    _BUILTINS["len"]: "Use `x.shape[0]`, which is None for a batch of unknown size.",
}
_ARRAY_HELP = "Use the function of `keras.ops` instead of NumPy's; values only exist in `call`."


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such use."""
    for place, error in _misused(module):
        if module.context_of(place) in RUN_WITH_VALUES or module.is_guarded(place):
            continue
        if not _is_in_a_layer(module, place) and not _is_asked_what_it_is(module, place):
            yield _finding(module, place, error)


def _may_be_misused(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether ``_misused`` could find something, by what may be a tensor at all."""
    asking = (each for kind in _ASKING for each in quick.nodes.get(kind, ()))
    loops = (each for kind in _LOOPING for each in quick.nodes.get(kind, ()))
    calls = (
        *(called for name in _BUILTINS for called in quick.calls_of(name)),
        *(
            called
            for name in _NUMPY_NAMES.intersection(quick.calls_by_meaning)
            for called in quick.calls_by_meaning[name]
        ),
    )
    asked = chain(
        ((place, each) for place in asking for each in _may_decide(place.test)),
        ((place, place.iter) for place in loops),
        ((called.node, called.node.args[0]) for called in calls if called.places),
    )
    return may_be_of(quick, facts, asked, {Kind.TENSOR})


def _may_decide(test: ast.expr) -> Iterator[ast.expr]:
    """Yield what a condition needs the value of."""
    for each in conditions_in(test):
        match each:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                yield from (left, *each.comparators)
            case _:
                yield each


def _misused(module: Module) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Yield the symbolic tensors that a statement or expression cannot do with, and the error."""
    for test in (
        *(each.test for each in module.nodes(cst.If)),
        *(each.test for each in module.nodes(cst.While)),
        *(each.test for each in module.nodes(cst.IfExp)),
        *(each.test for each in module.nodes(cst.Assert)),
    ):
        yield from ((each, _NO_BOOL) for each in _conditions(module, test))
    for iterable in (
        *(each.iter for each in module.nodes(cst.For)),
        *(each.iter for each in module.nodes(cst.CompFor)),
    ):
        if _is_one(module, iterable):
            yield iterable, _NO_LOOP
    for call, error in _calls_that_need_a_value(module):
        if call.args and not call.args[0].star and _is_one(module, call.args[0].value):
            yield call, error


def _is_one(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it surely is one symbolic tensor: a model may give a list of them."""
    found = module.type_of(node)
    return found is not None and found.kind is Kind.TENSOR and found.cls is not None


def _conditions(module: Module, test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match test:
        case cst.BooleanOperation():
            yield from _conditions(module, test.left)
            yield from _conditions(module, test.right)
        case cst.UnaryOperation(operator=cst.Not()):
            yield from _conditions(module, test.expression)
        case cst.Comparison(comparisons=[one]) if isinstance(one.operator, _ORDERING):
            if _is_one(module, test.left) or _is_one(module, one.comparator):
                yield test
        case _ if _is_one(module, test):
            yield test


def _calls_that_need_a_value(module: Module) -> Iterator[tuple[cst.Call, str]]:
    """Yield the calls of functions that look at the value of their argument, and the error."""
    for call in module.nodes(cst.Call):
        name = _name_of_builtin(call)
        if name and module.scope_of(call.func).owner(name) is None:
            yield call, _BUILTINS[name]
    for reference in module.references:
        parent, _, leaf = reference.name.rpartition(".")
        made = reference.call
        if parent == "numpy" and leaf in _OF_NUMPY and made and not _name_of_builtin(made):
            yield made, f"{_NO_ARRAY}a NumPy array."


def _name_of_builtin(call: cst.Call) -> str:
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    return name if name in _BUILTINS else ""


def _is_in_a_layer(module: Module, node: cst.CSTNode) -> bool:
    """Say whether the code is handed to a layer, as the function of a ``Lambda``."""
    return any(isinstance(each, cst.Lambda) for each in module.ancestors(node))


def _is_asked_what_it_is(module: Module, place: cst.BaseExpression) -> bool:
    """Say whether the code around looks at the type of what is used here: it may be a list."""
    names = {each.value for each in (place, *descendants(place)) if isinstance(each, cst.Name)}
    around = next(
        (each for each in module.ancestors(place) if isinstance(each, cst.FunctionDef)), module.tree
    )
    return not names.isdisjoint(_asked_what_they_are(module, around))


@once
def _asked_what_they_are(
    module: Module,  # noqa: ARG001 - the answer is kept with it
    around: cst.CSTNode,
) -> frozenset[str]:
    """Return the names whose type some code looks at."""
    return frozenset(
        each.args[0].value.value
        for each in descendants(around)
        if isinstance(each, cst.Call)
        and isinstance(each.func, cst.Name)
        and each.func.value in _QUESTIONS
        and each.args
        and isinstance(each.args[0].value, cst.Name)
    )


def _finding(module: Module, place: cst.BaseExpression, error: str) -> Finding:
    return rule.finding(
        module.place(place),
        f"a symbolic tensor has no value while the model is built: {error}",
        symbol="KerasTensor",
        confidence=Confidence.LIKELY,
        help=_HELP.get(error, _ARRAY_HELP),
        fix=NoFix("code that depends on values has to be restructured"),
    )


rule = Rule(
    code="KD504",
    name="symbolic-tensor-has-no-value",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=SYMBOLIC & Trigger(_may_be_misused),
    since="3.0",
)

_HEAD = "import keras\nimport numpy as np\n\nx = keras.Input((4,), batch_size=2)\n"

VALID = [
    "import keras\nlen(keras.ops.hsplit(keras.Input((4,)), 2))",
    # Neither asks for a value.
    _HEAD + "if x is None or x == 1:\n    pass\nprint(x.shape[0], np.ndim(3), isinstance(x, list))",
    # Tensors with values, and lists of symbolic ones.
    "import keras\n\nx = keras.ops.ones((2, 3))\nif x[0, 0] > 0:\n    print(len(x), float(x[0]))",
    "import keras\n\nxs = [keras.Input((4,)), keras.Input((4,))]\nfor x in xs:\n    print(len(xs))",
    # A model may have several inputs.
    (
        "import keras\n\n\ndef inputs(model: keras.Model):\n"
        "    return [each for each in model.input] if len(model.input) == 2 else model.input"
    ),
    # It may give several, and so may layers that return their states and those of one's own.
    (
        "import keras\n\n\ndef pyramid(backbone: keras.Model):\n"
        "    features = backbone(keras.Input((4,)))\n"
        "    return [each for each in features[1:]] if len(features) > 1 else features"
    ),
    (
        "import keras\n\nout = keras.layers.LSTM(3, return_state=True)(keras.Input((4, 2)))\n"
        "states = [each for each in out]\n\n\nclass Two(keras.layers.Layer):\n"
        "    def call(self, x):\n        return x, x\n\n\nboth = Two()(out[0])\n"
        "parts = [each for each in both]"
    ),
    # In a layer a tensor may have values.
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def call(self, x):\n"
        "        return [t for t in x] if len(x) else x"
    ),
    # It may be a list there.
    (
        "import keras\n\n\ndef joined(x):\n    if isinstance(x, list) and len(x) > 1:\n"
        "        x = keras.layers.concatenate(x)\n    return x\n\n\n"
        "joined(keras.Input((4,)))"
    ),
    # A parameter of which nobody knows what it is.
    "import keras\n\n\ndef block(x):\n    return x if len(x) else None",
]
INVALID = [
    Example(before=_HEAD + "if x[0, 0] > 0:\n    x = x + 1\n", raises=_NO_BOOL),
    Example(before=_HEAD + "y = 1 if x else 2\n", raises=_NO_BOOL),
    Example(before=_HEAD + "y = 1 if x != 0 else 2\n", raises=_NO_BOOL),
    Example(before=_HEAD + "mask = x > 0\nif mask:\n    x = x + 1\n", raises=_NO_BOOL),
    Example(before=_HEAD + "parts = [t for t in x]\n", raises=_NO_LOOP),
    Example(before=_HEAD + "for t in x:\n    print(t)\n", raises=_NO_LOOP),
    Example(
        before=_HEAD + "y = keras.layers.Dense(3)(x)\nparts = [t for t in y]\n", raises=_NO_LOOP
    ),
    Example(before=_HEAD + "print(len(x))\n", raises=_BUILTINS["len"]),
    Example(before=_HEAD + "print(float(x[0, 0]))\n", raises=_BUILTINS["float"]),
    Example(before=_HEAD + "y = np.mean(x)\n", raises=f"{_NO_ARRAY}a NumPy array."),
]
