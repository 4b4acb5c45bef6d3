"""Keywords that another expression stands for: not renamed, not left out, but written anew."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.analysis.tensors.eager_arguments import may_be_eager_tensor
from kdoctor.model import Edit, Hole, ImportNeed, Precedence, Span
from kdoctor.rewrite import Speller, remove_arguments
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.arguments.weight_argument import aggregation_of
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

_PERIODIC = "PeriodicCheckpoint"
_NOT_LOOKED_INTO = (
    "the callback becomes a user-defined class: whatever else Keras 3 refuses of a "
    "`ModelCheckpoint`, such as the ending of the path, must be fixed as well"
)
PERIODIC_CHECKPOINT = '''class PeriodicCheckpoint({base}):
    """Saves once in `period` epochs."""

    def __init__(self, *args, period, **kwargs):
        super().__init__(*args, **kwargs)
        self.period = period
        self.epochs_since_last_save = 0

    def on_epoch_end(self, epoch, logs=None):
        self.epochs_since_last_save += 1
        if self.epochs_since_last_save >= self.period:
            self.epochs_since_last_save = 0
            super().on_epoch_end(epoch, logs)'''
_NEEDED_FOR_IF = Precedence.OR  # what stands on either side of an `if … else …`


class Instead(Struct, frozen=True):
    """What to write in place of a keyword. ``gone`` is what goes, if it is not the keyword."""

    title: str
    edits: tuple[Edit, ...]
    unsafe_because: str = ""
    imports: tuple[ImportNeed, ...] = ()
    gone: str = ""


def instead_of(module: Module, call: KerasCall, argument: cst.Arg) -> Instead | None:
    """Return what stands for a keyword, None where nothing is known to."""
    assert argument.keyword is not None
    match call.leaf, argument.keyword.value:
        case "to_categorical", "dtype":
            return _converted(module, call, argument)
        case "to_categorical", "y" if call.keyword("dtype") is None and not call.is_partial:
            return _still_float32(module, call, argument)
        case "load_img", "grayscale":
            return _color_mode(module, call, argument)
        case "ModelCheckpoint", "period":
            return _once_in_some_epochs(module, call)
        case "add_weight", "aggregation":
            return _variable_of_a_metric(module, call, argument)
    return None


def _converted(module: Module, call: KerasCall, argument: cst.Arg) -> Instead | None:
    edits = remove_arguments(module, call.call, [argument])
    if edits is None:
        return None
    end = module.span(call.call).end
    value = module.source(argument.value)
    if "\n" in value:
        return None
    return Instead(
        f"Append `.astype({value})`",
        (*edits, Edit(Span(end, end), (f".astype({value})",))),
        unsafe_because=_of_a_tensor(module, call),
    )


def _still_float32(module: Module, call: KerasCall, argument: cst.Arg) -> Instead:
    """It gave float32 where nothing else was asked for, and gives float64 now."""
    assert argument.keyword is not None
    end = module.span(call.call).end
    return Instead(
        "Write `x=` instead of `y=`, and append `.astype('float32')`",
        (
            Edit(module.span(argument.keyword), ("x",)),
            Edit(Span(end, end), (".astype('float32')",)),
        ),
        unsafe_because=_of_a_tensor(module, call),
    )


def _of_a_tensor(module: Module, call: KerasCall) -> str:
    given = passed(call.call, "y", 0) or passed(call.call, "x")
    if given is not None and not may_be_eager_tensor(module, given):
        return ""
    return "for a tensor it returns a tensor, which has no `astype`"


def _color_mode(module: Module, call: KerasCall, argument: cst.Arg) -> Instead | None:
    if call.keyword("color_mode") is not None:
        return None
    span = module.span(argument)
    if literal(value_of(module, argument.value)) is True:
        return Instead("Write `color_mode='grayscale'`", (Edit(span, ("color_mode='grayscale'",)),))
    hole = Hole(
        module.outer_span(argument.value),
        required=_NEEDED_FOR_IF,
        own=precedence_of(argument.value),
    )
    return Instead(
        "Write `color_mode=`",
        (Edit(span, ("color_mode='grayscale' if ", hole, " else 'rgb'")),),
    )


def _variable_of_a_metric(module: Module, call: KerasCall, argument: cst.Arg) -> Instead | None:
    """``add_weight("total", aggregation=…)`` of a metric: `add_variable` has what it took away.

    Its shape comes first, and has no default, as its initializer has none.
    """
    new = aggregation_of(module, argument.value)
    leading = [each for each in call.call.args if each.keyword is None]
    names = ("name", "shape")
    if new is None or not isinstance(call.call.func, cst.Attribute) or len(leading) > len(names):
        return None
    if any(each.star for each in call.call.args) or call.keyword("initializer") is None:
        return None
    named = [
        Edit(Span(start := module.outer_span(each.value).start, start), (f"{name}=",))
        for name, each in zip(names, leading, strict=False)
    ]
    edits = [
        Edit(module.span(call.call.func.attr), ("add_variable",)),
        *named,
        Edit(module.outer_span(argument.value), (f"'{new}'",)),
    ]
    if len(leading) < len(names) and call.keyword("shape") is None:
        at = module.span(argument).start
        edits.append(Edit(Span(at, at), ("shape=(), ",)))
    return Instead("Call `add_variable`, which takes it", tuple(edits), gone="add_weight")


def _once_in_some_epochs(module: Module, call: KerasCall) -> Instead | None:
    """``ModelCheckpoint(path, period=5)``: a class of one's own keeps count, as Keras 2 did.

    ``save_freq=`` counts batches, and what is monitored is not there after each.
    """
    if call.reference is None or call.keyword("save_freq") is not None:
        return None
    # One class serves all of them: it stands above the first.
    first = next(
        each.call
        for each in module.references
        if each.call is not None and each.name.rpartition(".")[2] == call.made
    )
    before = top_statement(module, first)
    reference = call.reference
    speller = Speller(module, before, reference.name, reference.binding)
    base, need = speller.spell("keras.callbacks.ModelCheckpoint")
    helper = helper_edits(module, before, _PERIODIC, PERIODIC_CHECKPOINT.format(base=base))
    if helper is None:
        return None
    return Instead(
        f"Save with a `{_PERIODIC}`, which counts epochs",
        (*helper, Edit(module.span(call.call.func), (_PERIODIC,))),
        unsafe_because=_NOT_LOOKED_INTO,
        imports=(need,) if helper and need is not None else (),
    )
