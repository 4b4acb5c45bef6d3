"""`model.add_loss(tensor)`, `model.add_metric(tensor, name=…)`: the model built anew, with a layer.

What the outputs are sent through, beside the tensor, adds it to the losses, or to a metric.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, speller_at
from kdoctor.analysis.dataflow.statements import StatementSlot, statement_slot
from kdoctor.model import Applicability, Edit, Fix, Hole, NoFix, Precedence, Span
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rewrite.source_lines import whole_line
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

ADD_LOSS = '''@{register}()
class AddLoss({layer}):
    """Adds a loss made of inner tensors; the outputs go through unchanged."""

    def call(self, outputs, loss):
        self.add_loss(loss)
        return outputs'''
ADD_METRIC = '''@{register}()
class AddMetric({layer}):
    """Shows the mean of an inner tensor; the outputs go through unchanged."""

    def __init__(self, metric, **kwargs):
        super().__init__(**kwargs)
        self.seen = {mean}(name=metric)

    def get_config(self):
        return {{**super().get_config(), "metric": self.seen.name}}

    def compute_output_shape(self, outputs_shape, value_shape):
        return outputs_shape

    def call(self, outputs, value):
        self.seen.update_state(value)
        return outputs'''
_UNSAFE = (
    "this builds a new model with one more layer at its end: earlier references keep the old "
    "model, and the output is named after that layer"
)
_REASON = "the tensors must pass through a layer, which belongs elsewhere"
_MAY_BE_OWN = (
    "the model may be an instance of a custom class, whose `train_step` a `keras.Model` does not "
    "have"
)
# By position: `add_loss(losses, inputs)`, `add_metric(value, name, aggregation)`.
_NAMES = {"add_loss": ("losses",), "add_metric": ("value", "name", "aggregation")}


def can_be_built_anew(module: Module, use: MemberUse) -> bool:
    """Say whether the fix is to be made here, which writes a class into the file."""
    return isinstance(_parts(module, use), _Parts)


def build_anew(module: Module, use: MemberUse, uses: Sequence[MemberUse]) -> Fix | NoFix:
    """Return the fix for a model that is built by calls; ``uses`` are all that can be fixed."""
    parts = _parts(module, use)
    if not isinstance(parts, _Parts):
        return parts
    anchors = [each.anchor for use in uses if isinstance(each := _parts(module, use), _Parts)]
    before = top_statement(module, min(anchors, key=module.span))
    speller = speller_at(module, before)
    cls, text = ("AddLoss", ADD_LOSS) if use.member == "add_loss" else ("AddMetric", ADD_METRIC)
    names = {
        "register": "keras.saving.register_keras_serializable",
        "layer": "keras.layers.Layer",
        "mean": "keras.metrics.Mean",
    }
    used = {key: name for key, name in names.items() if f"{{{key}}}" in text}
    spelled = {key: speller.spell(name) for key, name in used.items()}
    helper = helper_edits(
        module, before, cls, text.format(**{key: each for key, (each, _) in spelled.items()})
    )
    if helper is None:
        return NoFix(f"`{cls}` means something else in this file")
    spellings = [speller.spell(each) for each in ("keras.Model", "keras.models.Model")]
    # As the file writes it, else by its better name.
    model, need = next((each for each in spellings if each[1] is None), spellings[0])
    needs = [need, *(each for _, each in spelled.values())] if helper else [need]
    name = module.source(parts.model)
    start = f"{name} = {model}({name}.input, {cls}({parts.metric})({name}.output, "
    end = f"), name={name}.name)"
    return Fix(
        f"Send the outputs through an `{cls}` layer",
        _merged([*helper, *parts.edits(module, start, end)]),
        Applicability.UNSAFE,
        tuple(dict.fromkeys(each for each in needs if each is not None)),
        unsafe_because=_UNSAFE,
    )


def _merged(edits: list[Edit]) -> tuple[Edit, ...]:
    """Make one edit of the first two, where both insert at the same place."""
    if len(edits) < 2 or edits[0].span != edits[1].span:
        return tuple(edits)
    return (Edit(edits[0].span, (*edits[0].parts, *edits[1].parts)), *edits[2:])


class _Parts(Struct, frozen=True):
    """``model.add_loss(value)`` as a line of its own, and the line of ``model.compile`` above."""

    line: StatementSlot
    model: cst.BaseExpression
    value: cst.BaseExpression
    metric: str
    compiled: StatementSlot | None

    @property
    def anchor(self) -> cst.CSTNode:
        """The statement above which the class must stand."""
        return (self.compiled or self.line).line

    def edits(self, module: Module, start: str, end: str) -> tuple[Edit, ...]:
        """Return the edits that build the model anew: here, or before it is compiled."""
        span = module.outer_span(self.value)
        if self.compiled is None:
            value = Hole(span, Precedence.LAMBDA, precedence_of(self.value))
            return (Edit(self.line.span, (start, value, end)),)
        new = f"{start}{module.text[span.start : span.end]}{end}\n{self.compiled.indent}"
        place = self.compiled.span.start
        whole = Span(self.line.span.start - len(self.line.indent) - 1, self.line.span.end)
        return Edit(Span(place, place), (new,)), Edit(whole, ())


def _parts(module: Module, use: MemberUse) -> _Parts | NoFix:
    call, model = use.called, use.node.value
    line = statement_slot(module, use.node)
    if call is None or line is None or not isinstance(line.statement, cst.Expr):
        return NoFix(_REASON)
    if line.statement.value is not call or use.owner.kind is not Kind.MODEL:
        return NoFix(_REASON)
    if use.owner.cls == "Sequential":
        return NoFix(_REASON)
    if use.owner.cls != "Functional" or not use.is_exact:
        return NoFix(_MAY_BE_OWN)
    if not _may_be_assigned(module, model):
        return NoFix("the model is defined elsewhere, and would stay the old one there")
    names = _NAMES[use.member]
    given = {name: argument(call, name, place) for place, name in enumerate(names)}
    passed = [each for each in given.values() if each is not None]
    value = given[names[0]]
    if value is None or len(passed) != len(call.args) or "#" in _beside(module, line, value):
        return NoFix(_REASON)
    if isinstance(value.value, cst.Lambda):
        return NoFix("the loss of a function must be added by the layer whose weights it reads")
    metric = ""
    if use.member == "add_metric":
        name, mean = given["name"], given["aggregation"]
        if name is None or (mean is not None and literal(mean.value) != "mean"):
            return NoFix("it is not a mean with a name")
        metric = module.source(name.value)
    compiled = _compiled_above(module, line, model)
    if compiled is not None and not _may_move(module, line, compiled, model, value.value):
        return NoFix("the model is compiled earlier, which must come after this")
    return _Parts(line, model, value.value, metric, compiled)


def _beside(module: Module, line: StatementSlot, value: cst.Arg) -> str:
    """Return the text of the line but for the value: a comment there would be lost."""
    span = module.outer_span(value.value)
    return module.text[line.span.start : span.start] + module.text[span.end : line.span.end]


def _may_be_assigned(module: Module, model: cst.BaseExpression) -> bool:
    """Say whether an assignment is seen by all who read the name here."""
    if isinstance(model, cst.Attribute):
        return isinstance(model.value, cst.Name)
    if not isinstance(model, cst.Name):
        return False
    scope = module.scope_of(model)
    found = scope.bindings.get(model.value, [])
    return bool(found) and all(each.kind is BindingKind.ASSIGN for each in found)


def _compiled_above(
    module: Module, line: StatementSlot, model: cst.BaseExpression
) -> StatementSlot | None:
    start = f"{module.source(model)}.compile("
    for each in reversed(line.above):
        if isinstance(each, cst.SimpleStatementLine) and module.source(each).startswith(start):
            return statement_slot(module, each.body[0])
    return None


def _may_move(
    module: Module,
    line: StatementSlot,
    compiled: StatementSlot,
    model: cst.BaseExpression,
    value: cst.BaseExpression,
) -> bool:
    """Say whether the line means the same above the compilation.

    So it does where nothing between binds what it reads, nor uses the model.
    """
    between = line.above[len(compiled.above) + 1 :]
    reads = {each.value for each in descendants(value) if isinstance(each, cst.Name)}
    used = {each.value for each in descendants(model) if isinstance(each, cst.Name)}
    named = {
        each.value
        for statement in between
        if not isinstance(statement, cst.FunctionDef | cst.ClassDef)
        for each in descendants(statement)
        if isinstance(each, cst.Name)
    }
    defined = {
        each.name.value for each in between if isinstance(each, cst.FunctionDef | cst.ClassDef)
    }
    own = whole_line(module, line.span)
    return own is not None and own.start > 0 and not (reads | used) & named and not reads & defined
