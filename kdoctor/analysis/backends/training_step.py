"""The parts of a ``train_step`` that trains as Keras does, but for its loss.

That is: unpack the data, compute a loss under a gradient tape, apply its gradients to the trainable
weights, update metrics, return what they say. Anything else is no such step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.statements import is_docstring
from kdoctor.analysis.models.user_classes import receiver
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import descendants

_TAPE: Final = "tensorflow.GradientTape"
_UNPACKS: Final = ("unpack_x_y_sample_weight",)
_WEIGHTS: Final = frozenset({"trainable_variables", "trainable_weights"})
_DATA: Final = ("x", "y", "sample_weight")

Statement = cst.BaseStatement


@dataclass(frozen=True, slots=True)
class TapeStep:
    """A step with one tape, whose gradients the model's optimizer applies to all its weights.

    ``tape`` is the text that creates the tape, ``given`` the name of the data.
    ``unpacks`` are the statements before the tape, ``watched`` those under it, of which one binds
    ``loss``. ``reports`` come behind the gradients; the last statement returns ``logs``.
    """

    instance: str
    given: str
    tape: str
    unpacks: Sequence[Statement]
    watched: Sequence[Statement]
    loss: str
    reports: Sequence[Statement]
    logs: cst.BaseExpression

    @property
    def own_names(self) -> set[str]:
        """The names that the step assigns under the tape, and behind it."""
        return bound_in(self.watched) | bound_in(self.reports)


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """What a step has of its own: the ``loss``, which it ``computes``, and metrics.

    ``data`` are the names of what the step is given, as Keras calls them: ``{"x": "images"}``.
    ``predicted`` is what the result of the model is called.
    """

    data: dict[str, str]
    predicted: str
    computes: Sequence[Statement]


def tape_step(module: Module, method: cst.FunctionDef) -> TapeStep | None:
    """Return the parts of a ``train_step``, None of one that does anything else."""
    instance, given = receiver(method), _only_parameter(method)
    if instance is None or given is None or not isinstance(method.body, cst.IndentedBlock):
        return None
    body = [each for each in method.body.body if not is_docstring(each)]
    at = next((place for place, each in enumerate(body) if isinstance(each, cst.With)), None)
    tape = None if at is None else _tape(module, body[at])
    if at is None or tape is None:
        return None
    name, created, watched = tape
    applied = _applied(body[at + 1 :], instance, name)
    if applied is None or applied[0] not in bound_in(watched):
        return None
    loss, rest = applied
    last = _only(rest[-1]) if rest else None
    if not isinstance(last, cst.Return) or last.value is None:
        return None
    parts = (*body[:at], *watched, *rest[:-1])
    if any(map(_leaves_or_nests, parts)):
        return None
    if any(name in names_in(each) for each in (*parts, last.value)):
        return None
    return TapeStep(instance, given, created, body[:at], watched, loss, rest[:-1], last.value)


def training_step(step: TapeStep) -> TrainingStep | None:
    """Return what a step has of its own, None where that is more than a loss and metrics."""
    data = _unpacked(step.unpacks, step.given)
    if data is None:
        return None
    predicted = _call_of_model(step.watched[0], step.instance, data.get("x"))
    computes = step.watched[1:]
    if predicted is None or step.loss not in bound_in(computes):
        return None
    return TrainingStep(data, predicted, computes)


def testing_step(module: Module, method: cst.FunctionDef, loss: str) -> Sequence[Statement] | None:
    """Return how a ``test_step`` computes a loss of that name, None of one that does more."""
    instance, given = receiver(method), _only_parameter(method)
    if instance is None or given is None or not isinstance(method.body, cst.IndentedBlock):
        return None
    body = [each for each in method.body.body if not is_docstring(each)]
    for place in range(min(2, len(body))):
        data = _unpacked(body[:place], given)
        predicted = _call_of_model(body[place], instance, data.get("x")) if data else None
        if predicted is None:
            continue
        rest = body[place + 1 :]
        end = max((at + 1 for at, each in enumerate(rest) if loss in bound_in([each])), default=0)
        reports = rest[end:-1]
        updates = all("update_state(" in module.source(each) for each in reports)
        is_all = end and updates and not any(map(_leaves_or_nests, rest[:-1]))
        return rest[:end] if is_all and isinstance(_only(rest[-1]), cst.Return) else None
    return None


def names_in(node: cst.CSTNode) -> set[str]:
    """Return all names in a node."""
    return {each.value for each in descendants(node) if isinstance(each, cst.Name)} | (
        {node.value} if isinstance(node, cst.Name) else set()
    )


def bound_in(statements: Sequence[cst.CSTNode]) -> set[str]:
    """Return the names that statements assign, in whatever block of theirs."""
    return {name for each in statements for name in _assigned(each)}


def _assigned(statement: cst.CSTNode) -> Iterator[str]:
    for each in descendants(statement):
        match each:
            case cst.AssignTarget(target=target) | cst.For(target=target):
                yield from _names_of(target)
            case cst.AugAssign(target=cst.Name(value=name)):
                yield name
            case cst.AnnAssign(target=cst.Name(value=name)):
                yield name
            case cst.NamedExpr(target=cst.Name(value=name)):
                yield name


def _names_of(target: cst.BaseExpression) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for each in target.elements:
            yield from _names_of(each.value)


def _only_parameter(method: cst.FunctionDef) -> str | None:
    """Return the one parameter beside ``self``."""
    params = method.params
    every = [*params.posonly_params, *params.params]
    is_plain = not (
        params.kwonly_params
        or params.star_kwarg
        or isinstance(params.star_arg, cst.Param | cst.ParamStar)
    )
    return every[1].name.value if is_plain and len(every) == 2 else None


def _only(statement: Statement) -> cst.BaseSmallStatement | None:
    """Return the small statement that is alone on its line."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


