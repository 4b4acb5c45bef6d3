"""Names of `keras_applications`, a package that moved into Keras."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import package
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.names._deduplicate import of_package
from kdoctor.rules.rule import rule

_PACKAGE = "keras_applications"


@rule("KD107", severity=Severity.LEGACY, since="3.0", look_for=files(package(_PACKAGE)))
def check(file: File) -> Iterator[Finding]:
    """Report each import from `keras_applications` once, else each name that is read off it."""
    for reference in of_package(file.module, _PACKAGE):
        new = f"keras.applications{reference.name.removeprefix(_PACKAGE)}"
        is_there = file.facts.lookup(new).presence is Presence.EXISTS
        yield file.finding(
            f"`{reference.name}`: keras-applications was abandoned in 2020, and does not support "
            "Keras 3",
            at=reference.node,
            symbol=reference.name,
            confidence=reference.confidence,
            help=f"Write `{new}`, without backend=, layers=, models= and utils=."
            if is_there
            else "keras.applications has the models, but not this name: copy it into your project.",
            fix=NoFix("its functions are called with arguments that those of Keras do not accept"),
        )
