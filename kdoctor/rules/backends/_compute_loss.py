"""``compute_loss`` and ``compute_metrics`` with what a ``train_step`` has of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from kdoctor.analysis.backends.training_step import (
    TapeStep,
    TrainingStep,
    names_in,
)
from kdoctor.lazy_regex import pattern
from kdoctor.model import NoFix
from kdoctor.rules.backends._method_text import MethodText, dedented
from kdoctor.syntax.imports import dotted_name

LOSS: Final = "compute_loss"
METRICS: Final = "compute_metrics"
_RESULTS: Final = "get_metrics_result"
_PARAMETERS: Final = {
    LOSS: "x=None, y=None, y_pred=None, sample_weight=None, training=True",
    METRICS: "x, y, y_pred, sample_weight=None",
}
_GIVEN: Final = ("x", "y", "y_pred", "sample_weight")
_LOCAL_LOGS: Final = "what it returns is computed in the step, and is no metric"
_WORD: Final = pattern(r"\w+")


@dataclass(frozen=True, slots=True)
class LossAndMetrics:
    """Writes the methods that take the place of one step."""

    text: MethodText
    step: TapeStep
    own: TrainingStep

    def methods(self) -> list[str] | NoFix:
        """Return ``compute_loss``, and ``compute_metrics`` if need be; none if Keras' own do."""
        computed = self.step.own_names - {self.own.predicted}
        of_loss, of_metrics = [*self.own.computes], []
        for each in self.step.reports:
            if self._keras_does(each):
                continue
            if computed & names_in(each):
                of_loss.append(each)
            else:
                of_metrics.append(each)
        logs = self._logs(computed)
        if isinstance(logs, NoFix):
            return logs
        if self._is_loss_of_keras(of_loss) and not (of_metrics or logs):
            return []
        found = [self._method(LOSS, of_loss, f"return {self.step.loss}")]
        if of_metrics or logs:
            returned = logs or f"super().{METRICS}(x, y, y_pred, sample_weight)"
            found.append(self._method(METRICS, of_metrics, f"return {returned}"))
        return found

    def _is_loss_of_keras(self, statements: Sequence[cst.CSTNode]) -> bool:
        """Say whether the loss is what ``compile`` was given, and nothing is done with it."""
        if len(statements) != 1:
            return False
        text = "".join(self.text.module.source(statements[0]).split())
        return text.startswith(f"{self.step.loss}={self.step.instance}.{LOSS}(") and (
            text.count("(") == 1 and text.endswith(")")
        )

    def _logs(self, computed: set[str]) -> str | NoFix:
        """Return what ``compute_metrics`` is to return, "" for what that of Keras does."""
        logs, instance = self.step.logs, self.step.instance
        if isinstance(logs, cst.DictComp) and _is_of_metrics(logs.for_in, instance):
            return ""
        if dotted_name(getattr(logs, "func", logs)) == f"{instance}.{_RESULTS}":
            return ""
        if not isinstance(logs, cst.Dict):
            return NoFix(_LOCAL_LOGS)
        others = [each for each in logs.elements if not self._is_loss(each)]
        if not others:
            return ""
        is_local = any(computed & names_in(each) for each in others)
        if is_local or len(others) < len(logs.elements):
            return NoFix(_LOCAL_LOGS)
        return dedented(self.text.module.source(logs))

    def _is_loss(self, element: cst.BaseDictElement) -> bool:
        """Say whether it is ``"loss": loss``, of which Keras shows the mean."""
        match element:
            case cst.DictElement(key=cst.SimpleString() as key, value=cst.Name(value=name)):
                return key.evaluated_value == "loss" and name == self.step.loss
        return False

    def _keras_does(self, statement: cst.CSTNode) -> bool:
        """Say whether Keras' own step does the same: it updates the metrics of ``compile``."""
        instance = self.step.instance
        text = self.text.module.source(statement)
        if not isinstance(statement, cst.For):
            return text.startswith(f"{instance}.compiled_metrics.update_state(")
        if not isinstance(statement.target, cst.Name) or "update_state(" not in text:
            return False
        known = {*self.own.data.values(), self.own.predicted, self.step.loss}
        known |= {statement.target.value, "name", "update_state", "metrics"}
        iterated = dotted_name(statement.iter)
        return iterated == f"{instance}.metrics" and names_in(statement.body) <= known

    def _method(self, name: str, statements: Sequence[cst.CSTNode], last: str) -> str:
        """Return a method's text; what Keras passes gets the names that the step has for it."""
        inherited = f"{self.step.instance}.{LOSS}("
        lines = [
            each.replace(inherited, f"super().{LOSS}(") for each in self.text.lines(statements)
        ]
        names = {"y_pred": self.own.predicted} | self.own.data
        read = {word for line in (*lines, last) for word in _WORD.findall(line.partition("#")[0])}
        renamed = [
            (names[each], each)
            for each in _GIVEN
            if each in names and names[each] != each and names[each] in read
        ]
        if renamed:
            old, new = (", ".join(part) for part in zip(*renamed, strict=True))
            lines.insert(0, f"{old} = {new}")
        return self.text.write(name, _PARAMETERS[name], [*lines, last], documented=name == LOSS)


def _is_of_metrics(loop: cst.CompFor, instance: str) -> bool:
    is_plain = loop.inner_for_in is None and not loop.ifs
    return is_plain and dotted_name(loop.iter) == f"{instance}.metrics"
