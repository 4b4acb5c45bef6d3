"""Compare what kdoctor says of each file with what Keras did."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kdoctor.errors import FileProblem
from kdoctor.keras_api import resolve_target
from kdoctor.models import Explained, Gravity, Verdict, explained

WEIGHTS = ("only.h5", "weights.h5")
_WANTED = 0.99  # of the files: the verdict is what Keras does
# Models, by how their names end, that Keras 3 refuses for what no configuration tells of.
EXPLAINED = {
    "TextVectorization": "it has learned no words, and Keras 3 writes a table that it cannot read",
    "-Layer": "the base of all layers has no `call`",
    "-InputLayer": "it was called like a layer, and has no shape of its own",
    "UpSampling1D": "Keras 2 took tensors of a rank that it is not for",
    "UpSampling2D": "Keras 2 took tensors of a rank that it is not for",
    "UpSampling3D": "Keras 2 took tensors of a rank that it is not for",
    "sequential-in-sequential": "the outer model was not built when Keras 2 saved it",
}
# The same of files of weights alone.
EXPLAINED_WEIGHTS = {
    "activations-layer-PReLU": "Keras 3 makes no weights for an activation that is a layer",
}


@dataclass(slots=True)
class Count:
    """The files of one writer and format."""

    files: int = 0
    refused: int = 0
    false_alarms: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    bad_cures: list[str] = field(default_factory=list)

    @property
    def equal(self) -> int:
        """The files of which kdoctor says what Keras does."""
        return self.files - len(self.false_alarms) - len(self.missed)


def judge(folder: Path) -> int:
    """Print a table and each difference; return 1 where there are too many."""
    counts: dict[tuple[str, str], Count] = defaultdict(Count)
    for told in _loaded(folder):
        path = folder / told["file"]
        count = counts[path.parent.name, _format(path, told)]
        count.files += 1
        count.refused += bool(told["error"])
        target = resolve_target(f"keras=={told['keras']}", "--target")
        try:
            found = explained(path, target)
        except FileProblem as problem:
            if not told["error"]:
                count.false_alarms.append(f"{told['file']}: {problem}")
            continue
        _compare(told, found, count)
    _print(counts)
    files = sum(each.files for each in counts.values())
    equal = sum(each.equal for each in counts.values())
    share = equal / max(1, files)
    print(f"{equal} of {files} are as Keras has it ({share:.1%})")
    return 1 if share < _WANTED else 0


def _loaded(folder: Path) -> Iterator[dict[str, Any]]:
    lines = (line for each in sorted(folder.glob("loaded-*.jsonl")) for line in each.open())
    yield from sorted(map(json.loads, lines), key=lambda told: told["file"])


def _format(path: Path, told: dict[str, Any]) -> str:
    """Return the ending by which a file is counted, and how its weights were loaded."""
    ending = next((each for each in WEIGHTS if path.name.endswith(f".{each}")), "")
    if not ending:
        return path.suffix
    return f".{ending} by name" if told.get("by_name") else f".{ending}"


def _compare(told: dict[str, Any], found: Explained, count: Count) -> None:
    stopping = [each for each in found.obstacles or () if each.gravity is Gravity.STOPS]
    is_refused = bool(stopping) or found.is_refused
    if is_refused and not told["error"]:
        causes = "; ".join(f"{each.place}: {each.cause}" for each in stopping)
        count.false_alarms.append(f"{told['file']}: {causes}")
    elif not is_refused and told["error"]:
        count.missed.append(f"{told['file']}: {told['error'][:400]!r}")
    elif told["error"] and "custom_objects" not in found.arguments:
        is_curable = found.verdict is Verdict.LOADS_WITH
        if is_curable != (told["cured"] is not None):
            said = f"{found.verdict} {found.arguments}, tried: {told['cured']}"
            causes = "; ".join(f"{each.place}: {each.cause}" for each in stopping)
            count.bad_cures.append(f"{told['file']}: {said}: {causes}: {told['error'][:200]!r}")


def _print(counts: dict[tuple[str, str], Count]) -> None:
    print("| writer | format | files | refused | equal | false alarms | missed | other cure |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for (writer, ending), count in sorted(counts.items()):
        numbers = (count.files, count.refused, count.equal)
        lists = (count.false_alarms, count.missed, count.bad_cures)
        cells = " | ".join(map(str, (*numbers, *map(len, lists))))
        print(f"| {writer} | {ending} | {cells} |")
    for kind in ("false_alarms", "missed", "bad_cures"):
        print(f"\n{kind}:")
        for count in counts.values():
            for each in getattr(count, kind):
                why = explanation(_model(each.partition(":")[0]), EXPLAINED | EXPLAINED_WEIGHTS)
                print(f"  {each}" + (f"\n    {why}" if why else ""))


def _model(file: str) -> str:
    """Return the name of the model that a file holds."""
    name = file
    for each in (*WEIGHTS, "h5", "keras"):
        name = name.removesuffix(f".{each}")
    return name


def explanation(model: str, known: dict[str, str] = EXPLAINED) -> str:
    """Return why a model is refused that kdoctor does not accuse; "" where there is no reason."""
    return next((why for end, why in known.items() if model.endswith(end)), "")
