"""What saved models are, and what keeps a Keras from loading them, as text and as JSON."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from kdoctor import __version__
from kdoctor.models import Explained, Gravity, Obstacle, Verdict
from kdoctor.models.contents import Contents, Signature, WeightGroup
from kdoctor.models.kinds import FileKind
from kdoctor.models.load import Load
from kdoctor.models.looking import Looked
from kdoctor.models.of_kind import WEIGHTS, how_to_load
from kdoctor.models.serving import described
from kdoctor.report.locations import where_placed
from kdoctor.report.output import Page, printable
from kdoctor.report.summary import count, write_lines

_MAX_SHOWN: Final = 40  # obstacles of a file; JSON has all
_MAX_PLACES: Final = 4  # of an obstacle
_MAX_LAYERS: Final = 6  # of a file of weights
_ROLES: Final = {
    Verdict.LOADS: "good",
    Verdict.LOADS_WITH: "change",
    Verdict.CONVERTS: "change",
    Verdict.BY_HAND: "error",
    Verdict.NOT_FOR_KERAS: "error",
}
_COUNTED: Final = {
    Verdict.LOADS: ("loads as it is", "load as they are"),
    Verdict.LOADS_WITH: ("loads with arguments", "load with arguments"),
    Verdict.CONVERTS: ("loads once it is converted", "load once they are converted"),
    Verdict.BY_HAND: ("takes code that is written for it", "take code that is written for them"),
    Verdict.NOT_FOR_KERAS: ("is not for Keras", "are not for Keras"),
    None: ("holds weights alone", "hold weights alone"),
}
_RENAMED: Final = ("loads once it is renamed", "load once they are renamed")


def write_models(found: Looked, page: Page) -> None:
    """Write each saved model with its verdict and what is in its way, then a summary."""
    for number, each in enumerate(found.models):
        if number:
            page.line()
        write_text(each, page, found.loads_of(each))
    if found.models and found.unreadable:
        page.line()
    for file in found.unreadable:
        page.line(f"{page.paint('path', printable(file.path))}: not read: {printable(file.why)}")
    if page.verbosity >= 0 and (len(found.models) + len(found.unreadable) > 1 or found.passed_over):
        page.line()
        write_lines(_summary(found), page)


def write_text(found: Explained, page: Page, loads: Sequence[Load] = ()) -> None:
    """Write what the file is and the verdict, then each obstacle with place, cause and cure.

    ``loads`` are the calls that load it, where the code was named.
    """
    path = page.paint("path", printable(str(found.path)))
    verdict = page.paint(_ROLES[found.verdict] if found.verdict else "change", _verdict(found))
    page.line(f"{path}: {_what(found.contents)}: {verdict}")
    for load in loads if page.verbosity >= 0 else ():
        call = printable(" ".join(load.call.split()))
        for line in page.wrapped(f"  loaded at {where_placed(load.place)}: {call}", "    "):
            page.line(line)
    folded = _folded(found.obstacles or ())
    for obstacle, places in folded[:_MAX_SHOWN]:
        _write_obstacle(obstacle, places, page)
    if len(folded) > _MAX_SHOWN:
        page.line(f"  … and {len(folded) - _MAX_SHOWN} more, all in --format json")
    if page.verbosity < 0:
        return
    if not found.target.is_before_keras_3 and (call := _call(found)):
        page.line(f"  load it: {printable(call)}")
    if found.verdict is Verdict.CONVERTS and not _is_only_named(found):
        page.line(f"  convert it: {printable(_conversion(found.path))}")
    if found.verdict is None and (held := _held(found.contents)):
        for line in page.wrapped(f"  holds: {printable(held)}", "    "):
            page.line(line)
    for each in found.contents.signatures:
        page.line(f"  signature: {printable(described(each))}")
    for note in found.contents.notes:
        page.line(f"  not looked at: {printable(note)}")


def write_json(found: Explained, page: Page) -> None:
    """Write the same as one object."""
    page.line(json.dumps(document_of(found)))


def write_models_json(found: Looked, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    target = found.target
    document = {
        "kdoctor": __version__,
        "target": {"name": target.name, "version": target.version, "source": target.source},
        "models": [
            document_of(each) | {"loaded_at": [_load(load) for load in found.loads_of(each)]}
            for each in found.models
        ],
        "unreadable": [{"path": file.path, "why": file.why} for file in found.unreadable],
        "passed_over": {str(kind): number for kind, number in found.passed_over},
    }
    page.line(json.dumps(document, indent=2))


def document_of(found: Explained) -> dict[str, Any]:
    """Return what is known of a saved model as a JSON-ready dict."""
    told, writer = found.contents, found.contents.writer
    return {
        "file": str(found.path),
        "kind": str(found.kind),
        "target": str(found.target),
        "kind_is_loaded": not found.is_refused,
        "verdict": None if found.verdict is None else str(found.verdict),
        "arguments": found.arguments,
        "load": _call(found) or None,
        "written_by": {name: getattr(writer, name) for name in writer.__struct_fields__},
        "obstacles": None
        if found.obstacles is None
        else [_obstacle(each) for each in found.obstacles],
        "signatures": [_signature(each) for each in told.signatures],
        "weights": None if told.weights is None else [_group(each) for each in told.weights],
        "not_looked_at": list(told.notes),
    }


def _load(load: Load) -> dict[str, Any]:
    place = load.place
    at = {"path": place.path, "cell": place.cell, "line": place.line, "column": place.column}
    return at | {"call": load.call}


def _obstacle(obstacle: Obstacle) -> dict[str, Any]:
    return {
        "place": obstacle.place,
        "cause": obstacle.cause,
        "cure": obstacle.cure,
        "fault": str(obstacle.fault),
        "gravity": str(obstacle.gravity),
        "part": str(obstacle.part),
        "subject": obstacle.subject,
        "became": obstacle.became,
    }


def _signature(signature: Signature) -> dict[str, Any]:
    tensors = {"inputs": signature.inputs, "outputs": signature.outputs}
    return {"name": signature.name} | {
        side: [{"name": each.name, "shape": each.shape, "dtype": each.dtype} for each in some]
        for side, some in tensors.items()
    }


def _group(group: WeightGroup) -> dict[str, Any]:
    shapes = [{"name": each.name, "shape": each.shape} for each in group.weights]
    return {"layer": group.name, "path": group.path, "weights": shapes}


def _what(contents: Contents) -> str:
    """Return what a file is and who wrote it, as far as it says."""
    writer = contents.writer
    said = [f"Keras {writer.keras}"] * bool(writer.keras) + [writer.backend] * bool(writer.backend)
    said += [f"TensorFlow {writer.tensorflow}"] * bool(writer.tensorflow)
    said += [writer.tool] * bool(writer.tool)
    wrote = f", written by {printable(', '.join(said))}" if said else ""
    return f"{contents.kind}{wrote}"


def _verdict(found: Explained) -> str:
    """Return the verdict in a line. Nothing "loads" of which a part was not looked at."""
    target = found.target
    match found.verdict:
        case None if found.kind in WEIGHTS or found.kind is FileKind.HDF5:
            told = "reads it into the same model, once built"
            return f"no model in it; `load_weights` of {target} {told}"
        case None:
            return f"no model in it that {target} could load"
        case Verdict.LOADS if found.contents.notes:
            return f"nothing that was looked at keeps {target} from loading it"
        case Verdict.LOADS if found.kind is FileKind.CONFIG:
            return f"{target} makes the model, without weights"
        case Verdict.LOADS:
            return f"{target} loads it"
        case Verdict.LOADS_WITH:
            given = ", ".join(f"{name}={value}" for name, value in found.arguments.items())
            return printable(f"{target} loads it with {given}")
        case Verdict.CONVERTS if _is_only_named(found):
            return f"{target} does not load it under this name"
        case Verdict.CONVERTS:
            return f"{target} loads it once it is converted"
        case Verdict.BY_HAND:
            return f"{target} does not load it; it takes code that is written for it"
        case _:
            return f"{target} does not load it"


def _held(contents: Contents) -> str:
    """Return which layers have weights in a file that has no model, with the shapes of some."""
    groups = [each for each in contents.weights or () if each.weights]
    shown = [
        f"{each.name or each.path} {' '.join(str(weight.shape) for weight in each.weights)}"
        for each in groups[:_MAX_LAYERS]
    ]
    more = [f"and {len(groups) - _MAX_LAYERS} more"] * (len(groups) > _MAX_LAYERS)
    layers = count(len(groups), "layer")
    order = "" if contents.kind is FileKind.KERAS_WEIGHTS else ", in this order"
    return f"weights of {layers}{order}: {', '.join([*shown, *more])}" if groups else ""


def _is_only_named(found: Explained) -> bool:
    """Say whether nothing but the name of a file is wrong."""
    stops = [each for each in found.obstacles or () if each.gravity is Gravity.STOPS]
    return bool(stops) and all(each.subject == "name" and each.became for each in stops)


def _call(found: Explained) -> str:
    """Return the call that loads the file, "" where there is none yet."""
    loads = found.verdict in {Verdict.LOADS, Verdict.LOADS_WITH, None}
    call = how_to_load(found.contents) if loads else ""
    if not call or not found.arguments:
        return call
    given = "".join(f", {name}={value}" for name, value in found.arguments.items())
    return f"{call[:-1]}{given})"


def _conversion(path: Path) -> str:
    """Return the command that converts a file to one beside it."""
    to = path.with_suffix(".keras")
    to = path.with_name(f"{path.stem}-keras3.keras") if to == path else to
    return shlex.join(["kdoctor", "model", str(path), "--convert", str(to), "--verify"])


def _folded(obstacles: tuple[Obstacle, ...]) -> list[tuple[Obstacle, list[str]]]:
    """Return the obstacles, each once with all its places."""
    found = dict[tuple[str, str], tuple[Obstacle, list[str]]]()
    for each in obstacles:
        found.setdefault((each.cause, each.cure), (each, []))[1].append(each.place)
    return list(found.values())


def _write_obstacle(obstacle: Obstacle, places: list[str], page: Page) -> None:
    shown = ", ".join(printable(each or "the file") for each in places[:_MAX_PLACES])
    more = f" and {len(places) - _MAX_PLACES} more" if len(places) > _MAX_PLACES else ""
    where = "" if not any(places) else f"{page.paint('path', shown)}{more}: "
    differs = "" if obstacle.gravity is Gravity.STOPS else "changes: "
    for line in page.wrapped(f"  {where}{differs}{printable(obstacle.cause)}", "    "):
        page.line(line)
    for number, text in enumerate(obstacle.cure.splitlines()):
        start = "do: " if number == 0 else ""
        is_code = text.startswith("    ")
        lines = [f"    {text}"] if is_code else page.wrapped(f"    {start}{text}", "      ")
        for line in lines:
            page.line(printable(line))


def _summary(found: Looked) -> Iterator[str]:
    renamed = [each for each in found.models if _is_only_named(each)]
    counts = Counter(each.verdict for each in found.models if each not in renamed)
    kinds = [(counts[verdict], said) for verdict, said in _COUNTED.items()]
    kinds.insert(2, (len(renamed), _RENAMED))
    parts = [f"{number} {said[number != 1]}" for number, said in kinds if number]
    parts += [f"{len(found.unreadable)} could not be read"] * bool(found.unreadable)
    total = len(found.models) + len(found.unreadable)
    yield f"{count(total, 'saved model')} for {found.target}: {', '.join(parts)}."
    if found.passed_over:
        passed = ", ".join(f"{kind}: {number}" for kind, number in found.passed_over)
        yield f"Passed over below folders; name one to have it looked at: {passed}."
