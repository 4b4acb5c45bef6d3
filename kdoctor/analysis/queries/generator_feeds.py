"""Queries for trainings that a generator function of the file feeds."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import Call
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.training.generators import (
    FITS,
    GeneratorFeed,
    generator_feeds,
    may_feed_generators,
)
from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module


class FedCall(Call):
    """A call that trains a model, with what feeds it."""

    def __init__(self, module: Module, facts: TargetFacts, feed: GeneratorFeed) -> None:
        super().__init__(module, facts, feed.call, use=feed.use)
        self.feed = feed


def calls_fed_by_generators(*, held_out: bool = False) -> Query[FedCall]:
    """Calls of `fit` and its kin that a generator feeds; ``held_out``: that one validates."""

    def find(module: Module, facts: TargetFacts) -> Iterator[FedCall]:
        for each in generator_feeds(module, held_out=held_out):
            yield FedCall(module, facts, each)

    return Query(find, Trigger.needing(FITS, lambda quick, _: may_feed_generators(quick, FITS)))
