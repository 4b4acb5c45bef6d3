"""`isinstance(input_shape, list)` in `build` is true for every layer loaded from a `.keras` file.

## What it does
Reports `isinstance(input_shape, list)` (also with `tuple`, and `type(input_shape) is list`) in the
`build` of a subclass of `Layer`: the usual way to tell several inputs from one.

## Why it breaks
Keras 3 passes `build` a tuple if there is one input. But it stores the shape in a `.keras` file as
JSON, which has no tuples, and calls `build` with what it reads: `[None, 32, 3]` is a list too. The
layer mistakes one shape for several: `ValueError: too many values to unpack (expected 2)`,
`TypeError: 'int' object is not subscriptable`. `isinstance(input_shape, (list, tuple))` is true for
every shape, read from a file or not. `.h5` files do not store the shape.

A layer that always takes several inputs is fine: `x, a = inputs` in its `call`, or in `build`
`assert isinstance(input_shape, list)`, `if not isinstance(input_shape, list): raise …`.

## What to write instead
Check the first element: `isinstance(input_shape[0], (list, tuple))`. One shape holds numbers and
None, several hold shapes.

## How we know
Run on Keras 3.15.1: layers with one and with two inputs, saved to `.keras` and loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.models.user_classes import holds_original_argument
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.forms import is_call_of
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.model import Edit, Finding, NoFix, Precedence, Severity
from kdoctor.rules.behaviour._several_inputs import takes_several_inputs
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.blocks import last_statement
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_MAKES_SHAPES = frozenset({"build_from_config", "get_build_config"})


def _takes_a_shape(build: FormalSignature) -> bool:
    return len(build.by_position) == 2 and not build.has_positional_only


@rule(
    "KD431",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(
        "build",
        of=Kind.LAYER,
        where=_takes_a_shape,
        holding=is_call_of("isinstance", "type"),
        guarded=True,
    ),
)
def check(build: Method) -> Iterator[Finding]:
    """Report each such question."""
    module, facts, owner = build.module, build.facts, build.owner
    if not (facts.runs_keras_3("keras") or facts.runs_keras_3("tf.keras")):
        return
    # Keras calls it with shapes of its own.
    if _MAKES_SHAPES & owner.methods.keys() or takes_several_inputs(module, owner.node):
        return
    shape = build.node.params.params[1].name.value
    asked = [e for e in descendants(build.node.body) if isinstance(e, cst.BaseExpression)]
    if any(_is_of_first(each, shape) for each in asked):
        return  # it looks into the shape already
    may_be_a_dict = any(_asked_for(module, each, shape, {"dict", "Mapping"}) for each in asked)
    for each in asked:
        if not _asked_for(module, each, shape, {"list"}) or module.is_guarded(each):
            continue
        if module.scope_of(each).node is not build.node:
            continue
        if _is_parameter(module, each, build.node) and not _is_demanded(module, each):
            yield _finding(build, each, shape, may_be_a_dict=may_be_a_dict)


def _is_demanded(module: Module, question: cst.BaseExpression) -> bool:
    """Say whether `build` raises where the answer is no: so it was yes before there was a file."""
    goes_on = True
    test: cst.CSTNode = question
    above = module.parent(test)
    while isinstance(above, cst.BooleanOperation | cst.UnaryOperation):
        if isinstance(above, cst.UnaryOperation):
            goes_on = not goes_on
        test, above = above, module.parent(above)
    match above:
        case cst.Assert():
            return goes_on and above.test is test
        case cst.If(orelse=cst.Else(body=otherwise)) if above.test is test and goes_on:
            return isinstance(last_statement(otherwise), cst.Raise)
        case cst.If(body=then) if above.test is test:
            return not goes_on and isinstance(last_statement(then), cst.Raise)
    return False


def _is_parameter(module: Module, question: cst.BaseExpression, build: cst.FunctionDef) -> bool:
    """Say whether the name still holds what ``build`` was called with."""
    asked = question.args[0].value if isinstance(question, cst.Call) else None
    if isinstance(question, cst.Comparison) and isinstance(question.left, cst.Call):
        asked = question.left.args[0].value
    return asked is not None and holds_original_argument(module, asked, build.params.params[1])


def _asked_for(module: Module, node: cst.BaseExpression, shape: str, types: set[str]) -> bool:
    match node:
        case cst.Call(
            func=cst.Name(value="isinstance"),
            args=[cst.Arg(value=cst.Name(value=name)), cst.Arg(value=asked)],
        ):
            return name == shape and bool(types & _names(module, asked))
        case cst.Comparison(
            left=cst.Call(func=cst.Name(value="type"), args=[cst.Arg(value=cst.Name(value=name))]),
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.Equal(), comparator=asked)],
        ):
            return name == shape and bool(types & _names(module, asked))
    return False


def _names(module: Module, asked: cst.BaseExpression) -> set[str]:
    several = [each.value for each in asked.elements] if isinstance(asked, cst.Tuple) else [asked]
    return {module.source(each).rpartition(".")[2] for each in several}


def _is_of_first(node: cst.BaseExpression, shape: str) -> bool:
    match node:
        case cst.Call(
            func=cst.Name(value="isinstance" | "hasattr" | "len"),
            args=[cst.Arg(value=cst.Subscript(value=cst.Name(value=name))), *_],
        ):
            return name == shape
    return False


def _finding(
    build: Method, question: cst.BaseExpression, shape: str, *, may_be_a_dict: bool
) -> Finding:
    written = f"isinstance({shape}[0], (list, tuple))"
    return build.finding(
        "this is also true for one input: `build` gets a tuple, or a list when the layer is "
        "loaded from a `.keras` file"
        if "tuple" in build.source(question)
        else "this is also true for one input when the layer is loaded from a `.keras` file: "
        "`build` gets a list",
        at=question,
        symbol="Layer.build",
        help=f"Write `{written}`: one shape holds numbers and None, several hold shapes.",
        fix=NoFix("the shape may be a dict, which has no first element")
        if may_be_a_dict
        else build.fix(
            "Check the first element of the shape",
            Edit(build.module.span(question), (written,), Precedence.PRIMARY),
            unsafe_because="an empty shape has no first element",
        ),
    )


_LAYER = """import keras


