"""TensorFlow 1 graphs around Keras: `with graph.as_default():`, disabled eager execution."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.statements import is_only_statement_of_block, remove_statement
from kdoctor.analysis.queries import Call, Name, calls, references
from kdoctor.analysis.queries.conditions import attribute, named
from kdoctor.keras_api.tensorflow_aliases import FIRST, TURN_EAGER_OFF, ways_also_by_1
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.source_lines import whole_line
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, ReferenceKind
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


@rule(
    "KD505",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(*RAISES, on=Kind.MODEL)
    .even(hidden=True, guarded=True)
    .beside(attribute("as_default"), named(*_GRAPHS))
    | references(where=lambda _, name: name in _OFF, guarded=True),
)
def check(found: Call | Name) -> Finding | None:
    """Report each method in a graph, and each call that turns eager execution off."""
    if isinstance(found, Call):
        return _in_a_graph(found) if _is_in_a_graph(found.module, found.call) else None
    if found.reference.kind is not ReferenceKind.LOAD or found.call is None:
        return None
    return _turned_off(found, found.call)


def _in_a_graph(call: Call) -> Finding:
    assert call.use is not None
    return call.finding(
        f"`{call.leaf}` does not work in an explicit graph: {RAISES[call.leaf]}",
        at=call.use.node,
        symbol=f"{call.cls or 'Model'}.{call.leaf}",
        confidence=Confidence.LIKELY,
        help=_LEAVE_OUT,
        fix=NoFix("other code in the block may need the graph"),
    )


def _turned_off(off: Name, call: cst.Call) -> Finding:
    methods = (
        use.member
        for use in off.module.members_named(*RAISES)
        if use.owner.kind is Kind.MODEL and use.called
        if not use.owner_defines
    )
    method = next(methods, None)
    error = RAISES[method] if method else _NO_LOOP
    said = f"`{method}` then raises" if method else "training a model would then raise"
    return off.finding(
        f"Keras 3 does not work without eager execution: {said} {error}",
        at=call.func,
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR if method else Severity.CHANGE,
        help="Remove it. Code that needs sessions or placeholders has to be rewritten, or run "
        "with tf_keras and TF_USE_LEGACY_KERAS=1.",
        fix=_left_out(off, call),
    )


def _left_out(off: Name, call: cst.Call) -> Fix | NoFix:
    """Return the fix that takes the line away, unless the file needs a graph elsewhere."""
    module = off.module
    why_not = NoFix("code that uses sessions and placeholders has to be rewritten first")
    line = module.parent(module.parent(call) or call)
    if call.args or not isinstance(line, cst.SimpleStatementLine):
        return why_not
    if any(_needs_a_graph(each.name) for each in module.references):
        return why_not
    if whole_line(module, module.span(call)) is None and not is_only_statement_of_block(
        module, call
    ):
        return why_not
    edit = remove_statement(module, call)
    return off.fix("Run eagerly", edit, unsafe_because=_ELSEWHERE)


def _needs_a_graph(name: str) -> bool:
    """Say whether a name is of TensorFlow 1, or one of Keras' functions for its graphs."""
    if name in _OFF:
        return False
    if name.startswith((*FIRST, "tensorflow.v1.")):
        return True
    return name.rpartition(".")[2] in _OF_GRAPHS and name.startswith(("tensorflow.", "keras."))


def _is_in_a_graph(module: Module, call: cst.Call) -> bool:
    for each in module.ancestors(call):
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
    bindings = module.scope_of(node).bindings_of(node.value)
    return bool(bindings) and all(
        each.kind is BindingKind.ASSIGN and not each.path and _makes_a_graph(module, each.value)
        for each in bindings
    )
