"""Run one job on one side: load, find out how to call it, measure; after the fix, compare."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import (
    batch_sequences,
    callback_makers,
    callbacks,
    classes,
    effects,
    functions,
    hints,
    initializers,
    loading,
    makers,
    model_functions,
    optimizer_makers,
    optimizers,
    plain_classes,
    plain_functions,
)
from .backend import IN_A_GRAPH
from .frameworks import Side
from .measurement import (
    Case,
    Closeness,
    NotTried,
    Rejected,
    compare,
    error_text,
    flat,
    may_be_a_bad_guess,
    most_informative,
    random_in,
    typical_sizes,
)

# Names of values that describe shapes and weights; all others are results.
_OF_SHAPES = ("shape", "kind", "weights", "initial value of ")

# Results of a definition that returns tensors; one constant number proves nothing.
_RESULTS = ("output", "value", "result", "distribution")
_OF_TENSORS = {"layer", "function of a tensor", "loss or metric", "loss", "metric"}
_OF_TENSORS |= {"maker of a layer", "maker of a loss or metric", "function of a weight"}
_OF_TENSORS |= {"maker of a function of a tensor"}
_MIN_NUMBERS = 8  # numbers, not all equal

_UNREACHED = "none of the code that the fix changes in it ran"
_BRANCH = "its branch of an `if` or `try` is not taken"


def run(job: dict[str, Any], side: Side, folder: Path) -> tuple[dict[str, Any], Any]:
    """Return the answer and, before the fix, the record that the other side repeats."""
    job = {**job, "roles": set(job["roles"])}
    try:
        initializers.watch(side)
        side.fresh()  # random numbers at import time are the same on both sides
        module = loading.load(job["pieces"], is_keras_2=side.is_keras_2)
        if job["name"] not in vars(module):  # it is in a branch that is not taken
            return {"state": "not tried", "error": f"{_BRANCH} on {side.label}"}, None
        subject = getattr(module, job["name"])
    except BaseException as error:  # noqa: BLE001 - user code may raise anything
        return {"state": "cannot", "error": error_text(error), "at": "loading"}, None
    if side.is_old or not job["repeats"]:
        return _first(subject, job, side)
    with (folder / f"{job['repeats']}-{job['id']}.pickle").open("rb") as file:
        record = pickle.load(file)  # noqa: S301 - written by the other side
    return _second(module, job, side, record), None


def _first(subject: Any, job: dict[str, Any], side: Side) -> tuple[dict[str, Any], Any]:
    """Find out how to call it, and measure it."""
    try:
        found = _exercise_of(subject, job, side)
        plan = found.plan(subject, job, side)
        cases = found.measure(subject, plan, side)
    except NotTried as reason:
        return {"state": "not tried", "error": str(reason)}, None
    except Rejected as error:
        return _rejected(str(error)), None
    except BaseException as error:  # noqa: BLE001
        return {"state": "cannot", "error": error_text(error)}, None
    failed = [case for case in cases if case.error]
    cases = [case for case in cases if not case.error]
    if not cases:
        errors = [case.error for case in failed] or ["kdoctor found no input that it accepts"]
        why = most_informative(errors)
        return {**_rejected(why), "kind": found.kind}, None
    same = _constant(found.kind, cases)
    if same:
        why = f"it returns {same} for every input that kdoctor tried, which proves nothing"
        return {"state": "not tried", "error": why}, None
    labels = {case.label for case in cases}
    record = {"kind": found.kind, "plan": plan, "cases": cases, "labels": labels}
    record["side"] = side.label
    return {"state": "ran", "kind": found.kind, "cases": len(cases)}, record


def _constant(kind: str, cases: list[Case]) -> str:
    """Return the number that all results are equal to; "" if they differ."""
    if kind not in _OF_TENSORS:
        return ""
    values = [
        leaf
        for case in cases
        for name, value in case.values.items()
        if name.startswith(_RESULTS)
        for leaf in flat(value).values()
    ]
    if not values or not all(isinstance(each, np.ndarray) for each in values):
        return ""
    numbers = np.concatenate([each.ravel() for each in values])
    if numbers.size < _MIN_NUMBERS or numbers.dtype.kind not in "fiub":
        return ""
    return f"{numbers[0]:g}" if (numbers == numbers[0]).all() else ""


def _rejected(error: str) -> dict[str, Any]:
    """Return the answer if all inputs and guessed arguments were rejected."""
    return {"state": "cannot", "error": error, "guessed": may_be_a_bad_guess(error)}


def _second(module: Any, job: dict[str, Any], side: Side, record: dict[str, Any]) -> dict[str, Any]:
    """Repeat the measurement of the code before the fix, and compare."""
    side.compared_with = record["side"]
    side.random = random_in(record["cases"])
    found = _BY_KIND[record["kind"]]
    answer: dict[str, Any] = {"kind": found.kind}
    subject = getattr(module, job["name"])
    try:
        cases = _repeated(subject, record, side)
    except BaseException as error:  # noqa: BLE001
        return {**answer, "state": "cannot", "error": error_text(error)}
    answer["uncompared"] = _without_counterpart(record, side)
    if not record["cases"]:
        why = f"none of its results can be measured with {side.backend.title}"
        return {**answer, "state": "not tried", "error": why}
    answer["notes"], answer["hints"] = hints.of(subject, job, record, side)
    if record["plan"].get("unread"):
        endings = ", ".join(record["plan"]["unread"])
        answer["notes"].append(f"the {endings} files that it writes are not compared")
    if side.backend.calls_of_tensorflow():
        answer["notes"].append(
            f"it still calls TensorFlow, which takes tensors of {side.backend.title} on the CPU "
            "only, and outside of training"
        )
    new = {case.label: case for case in cases}
    near, sides = Closeness(), side.sides
    if side.tf is None:
        sides = replace(sides, sizes=typical_sizes(record["cases"]))
    for old in record["cases"]:
        other = new.get(old.label, Case(old.label, error="it was not measured"))
        if other.error and old.label.startswith("class indices") and old is not record["cases"][0]:
            answer["notes"].append(f"not compared with {old.label}: {other.error}")
            continue
        if other.error:
            return {**answer, "state": "cannot", "error": f"{other.error} (with {old.label})"}
        differences, apart = compare(old, other, sides)
        near.take(apart)
        if differences:
            drawn = _drawn(module, job, side, record, other)
            sure = [e for e in differences if e.where not in drawn or not e.is_of_numbers]
            if sure and all(each.where.startswith(effects.PRINTED) for each in sure):
                why = f"its printed output differs: {sure[0].told}"
                return {**answer, "state": "not tried", "error": why}
            if not sure:
                what = differences[0].where
                why = f"its {what} is random: it differs from run to run after the fix"
                return {**answer, "state": "not tried", "error": why}
            first = sure[0]
            return {
                **answer,
                "state": "different",
                "where": first.where,
                "input": old.label,
                "told": first.told,
            }
    if all(_is_of_shapes(name) for case in record["cases"] for name in case.values):
        why = "it draws random numbers, and only their shapes can be compared"
        return {**answer, "state": "not tried", "error": why}
    lines, others_ran = loading.missed()
    if lines and not others_ran:
        return {**answer, "state": "not tried", "error": _UNREACHED, "unreached": lines}
    answer["unreached"] = lines
    if any(_is_random(name) for case in record["cases"] for name in case.values):
        answer["notes"].append("random values are compared by their distribution")
    return {
        **answer,
        "state": "equal",
        "largest": near.largest,
        "tolerance": near.tolerance,
        "share": near.share,
        "cases": len(record["cases"]),
    }


def _is_of_shapes(name: str) -> bool:
    return name in _OF_SHAPES or name.startswith(("shape ", "constrained weights", _OF_SHAPES[-1]))


def _is_random(name: str) -> bool:
    return name.startswith("distribution of ")


def _repeated(subject: Any, record: dict[str, Any], side: Side) -> list[Case]:
    """Measure as before the fix."""
    plan = {**record["plan"], "only": record["labels"]}
    return list(_BY_KIND[record["kind"]].measure(subject, plan, side))


def _drawn(
    module: Any, job: dict[str, Any], side: Side, record: dict[str, Any], case: Case
) -> set[str]:
    """Return the values of a case that change if it is loaded and run with another seed."""
    side.seed += 1
    try:
        subject = getattr(loading.load_again(module), job["name"])
        cases = _repeated(subject, record, side)
    except BaseException:  # noqa: BLE001 - then all differences count
        return set()
    again = next((each for each in cases if each.label == case.label), case)
    return {each.where for each in compare(case, again)[0]}


def _without_counterpart(record: dict[str, Any], side: Side) -> list[str]:
    """Take out of a record what this backend cannot measure, and return its names."""
    found = set[str]()
    if not side.backend.has_sparse_gradients:
        found |= {case.label for case in record["cases"] if case.label == optimizers.ROWS}
        record["cases"] = [case for case in record["cases"] if case.label != optimizers.ROWS]
    if not side.backend.has_graphs:
        for case in record["cases"]:
            graphs = [name for name in case.values if name.endswith(IN_A_GRAPH)]
            found |= {*graphs}
            for name in graphs:
                del case.values[name]
    return sorted(found)


def _exercise_of(subject: Any, job: dict[str, Any], side: Side) -> Any:
    if isinstance(subject, type):
        return _BY_KIND[classes.kind_of(subject, side)]
    if callable(subject):
        return _BY_KIND[functions.kind_of(subject, job, side)]
    raise NotTried("once loaded, it is neither a function nor a class")


_BY_KIND: dict[str, Any] = {
    each.kind: each
    for each in (
        *functions.EXERCISES,
        *makers.EXERCISES,
        *optimizer_makers.EXERCISES,
        *callback_makers.EXERCISES,
        *batch_sequences.EXERCISES,
        *plain_functions.EXERCISES,
        *model_functions.EXERCISES,
        *classes.EXERCISES,
        *(callbacks.CallbackClass, optimizers.OptimizerClass, optimizers.ScheduleClass),
        plain_classes.PlainClass,
    )
}
