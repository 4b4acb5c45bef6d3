"""What is done with the value of a variable: looked at on the spot, or kept while it may change."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_builtin
from kdoctor.rewrite.common_guards import NUMBER_MAKERS, Guard, GuardAnswer, Question, UseSite

_READ = (
    *(cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget, cst.Expr),
    *(cst.Attribute, cst.Subscript, cst.FormattedStringExpression),
)
_READERS = NUMBER_MAKERS | {"print", "repr", "str"}


def used_at_once() -> Guard:
    """Nothing can keep the result: it is an operand, or a number or a text is made of it.

    The value of Keras 3's variables is the variable of TensorFlow itself, which changes with it;
    so may be what functions make of it: `convert_to_tensor`, or `cast` to the type that it has.
    """

    def answer(use_site: UseSite) -> GuardAnswer:
        module = use_site.module
        parent = module.parent(use_site.node)
        if not isinstance(parent, cst.Arg):
            return GuardAnswer.of(isinstance(parent, _READ))
        match module.parent(parent):
            case cst.Call(func=cst.Name(value=name) as function) if name in _READERS:
                return GuardAnswer.of(is_builtin(module, function))
        return GuardAnswer.NO

    return Question(
        "used_at_once()", "the value may be read after the variable has changed", answer
    )


def never_dereferenced() -> Guard:
    """Return a guard: nothing in the file asks a reference for its object."""

    def answer(use: UseSite) -> GuardAnswer:
        return GuardAnswer.NO if "deref" in use.module.words else GuardAnswer.YES

    return Question("never_dereferenced()", "`deref` is called on a reference", answer)
