"""`model.predict_classes(x)` where the last layer is not seen: a function of the file that asks.

Keras 2 asked the probabilities themselves whether they are of several classes or of one.
`tests/rules/test_member_gone_predict_classes.py` holds the function against the method of
TensorFlow 2.5, which TensorFlow still carries.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.memoize import once
from kdoctor.model import Edit, Fix, Hole, Precedence, Span
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import (
    definition_edits,
    is_name_of_module,
    top_statement,
)
from kdoctor.rules.loading import load_rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_MEMBER = "predict_classes"
NAME = "predict_classes_of"
HELPER = '''def predict_classes_of(model, x, batch_size=None, verbose=0):
    """Return what `model.predict_classes(x)` returned on Keras 2."""
    scores = model.predict(x, batch_size=batch_size, verbose=verbose)
    if scores.shape[-1] > 1:
        return scores.argmax(axis=-1)
    return (scores > 0.5).astype("int32")'''


def classes_of_any_model(module: Module, use: MemberUse, facts: TargetFacts) -> Fix | None:
    """Return the fix of one call; None where it is another member, or has no place."""
    call, owner = use.called, use.node.value
    if not _is_call(use) or call is None or not call.args or _is_super(owner):
        return None
    edit = called_with(module, call, owner, NAME)
    helper = _definition(module)
    if edit is None or helper is None or not is_name_of_module(module, NAME, call):
        return None
    return Fix(
        f"Call `{NAME}`, a function of this file that asks for the number of classes",
        (*helper, edit),
        facts.applicability(*load_rule("members.member_gone").group("of-any-model")),
    )


@once
def _definition(module: Module) -> tuple[Edit, ...] | None:
    """Return the edits that define the function, the same for all calls of a file."""
    uses = [each.node for each in module.members_named(_MEMBER) if _is_call(each)]
    before = top_statement(module, min(uses, key=module.span))
    edits = definition_edits(module, before, NAME, HELPER)
    return None if edits is None else tuple(edits)


def _is_call(use: MemberUse) -> bool:
    is_of_a_model = use.owner.kind is Kind.MODEL and use.member == _MEMBER
    return is_of_a_model and use.called is not None and not use.owner_defines


def _is_super(owner: cst.BaseExpression) -> bool:
    return isinstance(owner, cst.Call) and owner.func.deep_equals(cst.Name("super"))


def called_with(
    module: Module, call: cst.Call, owner: cst.BaseExpression, name: str
) -> Edit | None:
    """Return the edit that calls a function of this name with the owner of a method first.

    All that is passed stays as it is written.
    """
    text, whose = module.text, module.outer_span(owner)
    first = call.args[0]
    start = module.outer_span(first.keyword or first.value).start
    if first.star:
        start = text.rindex(first.star, whose.end, start)
    accessed, _, space = text[whose.end : start].partition("(")
    if "#" in accessed or (isinstance(first.value, cst.GeneratorExp) and not first.value.lpar):
        return None
    model = Hole(whose, Precedence.LAMBDA, precedence_of(owner))
    span = Span(module.span(call).start, start)
    return Edit(span, (f"{name}({space}", model, ", "), Precedence.PRIMARY)
