"""`weight.name` is now `kernel`, not `dense/kernel:0`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, value_of
from kdoctor.analysis.queries import Read, reads
from kdoctor.keras_api.returns import WEIGHTED_LAYERS
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.behaviour._weight_name_lists import texts_looked_for
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Kind

_METHODS = frozenset({
    *("split", "rsplit", "partition", "rpartition", "replace", "startswith", "endswith", "find"),
    *("index", "rfind", "strip", "rstrip", "removesuffix", "removeprefix", "count"),
})  # fmt: skip
_SEARCHES = frozenset({"startswith", "find", "count"})
_MAKERS = frozenset({"add_weight", "add_variable", "Variable", "variable"})
_NAME_FIRST = frozenset({"add_weight", "add_variable"})
_FIRST = ":0"
_NUMBER = pattern(r"_\d+$")
_DIMENSIONS = pattern(r"\dd(?=_|$)")
_DEFAULT_NAMES = frozenset(
    name
    for layer in WEIGHTED_LAYERS
    for whole in (in_snake_case(layer),)
    for name in (whole, _DIMENSIONS.sub("", whole), whole.replace("normalization", "norm"))
)
OF_WEIGHTS = frozenset({
    *("alpha", "beta", "bias", "count", "depthwise_kernel", "embeddings", "gamma", "kernel"),
    *("mean", "moving_mean", "moving_variance", "pointwise_kernel", "recurrent_kernel", "scale"),
    *("seed_generator_state", "variance", "vector_u"),
})  # fmt: skip
"""What Keras' own layers call their weights."""


@rule(
    "KD412",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=reads("name", on=Kind.VARIABLE),
)
def check(name: Read) -> Finding | None:
    """Report each look for what a name does not hold any more."""
    if name.owner.is_tf_variable:
        return None
    wanted = _wanted(name.module, name.node) or _wanted_of_several(name.module, name.node)
    if wanted is not None:
        with_number = ":" in wanted and wanted not in (":", ":0")
        return name.finding(
            f"the name of a weight no longer contains `{'/' if '/' in wanted else ':'}`: it is "
            "`kernel`, not `dense/kernel:0`",
            symbol="Variable.name",
            help="Use `.path`, without `:0`: `dense/kernel`.",
            fix=_without_number(name, wanted) if with_number else _look_at_path(name),
        )
    layer = _layer_looked_for(name.module, name.node)
    if layer is None:
        return None
    return name.finding(
        f"the name of a weight no longer contains the layer's name: `{layer}` is not in `kernel`, "
        "which was `dense/kernel:0`",
        symbol="Variable.name",
        confidence=Confidence.LIKELY,
        help="Use `.path`: `dense/kernel`.",
        fix=_look_at_path(name),
    )


def _look_at_path(name: Read) -> Fix | NoFix:
    return name.fix(
        "Use `.path` instead of `.name`",
        Edit(name.module.span(name.node.attr), ("path",)),
        unsafe_because="`Sequential` and subclassed models prefix the path with their own name",
    )


def _without_number(name: Read, wanted: str) -> Fix | NoFix:
    """Leave out `:0` where a text is compared with the name, too."""
    text = next(
        (each for each in _compared(name.module, name.node) if literal(each) == wanted), None
    )
    if not isinstance(text, cst.SimpleString) or not text.raw_value.endswith(_FIRST):
        return NoFix("`:0` must be removed from the string that it is compared with too")
    end = name.module.span(text).end - len(text.quote)
    return name.fix(
        "Use `.path` instead of `.name`, and compare it without `:0`",
        Edit(name.module.span(name.node.attr), ("path",)),
        Edit(Span(end - len(_FIRST), end), ()),
        unsafe_because="`Sequential` and subclassed models prefix the path with their own name",
    )


def _compared(module: Module, name: cst.Attribute) -> list[cst.BaseExpression]:
    """Return what alone a name is compared with as a text: ``==``, ``in``, ``endswith``."""
    parent = module.parent(name)
    around = None if parent is None else module.parent(parent)
    if isinstance(parent, cst.Attribute) and isinstance(around, cst.Call):
        return [each.value for each in around.args[:1] if parent.attr.value == "endswith"]
    whole = parent if isinstance(parent, cst.Comparison) else around
    is_one = isinstance(whole, cst.Comparison) and len(whole.comparisons) == 1
    return _texts_around(module, name) if is_one else []


