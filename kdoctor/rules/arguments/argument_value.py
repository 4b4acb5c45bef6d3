"""Argument values that Keras 2 accepted and the target refuses.

## What it does
Checks the values of some arguments: an int as the shape of an `Input`, a list as the `axis` of
`BatchNormalization`, a single string for `metrics=`, `'auto'` for the `reduction` of a loss, a
slash in a name, short names that no longer exist (`'logcosh'`, `'kld'` as a metric, `'maxnorm'`,
`'l1_l2'`, `'constant'`, Keras 1's `'fmeasure'`; the dtypes `'float'`, `'double'` and `'half'`), and
the `padding` of pooling layers in upper case. Also `class_weight='auto'`, which Keras up to
2.3 ignored.

## Why it breaks
Keras 3 is stricter: `ValueError: Cannot convert '4' to a shape.`, `TypeError: int() argument must
be … not 'list'`, `ValueError: Expected `metrics` argument to be a list, tuple, or dict.`,
`ValueError: Invalid value for argument `reduction``, `ValueError: Argument `name` must be a string
and cannot contain character `/``, `ValueError: Could not interpret loss identifier`, `ValueError:
Invalid dtype: double`, `ValueError: Exception encountered when calling MaxPooling2D.call().
Argument `padding` must be either 'valid' or 'same'.`

## What to write instead
`keras.Input((4,))`, `axis=3`, `metrics=["accuracy"]`; leave out `reduction='auto'`, which means
`'sum_over_batch_size'`; replace the slash by another character; write the full name (`'log_cosh'`,
`'max_norm'`, `'float64'`).

## How we know
Each value was run on Keras 3.15.1 and on tf_keras 2.21. Renaming a layer or a metric needs
`--unsafe`: saved weights and other code may use the old name.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._crossentropies import NAMED_SHORT, crossentropy
from kdoctor.rules.arguments._int_expressions import an_int_is_passed, is_int
from kdoctor.rules.arguments._keras_calls import KerasCall, keras_calls
from kdoctor.rules.arguments._layer_name_parts import Functions
from kdoctor.rules.arguments._loss_reductions import HANDED_ON, LEFT_AS_IS, reduction
from kdoctor.rules.arguments._may_be_refused import MAY_BE_REFUSED
from kdoctor.rules.arguments._padding_case import FINE, REFUSED, padding
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.rules.arguments._retired_string_values import dtype, initializer, known_as, regularizer
from kdoctor.rules.arguments._short_names import CONSTRAINTS, LOSSES, METRICS, OF_KERAS_1
from kdoctor.rules.arguments._slashed_names import (
    SLASHED,
    UNSLASHED,
    is_named,
    of_own,
    slashed_name,
)
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each value that is surely refused."""
    calls = [*keras_calls(module, facts)]
    functions = Functions(module, {each.call: each for each in calls if is_named(each)})
    refused = [(call, each) for call in calls for each in _values(module, functions, call)]
    refused += of_own(module, facts, functions)
    for call, each in refused:
        if not module.is_guarded(call.call):
            yield _finding(module, call, each)


def _values(module: Module, functions: Functions, call: KerasCall) -> Iterator[Refused]:
    if call.leaf == "Input":
        yield from _shape(module, call)
    if call.leaf == "BatchNormalization":
        yield from _axis(module, call)
    if call.kind is Kind.LOSS:
        yield from reduction(module, call.call)
    if is_named(call):
        yield from slashed_name(module, functions, argument(call.call, "name"))
    if call.kind is Kind.LAYER:
        for each in call.call.args:
            keyword = "" if each.keyword is None else each.keyword.value
            if keyword.endswith("_constraint"):
                yield from known_as(module, each.value, CONSTRAINTS, "constraint")
            if keyword.endswith("_regularizer"):
                yield from regularizer(module, each)
            if keyword.endswith("_initializer"):
                yield from initializer(module, each)
    yield from dtype(module, call)
    yield from padding(module, call)
    if call.owner is not None and call.leaf == "compile":
        yield from _compiled(module, call)
    if call.owner is not None and call.leaf == "fit":
        yield from _class_weight(module, call)


def _shape(module: Module, call: KerasCall) -> Iterator[Refused]:
    given = argument(call.call, "shape", 0)
    if given is None:
        return
    passed = an_int_is_passed(module, given.value)
    if not passed and not is_int(module, given.value):
        return
    span = module.outer_span(given.value)
    source = module.source(given.value)
    # `(4)` is an int in parentheses: the comma goes inside them.
    inside = module.span(given.value)
    edit = (
        Edit(span, ("(", Hole(span), ",)")) if inside == span else Edit(inside, (Hole(inside), ","))
    )
    yield Refused(
        given,
        f"ValueError: Cannot convert '{literal(value_of(module, given.value))}' to a shape."
        if isinstance(value_of(module, given.value), cst.Integer)
        else "ValueError: Cannot convert an int to a shape.",
        "A shape is a tuple.",
        (edit,),
        f"Write `({source},)`",
        unsafe_because="another call may pass a shape" if passed else "",
        proofs=("Input(",),
    )


