"""What keeps saved models from being loaded, in SARIF 2.1.0."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from kdoctor import __version__
from kdoctor.digests import sha256
from kdoctor.models import Explained, Fault, Gravity, Obstacle
from kdoctor.models.load import Load
from kdoctor.models.looking import Looked
from kdoctor.report.formats.sarif import BASES, SCHEMA, artifact_of
from kdoctor.report.links import home_url
from kdoctor.report.locations import SourceRoot
from kdoctor.report.output import Page

_RULES: Final = {
    Fault.FILE: "The target loads no file of this kind, or of this name.",
    Fault.CLASS: "A class of the configuration is not in the target.",
    Fault.ARGUMENT: "A class of the target does not take an argument of the configuration.",
    Fault.VALUE: "A class of the target does not take the value of an argument, or otherwise.",
    Fault.OPERATION: "The model holds a recorded function that the target does not make.",
    Fault.LAMBDA: "The model holds the bytecode of a function.",
    Fault.OWN_CLASS: "The model has a class that is no class of Keras.",
    Fault.OWN_FUNCTION: "The model has a function that is no function of Keras.",
    Fault.STRUCTURE: "The target does not read this form of a configuration.",
    Fault.WEIGHTS: "Weights of the file do not fit the model.",
}
_NOT_READ: Final = "not-read"
_FINGERPRINT: Final = "kdoctorModelFingerprint/v1"


def write_sarif(found: Looked, page: Page) -> None:
    """Write a log with one run: a result for each obstacle."""
    checkout = SourceRoot.here()
    rules = sorted({each.fault for model in found.models for each in model.obstacles or ()})
    driver: dict[str, Any] = {
        "name": "kdoctor",
        "version": __version__,
        "semanticVersion": __version__,
        "language": "en",
        "rules": [
            {"id": _rule(each), "shortDescription": {"text": _RULES[each]}} for each in rules
        ],
        "notifications": [
            {"id": _NOT_READ, "shortDescription": {"text": "A saved model could not be read."}}
        ],
    }
    if home := home_url():
        driver["informationUri"] = home
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(found, checkout)],
        "originalUriBaseIds": BASES,
        "columnKind": "unicodeCodePoints",
        "results": [
            result | _loads(found.loads_of(model), checkout)
            for model in found.models
            for result in _results(model, rules, checkout)
        ],
        "properties": {"target": str(found.target), "filesRead": len(found.models)},
    }
    page.line(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2))


def _rule(fault: Fault) -> str:
    return f"saved-model/{fault}"


def _results(
    model: Explained, rules: list[Fault], checkout: SourceRoot
) -> Iterator[dict[str, Any]]:
    for obstacle in model.obstacles or ():
        artifact = artifact_of(str(model.path), checkout)
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact}}
        if obstacle.place:
            location["logicalLocations"] = [
                {"fullyQualifiedName": obstacle.place, "kind": "object"}
            ]
        yield {
            "ruleId": _rule(obstacle.fault),
            "ruleIndex": rules.index(obstacle.fault),
            "level": "error" if obstacle.gravity is Gravity.STOPS else "warning",
            "message": {"text": _message(obstacle)},
            "locations": [location],
            "partialFingerprints": {_FINGERPRINT: _fingerprint(model, obstacle, checkout)},
            "properties": {"kind": str(model.kind), "verdict": str(model.verdict)},
        }


def _loads(loads: Sequence[Load], checkout: SourceRoot) -> dict[str, Any]:
    """Return where code that was named loads the model, as related locations of a result."""
    related = [
        {
            "physicalLocation": {
                "artifactLocation": artifact_of(each.place.path, checkout),
                "region": {"startLine": each.place.line, "startColumn": each.place.column},
            },
            "message": {"text": f"loaded here: {each.call}"},
        }
        for each in loads
        if each.place.cell is None  # where a cell stands in the JSON of a notebook is not known
    ]
    return {"relatedLocations": related} if related else {}


def _message(obstacle: Obstacle) -> str:
    place = f"{obstacle.place}: " if obstacle.place else ""
    return "\n".join(filter(None, (f"{place}{obstacle.cause}", obstacle.cure)))


def _fingerprint(model: Explained, obstacle: Obstacle, checkout: SourceRoot) -> str:
    parts = (checkout.text(str(model.path)), obstacle.place, obstacle.fault, obstacle.subject)
    return sha256("\0".join((*parts, obstacle.cause)).encode()).hexdigest()[:32]


def _invocation(found: Looked, checkout: SourceRoot) -> dict[str, Any]:
    return {
        "executionSuccessful": not found.unreadable,
        "toolExecutionNotifications": [
            {
                "descriptor": {"id": _NOT_READ},
                "level": "error",
                "message": {"text": f"not read: {file.why}"},
                "locations": [
                    {"physicalLocation": {"artifactLocation": artifact_of(file.path, checkout)}}
                ],
            }
            for file in found.unreadable
        ],
    }
