"""`weight.name` is now `kernel`, not `dense/kernel:0`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import UNKNOWN, argument, is_hidden, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, member
from kdoctor.keras_api.returns import WEIGHTED_LAYERS
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Kind

_METHODS = frozenset({
    *("split", "rsplit", "partition", "rpartition", "replace", "startswith", "endswith", "find"),
    *("index", "rfind", "strip", "rstrip", "removesuffix", "removeprefix", "count"),
})  # fmt: skip
_SEARCHES = frozenset({"startswith", "find", "count"})
_MAKERS = frozenset({"add_weight", "add_variable", "Variable", "variable"})
_NAME_FIRST = frozenset({"add_weight", "add_variable"})
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


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each look for what a name does not hold any more."""
    for use in module.members:
        if use.owner.kind is not Kind.VARIABLE or use.member != "name" or use.owner_defines:
            continue
        if use.owner.is_tf_variable or module.is_guarded(use.node):
            continue
        wanted = _wanted(module, use.node)
        if wanted is None:
            layer = _layer_looked_for(module, use.node)
            if layer is not None:
                yield _layer_finding(module, use, layer)
            continue
        with_number = ":" in wanted and wanted not in (":", ":0")
        yield rule.finding(
            module.place(use.node),
            f"the name of a weight no longer contains `{'/' if '/' in wanted else ':'}`: it is "
            "`kernel`, not `dense/kernel:0`",
            symbol="Variable.name",
            confidence=use.confidence,
            help="Use `.path`, without `:0`: `dense/kernel`.",
            fix=NoFix("`:0` must be removed from the string that it is compared with too")
            if with_number
            else _look_at_path(module, use),
        )


def _layer_finding(module: Module, use: MemberUse, layer: str) -> Finding:
    return rule.finding(
        module.place(use.node),
        f"the name of a weight no longer contains the layer's name: `{layer}` is not in `kernel`, "
        "which was `dense/kernel:0`",
        symbol="Variable.name",
        confidence=Confidence.LIKELY,
        help="Use `.path`: `dense/kernel`.",
        fix=_look_at_path(module, use),
    )


def _look_at_path(module: Module, use: MemberUse) -> Fix:
    return Fix(
        "Use `.path` instead of `.name`",
        (Edit(module.span(use.node.attr), ("path",)),),
        Applicability.UNSAFE,
        unsafe_because="`Sequential` and subclassed models prefix the path with their own name",
    )


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


def _wanted(module: Module, name: cst.Attribute) -> str | None:
    """Return the text with ``/`` or ``:`` that is looked for in a name, if any."""
    parent = module.parent(name)
    found: list[cst.BaseExpression] = []
    if isinstance(parent, cst.Attribute) and parent.attr.value in _METHODS:
        call = module.parent(parent)
        if isinstance(call, cst.Call) and call.func is parent:
            found = [each.value for each in call.args[:1] if not each.star]
    elif isinstance(parent, cst.Comparison):
        found = [parent.left, *(each.comparator for each in parent.comparisons)]
    elif isinstance(parent, cst.ComparisonTarget):
        whole = module.parent(parent)
        assert isinstance(whole, cst.Comparison)
        found = [whole.left]
    texts = [literal(each) for each in found]
    return next((t for t in texts if isinstance(t, str) and ("/" in t or ":" in t)), None)


def _may_look(quick: QuickFacts, _: TargetFacts) -> bool:
    names = {
        value.value
        for called in quick.calls_with("name")
        if isinstance(value := called.argument("name"), ast.Constant)
    }

    def _is_of_a_layer(text: str) -> bool:
        return text in names or is_default_name(text)

    def _is_wanted(node: ast.expr) -> bool:
        text = node.value if isinstance(node, ast.Constant) else None
        return isinstance(text, str) and ("/" in text or ":" in text or _is_of_a_layer(text))

    compared = [
        each
        for each in quick.nodes.get(ast.Compare, ())
        if any(map(_is_name, (each.left, *each.comparators)))
    ]
    if any(_is_wanted(side) for each in compared for side in (each.left, *each.comparators)):
        return True
    if any(isinstance(each.left, ast.Name) for each in compared) and any(
        map(_is_of_a_layer, quick.strings)
    ):
        return True
    return any(
        isinstance(called.node.func, ast.Attribute)
        and _is_name(called.node.func.value)
        and any(map(_is_wanted, called.values))
        for method in _METHODS
        for called in quick.calls_by_leaf.get(method, ())
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "name"


rule = Rule(
    code="KD412",
    name="weight-name",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=member("name") & Trigger(_may_look),
    since="3.0",
)