def _axis(module: Module, call: KerasCall) -> Iterator[Refused]:
    given = argument(call.call, "axis", 0)
    if given is None or not isinstance(given.value, cst.List | cst.Tuple):
        return
    kind = "list" if isinstance(given.value, cst.List) else "tuple"
    error = (
        "TypeError: int() argument must be a string, a bytes-like object or a real number, not "
        f"'{kind}'"
    )
    if len(given.value.elements) != 1:
        yield Refused(
            given,
            error,
            "Reshape the input, so that the axes to normalize become one axis.",
            no_fix_because="Keras 3 normalizes along one axis only",
        )
        return
    element = given.value.elements[0].value
    edit = Edit(module.outer_span(given.value), (Hole(module.outer_span(element)),))
    yield Refused(
        given, error, "An axis is an int.", (edit,), f"Write `{module.source(element)}`",
        proofs=("axis=[",),
    )  # fmt: skip


def _class_weight(module: Module, call: KerasCall) -> Iterator[Refused]:
    given = argument(call.call, "class_weight")
    if given is None or not isinstance(literal(given.value), str):
        return
    edits = remove_arguments(module, call.call, [given])
    yield Refused(
        given,
        "AttributeError: 'str' object has no attribute 'get'",
        "Pass a dict from class to weight, for example `dict(enumerate(weights))` with the "
        "weights of `sklearn.utils.class_weight.compute_class_weight`.",
        tuple(edits or ()),
        f"Leave out `class_weight={module.source(given.value)}`",
        unsafe_because="all classes then have the same weight, as in the releases that accepted it",
        no_fix_because="there is a comment inside it",
    )


def _compiled(module: Module, call: KerasCall) -> Iterator[Refused]:
    loss, metrics = argument(call.call, "loss", 1), argument(call.call, "metrics")
    if loss is not None:
        for each in _elements(loss.value):
            yield from known_as(module, each, LOSSES, "loss")
    if metrics is None:
        return
    if isinstance(metrics.value, cst.SimpleString):
        span = module.outer_span(metrics.value)
        yield Refused(
            metrics,
            "ValueError: Expected `metrics` argument to be a list, tuple, or dict. Received "
            f"instead: metrics={metrics.value.raw_value} of type <class 'str'>",
            "`metrics` is a list.",
            (Edit(span, ("[", Hole(span), "]")),),
            f"Write `[{module.source(metrics.value)}]`",
            proofs=("metrics=",),
        )
    for each in _elements(metrics.value):
        if isinstance(each, cst.SimpleString) and each.raw_value in OF_KERAS_1:
            yield Refused(
                each,
                f"ValueError: Could not interpret metric identifier: {each.raw_value}",
                f"It was removed after Keras 1: pass `{OF_KERAS_1[each.raw_value]}`, or a "
                "custom metric.",
                no_fix_because="it was the mean over batches, which no metric computes any more",
            )
        yield from known_as(
            module,
            each,
            METRICS,
            "metric",
            "the history then logs the metric under its new name",
        )
        yield from crossentropy(module, each, loss)