class Sum(keras.layers.Layer):
    def build(self, input_shape):
        self.several = {}
        shapes = input_shape if self.several else [input_shape]
        self.w = self.add_weight(name='w', shape=(shapes[0][-1],))
        super().build(input_shape)

    def call(self, inputs):
        return (sum(inputs) if self.several else inputs) * self.w
"""
_DEMANDING = _LAYER.replace("self.several = {}", "self.several = True\n        {}")
_REFUSING = _LAYER.replace(
    "self.several = {}", "self.several = False\n        if {}:\n            raise ValueError(1)"
)
_ASKED = "isinstance(input_shape[0], (list, tuple))"
_SUMMED = "        return (sum(inputs)"
_APART = f"""        if isinstance(inputs, list):
            one, other = inputs
            return (one + other) * self.w
{_SUMMED}"""
_LEAVING = f"""        if not isinstance(inputs, (list, tuple)):
            return inputs * self.w
        one, other = inputs
{_SUMMED}"""
_BY_MODE = f"""        if self.several:
            one, other = inputs
            return (one + other) * self.w
{_SUMMED}"""
_TWO_OR_MORE = """        if len(inputs) == 3:
            x, a, _ = inputs
        else:
            x, a = inputs
        return x * a * self.w"""
_SAVED = """import os
import tempfile


def again(*inputs):
    model = keras.Model(inputs, Sum()(list(inputs) if len(inputs) > 1 else inputs[0]))
    path = os.path.join(tempfile.mkdtemp(), 'a.keras')
    model.save(path)
    return keras.models.load_model(path, custom_objects={'Sum': Sum}).layers[-1].several


