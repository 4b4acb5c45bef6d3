"""What takes the place of names of `tensorflow_addons`: Keras 3's own, or a definition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from kdoctor.rewrite import Guard, GuardAnswer, Question, Rewrite, UseSite, equals, rewrite
from kdoctor.rewrite.pure_tests import is_pure_test
from kdoctor.rules.example import Example
from kdoctor.rules.names._definitions.dead_packages import ADDONS, PACKAGE


def _may_be_left_out(parameter: str) -> Guard:
    """Return a guard of what the successor finds out by itself: to leave it out loses nothing."""

    def answer(use: UseSite) -> GuardAnswer:
        value = use.expression(parameter)
        is_pure = value is None or is_pure_test(use.module, value)
        return GuardAnswer.YES if is_pure else GuardAnswer.NO

    return Question(
        f"may_be_left_out({parameter!r})",
        f"evaluating `{parameter}` may do more than give a value",
        answer,
        pins=frozenset({parameter}),
    )


class _Successor(Struct, frozen=True):
    """What Keras 3 has for a name, and of which parameters that is true."""

    name: str
    parameters: str
    right: str
    when: Guard | None = None

    def rows(self) -> Iterator[Rewrite]:
        """Yield the rewrite, by each path that leads to the name."""
        leaf = self.name.rpartition(".")[2]
        for path in dict.fromkeys((self.name, f"{ADDONS.recorded.names[self.name].file}.{leaf}")):
            left = f"{PACKAGE}.{path}{self.parameters}"
            yield rewrite(left, self.right, *([self.when] if self.when else []))


_SUCCESSORS: Final = (
    _Successor("layers.GroupNormalization", "", "keras.layers.GroupNormalization"),
    _Successor(
        "layers.InstanceNormalization",
        "(**kwargs)",
        "keras.layers.GroupNormalization(groups=-1, **kwargs)",
    ),
    _Successor("layers.SpectralNormalization", "", "keras.layers.SpectralNormalization"),
    _Successor(
        "metrics.F1Score",
        "(num_classes, average=None, threshold=None, name='f1_score', dtype=None)",
        "keras.metrics.F1Score(average=average, threshold=threshold, name=name, dtype=dtype)",
        _may_be_left_out("num_classes"),
    ),
    _Successor(
        "metrics.FBetaScore",
        "(num_classes, average=None, beta=1.0, threshold=None, name='fbeta_score', dtype=None)",
        "keras.metrics.FBetaScore(average=average, beta=beta, threshold=threshold, name=name, "
        "dtype=dtype)",
        _may_be_left_out("num_classes"),
    ),
    _Successor(
        "metrics.RSquare",
        "(name='r_square', dtype=None, multioutput='uniform_average', num_regressors=0, "
        "y_shape=None)",
        "keras.metrics.R2Score(num_regressors=num_regressors, name=name, dtype=dtype)",
        # `keras.metrics.R2Score` with regressors asks a symbolic tensor for its truth in `fit`.
        equals("multioutput", "uniform_average")
        & equals("num_regressors", 0)
        & _may_be_left_out("y_shape"),
    ),
)


def proof_of(successor: _Successor) -> Example:
    """Return what proves a successor: the comparison with what `tensorflow_addons` gave."""
    home, _, leaf = successor.name.rpartition(".")
    parameters = successor.parameters[1:-1]
    new = f"lambda {parameters}: {successor.right}" if parameters else successor.right
    return Example(
        before=f"from {PACKAGE}.{home} import {leaf}\n",
        after=f"import keras\n\nnew = {new}",
        raises="ModuleNotFoundError: No module named '",
        check=f"from kdoctor.verify.addons import compare\ncompare({leaf!r}, new)\n",
    )


def proofs() -> tuple[Example, ...]:
    """Return the proofs of all successors."""
    return tuple(map(proof_of, _SUCCESSORS))


@cache
def rows() -> dict[Rewrite, Example]:
    """Return the rewrites of all successors, with what proves each."""
    return {row: proof_of(each) for each in _SUCCESSORS for row in each.rows()}