def _assignment(statement: Statement) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    match _only(statement):
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            return target, value
    return None


def _unpacked(statements: Sequence[Statement], given: str) -> dict[str, str] | None:
    """Return what Keras calls the parts of the data, with their names in the step."""
    if not statements:
        return {"x": given}
    assigned = _assignment(statements[0]) if len(statements) == 1 else None
    match assigned:
        case (cst.Name(value=name), cst.Name(value=value)) if value == given:
            return {"x": name}
        case (cst.Tuple(elements=elements), value) if _is_data(value, given):
            names = [each.value.value for each in elements if isinstance(each.value, cst.Name)]
            if len(names) == len(elements) and len(names) in {2, 3}:
                return dict(zip(_DATA, names, strict=False))
    return None


def _is_data(value: cst.BaseExpression, given: str) -> bool:
    match value:
        case cst.Name(value=name):
            return name == given
        case cst.Call(func=function, args=[cst.Arg(value=cst.Name(value=name), star="")]):
            leaf = (dotted_name(function) or "").rpartition(".")[2]
            return name == given and leaf in _UNPACKS
    return False


def _tape(module: Module, statement: Statement) -> tuple[str, str, Sequence[Statement]] | None:
    """Return the name of the tape, how it is created, and what is computed under it."""
    match statement:
        case cst.With(
            items=[
                cst.WithItem(
                    item=cst.Call(func=function, args=[]) as call,
                    asname=cst.AsName(name=cst.Name(value=name)),
                )
            ],
            body=cst.IndentedBlock(body=body),
        ) if by_the_short_way(module.qualified(function) or "") == _TAPE:
            return name, module.source(call), body
    return None


def _call_of_model(statement: Statement, instance: str, x: str | None) -> str | None:
    """Return the name of ``self(x, training=True)``, or of ``self(x)``."""
    match _assignment(statement):
        case (
            cst.Name(value=name),
            cst.Call(func=cst.Name(value=called), args=[cst.Arg(value=given, keyword=None), *rest]),
        ) if called == instance and isinstance(given, cst.Name) and given.value == x:
            return name if all(map(_says_training, rest)) and len(rest) < 2 else None
    return None


def _says_training(given: cst.Arg) -> bool:
    return given.keyword is not None and given.keyword.value == "training"


def _applied(
    statements: Sequence[Statement], instance: str, tape: str
) -> tuple[str, Sequence[Statement]] | None:
    """Return the loss whose gradients are applied to all weights, and what comes then.

    Its weights and its gradients may have names: ``weights = self.trainable_variables``.
    """
    kept: dict[str, cst.BaseExpression] = {}
    for place, each in enumerate(statements):
        assigned = _assignment(each)
        if assigned is not None and isinstance(assigned[0], cst.Name):
            kept[assigned[0].value] = assigned[1]
            continue
        applied = _Applying(instance, tape, kept).loss(_only(each))
        rest = statements[place + 1 :]
        if applied is None or any(kept.keys() & names_in(other) for other in rest):
            return None
        return applied, rest
    return None


@dataclass(frozen=True, slots=True)
class _Applying:
    """How gradients are applied; ``kept`` are the values of names."""

    instance: str
    tape: str
    kept: dict[str, cst.BaseExpression]

    def loss(self, statement: cst.BaseSmallStatement | None) -> str | None:
        """Return the name of the loss whose gradients the optimizer of the model applies."""
        match statement:
            case cst.Expr(value=cst.Call(func=function, args=args)):
                name = dotted_name(function)
            case _:
                return None
        values = [each.value for each in args if each.keyword is None and not each.star]
        if len(values) == len(args) == 1 and name == f"{self.instance}.optimizer.apply_gradients":
            values = _zipped(values[0])
        elif name != f"{self.instance}.optimizer.apply":
            return None
        if len(values) != 2 or not self._are_all_weights(values[1]):
            return None
        return self._loss_of(values[0])

    def _meant(self, node: cst.BaseExpression) -> cst.BaseExpression:
        return self.kept.get(node.value, node) if isinstance(node, cst.Name) else node

    def _are_all_weights(self, node: cst.BaseExpression) -> bool:
        owner, _, member = (dotted_name(self._meant(node)) or "").rpartition(".")
        return owner == self.instance and member in _WEIGHTS

    def _loss_of(self, node: cst.BaseExpression) -> str | None:
        match self._meant(node):
            case cst.Call(
                func=function,
                args=[cst.Arg(value=cst.Name(value=loss), keyword=None), cst.Arg(value=weights)],
            ) if dotted_name(function) == f"{self.tape}.gradient":
                return loss if self._are_all_weights(weights) else None
        return None


def _zipped(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    match node:
        case cst.Call(func=cst.Name(value="zip"), args=[cst.Arg(value=one), cst.Arg(value=other)]):
            return [one, other]
    return []


def _leaves_or_nests(statement: cst.CSTNode) -> bool:
    """Say whether a statement may leave the step, or defines something in it."""
    leaving = (cst.Return, cst.FunctionDef, cst.ClassDef, cst.Yield, cst.Nonlocal, cst.Global)
    return isinstance(statement, leaving) or any(
        isinstance(each, leaving) for each in descendants(statement)
    )
