"""TensorFlow 1 graphs around Keras: `with graph.as_default():`, disabled eager execution."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.statements import is_only_statement_of_block, remove_statement
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import attribute, named
from kdoctor.keras_api.tensorflow_aliases import FIRST, TURN_EAGER_OFF, ways_also_by_1
from kdoctor.model import Applicability, Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.source_lines import whole_line
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module, ReferenceKind
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_NO_LOOP = (
    "RuntimeError: `tf.data.Dataset` only supports Python-style iteration in eager mode or within "
    "tf.function."
)
_NO_VALUES = "NotImplementedError: numpy() is only available when eager execution is enabled."
# What each method of a model raises where nothing runs at once.
RAISES = {
    **dict.fromkeys(("fit", "evaluate", "predict"), _NO_LOOP),
    **dict.fromkeys(("get_weights", "save", "save_weights"), _NO_VALUES),
}
_GRAPHS = ways_also_by_1("tensorflow.Graph", "tensorflow.get_default_graph")
_OFF = tuple(f"{way}{name}" for way in FIRST for name in TURN_EAGER_OFF)
_OF_GRAPHS = frozenset({
    "Graph", "Session", "InteractiveSession", "get_default_graph", "get_default_session",
    "get_session", "set_session", "global_variables_initializer", "gradients", "placeholder",
})  # fmt: skip
_ELSEWHERE = "sessions and placeholders in other files have to be rewritten"
_LEAVE_OUT = "Remove the graph: Keras 3 runs eagerly, in any thread."


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each method in a graph, and each call that turns eager execution off."""
    uses = [
        use
        for use in module.members
        if use.owner.kind is Kind.MODEL and use.called and use.member in RAISES
        and not use.owner_defines
    ]  # fmt: skip
    for use in uses:
        if _is_in_a_graph(module, use):
            yield _in_a_graph(module, use)
    for reference in module.references:
        if reference.kind is ReferenceKind.LOAD and reference.call and reference.name in _OFF:
            yield _turned_off(module, reference.call, reference.name, uses)


def _in_a_graph(module: Module, use: MemberUse) -> Finding:
    return rule.finding(
        module.place(use.node),
        f"`{use.member}` does not work in an explicit graph: {RAISES[use.member]}",
        symbol=f"{use.owner.cls or 'Model'}.{use.member}",
        confidence=Confidence.LIKELY,
        help=_LEAVE_OUT,
        fix=NoFix("other code in the block may need the graph"),
    )


def _turned_off(module: Module, call: cst.Call, name: str, uses: list[MemberUse]) -> Finding:
    error = RAISES[uses[0].member] if uses else _NO_LOOP
    said = f"`{uses[0].member}` then raises" if uses else "training a model would then raise"
    return rule.finding(
        module.place(call.func),
        f"Keras 3 does not work without eager execution: {said} {error}",
        symbol=name,
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR if uses else Severity.CHANGE,
        help="Remove it. Code that needs sessions or placeholders has to be rewritten, or run "
        "with tf_keras and TF_USE_LEGACY_KERAS=1.",
        fix=_left_out(module, call)
        or NoFix("code that uses sessions and placeholders has to be rewritten first"),
    )


def _left_out(module: Module, call: cst.Call) -> Fix | None:
    """Return the fix that takes the line away, None where the file needs a graph elsewhere."""
    line = module.parent(module.parent(call) or call)
    if call.args or not isinstance(line, cst.SimpleStatementLine):
        return None
    if any(_needs_a_graph(each.name) for each in module.references):
        return None
    if whole_line(module, module.span(call)) is None and not is_only_statement_of_block(
        module, call
    ):
        return None
    edit = remove_statement(module, call)
    return Fix("Run eagerly", (edit,), Applicability.UNSAFE, unsafe_because=_ELSEWHERE)


def _needs_a_graph(name: str) -> bool:
    """Say whether a name is of TensorFlow 1, or one of Keras' functions for its graphs."""
    if name in _OFF:
        return False
    if name.startswith((*FIRST, "tensorflow.v1.")):
        return True
    return name.rpartition(".")[2] in _OF_GRAPHS and name.startswith(("tensorflow.", "keras."))


def _is_in_a_graph(module: Module, use: MemberUse) -> bool:
    for each in module.ancestors(use.node):
        if isinstance(each, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            return False  # it may be called from outside of the block
        if isinstance(each, cst.With) and any(_is_graph(module, item) for item in each.items):
            return True
    return False


def _is_graph(module: Module, item: cst.WithItem) -> bool:
    """Say whether it is ``graph.as_default()`` of a graph that was surely made as such."""
    match item.item:
        case cst.Call(func=cst.Attribute(value=graph, attr=cst.Name(value="as_default")), args=[]):
            return _makes_a_graph(module, graph) or _is_bound_to_a_graph(module, graph)
    return False


def _makes_a_graph(module: Module, node: cst.BaseExpression | None) -> bool:
    return isinstance(node, cst.Call) and module.qualified(node.func) in _GRAPHS


def _is_bound_to_a_graph(module: Module, node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Name):
        return False
    owner = module.scope_of(node).owner(node.value)
    bindings = owner.bindings[node.value] if owner else []
    return bool(bindings) and all(
        each.kind is BindingKind.ASSIGN and not each.path and _makes_a_graph(module, each.value)
        for each in bindings
    )


rule = Rule(
    code="KD505",
    name="graph-mode",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=named(*_OFF) | attribute("as_default") & named(*_GRAPHS),
    since="3.0",
)