def _layer_looked_for(module: Module, name: cst.Attribute) -> str | None:
    """Return the name of a layer that is looked for in the name of a weight, if it surely is."""
    parent = module.parent(name)
    found: cst.BaseExpression | None = None
    if isinstance(parent, cst.Attribute) and parent.attr.value in _SEARCHES:
        call = module.parent(parent)
        if isinstance(call, cst.Call) and call.func is parent and len(call.args) == 1:
            found = call.args[0].value
    elif isinstance(parent, cst.ComparisonTarget) and isinstance(
        parent.operator, cst.In | cst.NotIn
    ):
        whole = module.parent(parent)
        if isinstance(whole, cst.Comparison) and len(whole.comparisons) == 1:
            found = whole.left
    texts = [] if found is None else _texts(module, found)
    return next((each for each in texts if _is_of_a_layer_alone(module, each)), None)


def _texts(module: Module, looked_for: cst.BaseExpression) -> list[str]:
    """Return the text that is looked for, or all of them: ``any(each in w.name for each in …)``."""
    if isinstance(looked_for, cst.Name):
        match module.bindings_at(looked_for):
            case [Binding(kind=BindingKind.LOOP, path=(), value=cst.BaseExpression() as all_of)]:
                texts = literal(value_of(module, all_of))
                if isinstance(texts, list | tuple | set):
                    return [each for each in texts if isinstance(each, str)]
    text = literal(looked_for)
    return [text] if isinstance(text, str) else []


def _is_of_a_layer_alone(module: Module, text: str) -> bool:
    """Say whether a text is (part of) the name of a layer, and surely of no weight's."""
    if not text or any(text in each for each in OF_WEIGHTS):
        return False
    is_layer = is_default_name(text) or text in _given_names(module)
    return is_layer and not _may_be_of_own_weights(module, text)


@once
def _given_names(module: Module) -> frozenset[str]:
    """Return the names that the file gives to layers of Keras."""
    return frozenset(
        text
        for call in module.nodes(cst.Call)
        if (given := argument(call, "name")) is not None
        and (made := module.type_of(call.func) or module.type_of(call)) is not None
        and made.kind is Kind.LAYER
        and isinstance(text := literal(given.value), str)
    )


def _may_be_of_own_weights(module: Module, text: str) -> bool:
    """Say whether the file makes weights that are, or may be, called so."""
    for call in module.nodes(cst.Call):
        if isinstance(call.func, cst.Attribute | cst.Name) and _leaf(call.func) in _MAKERS:
            given = argument(call, "name", 0 if _leaf(call.func) in _NAME_FIRST else None)
            name = None if given is None else literal(given.value)
            if is_hidden(call) or (given is not None and (name is UNKNOWN or text in str(name))):
                return True
    return False


def _leaf(function: cst.Attribute | cst.Name) -> str:
    return function.value if isinstance(function, cst.Name) else function.attr.value


def is_default_name(text: str) -> bool:
    """Say whether Keras calls layers so that are given no name: ``dense``, ``conv2d_3``."""
    return _NUMBER.sub("", text) in _DEFAULT_NAMES


def _wanted_of_several(module: Module, name: cst.Attribute) -> str | None:
    """Return the same of names that are collected first."""
    texts = texts_looked_for(module, name, lambda each: _wanted(module, each))
    return next((each for each in texts if "/" in each or ":" in each), None)


def _wanted(module: Module, name: cst.BaseExpression) -> str | None:
    """Return the text with ``/`` or ``:`` that is looked for in a name, if any."""
    parent = module.parent(name)
    found: list[cst.BaseExpression] = []
    if isinstance(parent, cst.Attribute) and parent.attr.value in _METHODS:
        call = module.parent(parent)
        if isinstance(call, cst.Call) and call.func is parent:
            found = [each.value for each in call.args[:1] if not each.star]
    else:
        found = _texts_around(module, name)
    texts = [literal(each) for each in found]
    return next((t for t in texts if isinstance(t, str) and ("/" in t or ":" in t)), None)


def _texts_around(module: Module, name: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return the other sides of a comparison that a name stands in."""
    parent = module.parent(name)
    if isinstance(parent, cst.Comparison):
        return [parent.left, *(each.comparator for each in parent.comparisons)]
    if isinstance(parent, cst.ComparisonTarget):
        whole = module.parent(parent)
        assert isinstance(whole, cst.Comparison)
        return [whole.left]
    return []