def _elements(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match node:
        case cst.List() | cst.Tuple():
            yield from (each.value for each in node.elements)
        case cst.Dict():
            yield from (each.value for each in node.elements if isinstance(each, cst.DictElement))
        case _:
            yield node


def _finding(module: Module, call: KerasCall, refused: Refused) -> Finding:
    fix = None
    if refused.edits:
        proven = [
            each
            for each in INVALID
            if each.after
            and not each.unsafe
            and any(word in each.before for word in refused.proofs)
        ]
        fix = rule.fix(
            refused.title,
            *refused.edits,
            imports=refused.imports,
            unsafe_because=refused.unsafe_because,
            proven_by=proven,
        )
    return rule.finding(
        module.place(refused.node),
        f"`{call.leaf}` no longer accepts this value: {refused.error}",
        symbol=call.name,
        confidence=call.confidence,
        help=refused.help,
        fix=fix or NoFix(refused.no_fix_because),
    )


rule = Rule(
    code="KD305",
    name="argument-value",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=MAY_BE_REFUSED,
    since="3.0",
)

VALID = [
    *UNSLASHED,
    *FINE,
    "import keras\nkeras.Input((4,)), keras.Input(shape=[4]), keras.Input(shape)",
    "import keras\nkeras.Input(x.shape[1:])",
    "import keras\ndef f(s):\n    if type(s) is tuple:\n        return keras.Input(s)\nf(3)",
    "import keras\ndef f(s):\n    return keras.Input(s)\nf((3,))",
    "import keras\nkeras.layers.BatchNormalization(axis=-1), keras.layers.BatchNormalization(3)",
    "import keras\nkeras.losses.MeanSquaredError(reduction='none')",
    *LEFT_AS_IS,
    "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'kld', metrics=['mse', 'acc'])",
    "import keras\nmodel = keras.Sequential()\nmodel.compile('sgd', 'mse', metrics=metrics)",
    "import keras\nkeras.Input((4,), dtype='float64'), keras.layers.Dense(3, dtype=float)",
    "import keras\nkeras.layers.Dense(3, name='half'), keras.layers.StringLookup(dtype='float')",
    "import tf_keras\ntf_keras.Input(4), tf_keras.Input((4,), dtype='double')",
    "import keras\nfrom mine import Input\nInput(4)",
]
_MODEL = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
INVALID = [
    Example(
        before="import keras\n\nx = keras.Input(4)\ny = keras.Input(shape=(4))",
        after="import keras\n\nx = keras.Input((4,))\ny = keras.Input(shape=(4,))",
        raises="ValueError: Cannot convert '4' to a shape.",
        findings=2,
        same="tuple(x.shape), tuple(y.shape)",
    ),
    Example(
        before="import keras\nimport numpy as np\n\ndata = np.ones((2, 5))\n"
        "x = keras.Input(shape=data.shape[1], name='data')",
        after="import keras\nimport numpy as np\n\ndata = np.ones((2, 5))\n"
        "x = keras.Input(shape=(data.shape[1],), name='data')",
        raises="ValueError: Cannot convert ",
        same="tuple(x.shape)",
    ),
    Example(
        before="import keras\n\ndef mine(n, name):\n    return keras.Input(n, name=name)\n\n"
        "x = mine(n=4, name='x')",
        after="import keras\n\ndef mine(n, name):\n    return keras.Input((n,), name=name)\n\n"
        "x = mine(n=4, name='x')",
        raises="ValueError: Cannot convert ",
        unsafe=True,
        same="tuple(x.shape)",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.BatchNormalization(axis=[3])\n"
        "layer.build((None, 2, 2, 5))",
        after="import keras\n\nlayer = keras.layers.BatchNormalization(axis=3)\n"
        "layer.build((None, 2, 2, 5))",
        raises="TypeError: int() argument must be a string, a bytes-like object or a real "
        "number, not 'list'",
        same="[tuple(each.shape) for each in layer.weights]",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.BatchNormalization(axis=(1, 2))",
        raises="TypeError: int() argument must be a string, a bytes-like object or a real "
        "number, not 'tuple'",
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', 'mse', metrics='mae')\n"
        "names = sorted(model.fit(x, x, verbose=0).history)",
        after=f"{_MODEL}model.compile('sgd', 'mse', metrics=['mae'])\n"
        "names = sorted(model.fit(x, x, verbose=0).history)",
        raises="ValueError: Expected `metrics` argument to be a list, tuple, or dict. Received "
        "instead: metrics=mae of type <class 'str'>",
        prelude="import numpy as np\n\nx = np.ones((2, 1))",
        same="names",
    ),
    *HANDED_ON,
    Example(
        before="import keras\n\nloss = keras.losses.MeanSquaredError(reduction='auto', name='l')\n"
        "value = float(loss([[1.0], [2.0]], [[0.0], [0.0]]))",
        after="import keras\n\nloss = keras.losses.MeanSquaredError(name='l')\n"
        "value = float(loss([[1.0], [2.0]], [[0.0], [0.0]]))",
        raises="ValueError: Invalid value for argument `reduction`.",
        same="value",
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', loss='logcosh')\n"
        "value = round(model.evaluate(0 * x, x, verbose=0), 5)",
        after=f"{_MODEL}model.compile('sgd', loss='log_cosh')\n"
        "value = round(model.evaluate(0 * x, x, verbose=0), 5)",
        raises="ValueError: Could not interpret loss identifier: logcosh",
        prelude="import numpy as np\n\nx = np.ones((2, 1))",
        same="value",
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', 'mse', metrics=['kld', 'mae'])\n"
        "model.fit(x, x, verbose=0)",
        after=f"{_MODEL}model.compile('sgd', 'mse', metrics=['kl_divergence', 'mae'])\n"
        "model.fit(x, x, verbose=0)",
        raises="ValueError: Could not interpret metric identifier: kld",
        prelude="import numpy as np\n\nx = np.ones((2, 1))",
        unsafe=True,
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(3, kernel_constraint='maxnorm')\n"
        "limit = float(layer.kernel_constraint.get_config()['max_value'])",
        after="import keras\n\nlayer = keras.layers.Dense(3, kernel_constraint='max_norm')\n"
        "limit = float(layer.kernel_constraint.get_config()['max_value'])",
        raises="ValueError: Could not interpret constraint identifier: maxnorm",
        same="limit",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(3, kernel_regularizer='l1_l2')\n"
        "weights = {k: round(float(v), 4)\n"
        "           for k, v in layer.kernel_regularizer.get_config().items()}",
        after="import keras\n\nlayer = keras.layers.Dense(3, "
        "kernel_regularizer=keras.regularizers.L1L2(l1=0.01, l2=0.01))\n"
        "weights = {k: round(float(v), 4)\n"
        "           for k, v in layer.kernel_regularizer.get_config().items()}",
        raises="ValueError: Could not interpret regularizer identifier: l1_l2",
        same="weights",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(3, bias_initializer='constant')\n"
        "layer.build((None, 2))\nbias = layer.bias.numpy().tolist()",
        after="import keras\n\nlayer = keras.layers.Dense(3, bias_initializer='zeros')\n"
        "layer.build((None, 2))\nbias = layer.bias.numpy().tolist()",
        raises="KeyError: 'value'",
        same="bias",
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', 'mse')\n"
        "model.fit(x, x, class_weight='auto', verbose=0)",
        after=f"{_MODEL}model.compile('sgd', 'mse')\nmodel.fit(x, x, verbose=0)",
        raises="AttributeError: 'str' object has no attribute 'get'",
        prelude="import numpy as np\n\nx = np.ones((2, 1))",
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', 'mse', metrics=['fmeasure'])\n"
        "model.fit(x, x, verbose=0)",
        raises="ValueError: Could not interpret metric identifier: fmeasure",
        prelude="import numpy as np\n\nx = np.ones((2, 1))",
    ),
    Example(
        before="import keras\n\nx = keras.Input((4,), dtype='half')\n"
        "y = keras.layers.InputLayer((4,), dtype='double')",
        after="import keras\n\nx = keras.Input((4,), dtype='float16')\n"
        "y = keras.layers.InputLayer((4,), dtype='float64')",
        raises="ValueError: Invalid dtype: half",
        findings=2,
        same="getattr(x.dtype, 'name', x.dtype), y.dtype",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(4, dtype='double')\n"
        "layer.build((None, 3))\n"
        "total = keras.metrics.Sum(dtype='half')\ntotal.update_state([1.0, 2.0])",
        after="import keras\n\nlayer = keras.layers.Dense(4, dtype='float64')\n"
        "layer.build((None, 3))\n"
        "total = keras.metrics.Sum(dtype='float16')\ntotal.update_state([1.0, 2.0])",
        raises="ValueError: Cannot convert 'double' to a mixed precision DTypePolicy.",
        findings=2,
        same="layer.dtype, layer.compute_dtype, [getattr(each.dtype, 'name', each.dtype)"
        " for each in layer.weights], total.dtype, total.result().numpy().tolist()",
    ),
    Example(
        before="import keras\n\n\nclass Scaled(keras.layers.Layer):\n"
        "    def __init__(self):\n        super().__init__(dtype='half')\n\n"
        "    def build(self, input_shape):\n"
        "        self.scale = self.add_weight(name='scale', shape=(3,), dtype='double')\n\n\n"
        "layer = Scaled()\nlayer.build((None, 3))",
        after="import keras\n\n\nclass Scaled(keras.layers.Layer):\n"
        "    def __init__(self):\n        super().__init__(dtype='float16')\n\n"
        "    def build(self, input_shape):\n"
        "        self.scale = self.add_weight(name='scale', shape=(3,), dtype='float64')\n\n\n"
        "layer = Scaled()\nlayer.build((None, 3))",
        raises="ValueError: Cannot convert 'half' to a mixed precision DTypePolicy.",
        findings=2,
        same="layer.dtype, getattr(layer.scale.dtype, 'name', layer.scale.dtype)",
    ),
    Example(
        before="import keras\n\nspec = keras.layers.InputSpec('double', ndim=2)\n"
        "policy = keras.mixed_precision.Policy('half')\n"
        "keras.mixed_precision.set_global_policy('float')\nlayer = keras.layers.Dense(4)",
        after="import keras\n\nspec = keras.layers.InputSpec('float64', ndim=2)\n"
        "policy = keras.mixed_precision.Policy('float16')\n"
        "keras.mixed_precision.set_global_policy('float32')\nlayer = keras.layers.Dense(4)",
        raises="ValueError: Invalid dtype: double",
        findings=3,
        same="spec.dtype, policy.compute_dtype, policy.variable_dtype, layer.dtype",
    ),
    *SLASHED,
    *REFUSED,
    *NAMED_SHORT,
]