"""
_ONE = _SAVED + "assert not again(keras.Input((3,)))\n"
_TWO = _SAVED + "assert again(keras.Input((3,)), keras.Input((3,)))\n"

VALID = [
    _LAYER.format(_ASKED),
    _LAYER.format("isinstance(input_shape, list) and isinstance(input_shape[0], tuple)"),
    _LAYER.format("isinstance(input_shape, tuple)"),
    _LAYER.format("isinstance(input_shape, list)").replace(
        "    def call", "    def get_build_config(self):\n        return None\n\n    def call"
    ),
    "class Sum:\n    def build(self, input_shape):\n        return isinstance(input_shape, list)\n",
    # What is given to a layer, and what Keras asks a shape for, is as it was made.
    _LAYER.format("False").replace("(sum(inputs)", "(isinstance(inputs, list) and sum(inputs)"),
    _LAYER.format("False") + "\n    def compute_output_shape(self, input_shape):\n"
    "        return input_shape[0] if isinstance(input_shape, list) else input_shape\n",
    # It takes several inputs, and nothing else.
    _DEMANDING.format("assert isinstance(input_shape, list) and len(input_shape) == 2"),
    _DEMANDING.format(
        "if not isinstance(input_shape, list) or len(input_shape) < 2: raise ValueError"
    ),
    _DEMANDING.format(
        "if isinstance(input_shape, (list, tuple)):\n            self.several = True\n"
        "        else:\n            raise ValueError(input_shape)"
    ),
    # It always takes its inputs apart.
    *(
        _LAYER.format("isinstance(input_shape, (list, tuple))").replace(
            "        return (sum(inputs) if self.several else inputs) * self.w", body
        )
        for body in (
            "        x, a = inputs\n        return x * a * self.w",
            "        return inputs[0] * inputs[1] * self.w",
            _TWO_OR_MORE,
        )
    ),
    (
        "import keras\n\n\nclass Base(keras.layers.Layer):\n    def build(self, input_shape):\n"
        "        shape = input_shape[0] if isinstance(input_shape, list) else input_shape\n\n\n"
        "class Mine(Base):\n    def call(self, inputs):\n        x, a = inputs\n        return x\n"
    ),
    (
        "import keras\n\n\nclass Base(keras.layers.Layer):\n    def call(self, inputs):\n"
        "        x, a = inputs\n        return x\n\n\n"
        "class Mine(Base):\n    def build(self, input_shape):\n"
        "        shape = input_shape[0] if isinstance(input_shape, list) else input_shape\n"
    ),
    # The shape was made a list before.
    _LAYER.format("isinstance(input_shape, list)").replace(
        "        self.several", "        input_shape = [*input_shape]\n        self.several"
    ),
    "import tf_keras as " + _LAYER.format("isinstance(input_shape, list)").removeprefix("import "),
]
INVALID = [
    Example(
        before=_LAYER.format("isinstance(input_shape, list)"),
        after=_LAYER.format(_ASKED),
        unsafe=True,
        check=_ONE,
    ),
    Example(
        before=_LAYER.format("isinstance(input_shape, (list, tuple))"),
        after=_LAYER.format(_ASKED),
        unsafe=True,
        check=_SAVED + "one = keras.Input((3,))\nassert not again(one)\n",
    ),
    Example(
        before=_LAYER.format("type(input_shape) is list"),
        after=_LAYER.format(_ASKED),
        unsafe=True,
        check=_ONE + "assert again(keras.Input((3,)), keras.Input((3,)))\n",
    ),
    # What is not always taken apart may be one as well.
    *(
        Example(
            before=_LAYER.format("isinstance(input_shape, list)").replace(_SUMMED, body),
            after=_LAYER.format(_ASKED).replace(_SUMMED, body),
            unsafe=True,
            check=_ONE,
        )
        for body in (_APART, _LEAVING, _BY_MODE)
    ),
    # It may be one of these as well.
    Example(
        before=_LAYER.format("isinstance(input_shape, list) or isinstance(input_shape, dict)"),
        check=_TWO,
    ),
    # Who takes one input alone refuses it when it is loaded.
    Example(
        before=_REFUSING.format("isinstance(input_shape, list)"),
        after=_REFUSING.format(_ASKED),
        unsafe=True,
        check=_ONE,
    ),
]
