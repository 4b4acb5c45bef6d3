"""`tf.random.set_seed(7)` and `np.random.seed(7)` do not seed the weights of Keras 3."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, instances, is_hidden, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.roots import USES_KERAS_3
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api.tensorflow_aliases import FIRST, ways_to
from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, Severity
from kdoctor.rules.fixes.seeds import seeds_all
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_SEEDS: Final = ways_to("tensorflow.random.set_seed").union(
    f"{way}{each}" for way in FIRST for each in ("set_random_seed", "random.set_random_seed")
)
_SEED_WORDS: Final = ("set_seed", "set_random_seed", "seed")
_SEED_OF_NUMPY: Final = "numpy.random.seed"
_NO_SEEDS: Final = {
    *("__future__", "keras", "numpy", "tensorflow"),
    *("IPython", "PIL", "cv2", "h5py", "matplotlib", "pandas", "pydot", "six", "sklearn", "tqdm"),
    *sys.stdlib_module_names,
}
"""Packages that draw nothing from NumPy, but for what the pattern below finds."""
_DRAWS_FROM_NUMPY: Final = pattern(
    r"numpy\.random\b(?!\.seed$)|sklearn(?!\.metrics|\.preprocessing)"
    r"|.*\.(?:preprocessing\.image|wrappers|TimeseriesGenerator|skipgrams)\b"
)
_SAMPLES_ROWS: Final = "sample"  # a method of pandas' frames
_SEED_NO_PYTHON: Final = ("numpy.", "tensorflow.", "torch.", "jax.", "cupy.")
_NOT_DRAWN: Final = {"'zeros'", "'ones'", "None"}
_SEEDS_MORE: Final = "it also seeds Python and NumPy, which may have their own seeds"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    found = [each for each in _calls(module) if not module.is_guarded(each.node)]
    if not found or any(_may_seed_python(each) for each in module.references):
        return
    drawn = [
        reference
        for reference, call, _ in instances(module, Kind.LAYER, facts)
        if _draws(facts, reference, call)
    ]
    is_keras = any(each.name.startswith("keras.") for each in drawn)
    for reference in found if drawn else ():
        if reference.name != _SEED_OF_NUMPY or is_keras:
            yield _finding(module, reference)


def _calls(module: Module) -> list[Reference]:
    """Return the calls that seed TensorFlow; without any, those that seed NumPy in vain."""
    called = [each for each in module.references if each.call is not None]
    of_tensorflow = [each for each in called if each.name in _SEEDS]
    of_numpy = [each for each in called if each.name == _SEED_OF_NUMPY]
    if of_tensorflow or not of_numpy:
        return of_tensorflow
    names = {each.name for each in module.references}
    stars = (each for each in module.references if isinstance(each.node, cst.ImportStar))
    if any(_top(each.name) != "keras" for each in stars):
        return []
    return of_numpy if _none_draws(names, module.words) else []


def _none_draws(names: Collection[str], words: Collection[str]) -> bool:
    """Say whether nothing of these names draws from NumPy."""
    if "pandas" in {_top(each) for each in names} and _SAMPLES_ROWS in words:
        return False
    return all(_top(each) in _NO_SEEDS and not _DRAWS_FROM_NUMPY.match(each) for each in names)


def _top(name: str) -> str:
    return name.partition(".")[0]


def _may_seed_in_vain(quick: QuickFacts, _: TargetFacts) -> bool:
    if not _SEEDS.isdisjoint(quick.names):
        return True
    return _SEED_OF_NUMPY in quick.names and _none_draws(quick.names, quick.words)


def _may_seed_python(reference: Reference) -> bool:
    """Say whether it is a function that seeds Python's ``random``, or may do so."""
    name = reference.name
    leaf = name.rpartition(".")[2].lower()
    if "seed" not in leaf or reference.kind is ReferenceKind.IMPORT:
        return False
    return name.endswith("utils.set_random_seed") or not name.startswith(_SEED_NO_PYTHON)


def _draws(facts: TargetFacts, reference: Reference, call: cst.Call) -> bool:
    """Say whether a layer has something drawn, and no seed of its own."""
    signature = facts.signature(reference.name)
    if signature is None or is_hidden(call):
        return False
    if signature.parameter("seed") is not None:
        rate = argument(call, "rate", 0) or argument(call, "stddev", 0)
        return argument(call, "seed") is None and (rate is None or literal(rate.value) != 0)
    return any(
        each.name.endswith("_initializer")
        and (each.default or "None") not in _NOT_DRAWN
        and argument(call, each.name) is None
        for each in signature.parameters
    )


def _finding(module: Module, reference: Reference) -> Finding:
    assert reference.call is not None
    fix = seeds_all(module, reference.call.func, title="Write `{}`", because=_SEEDS_MORE)
    return rule.finding(
        module.place(reference.node),
        f"`{module.source(reference.node)}` does not seed the weights of Keras 3, nor its "
        "`Dropout`: they use Python's `random`, and differ in every run",
        symbol=reference.name,
        confidence=reference.confidence,
        help=f"{fix.title}, which seeds Python, NumPy and TensorFlow.",
        fix=fix,
    )


rule = Rule(
    code="KD463",
    name="seeds-no-weights",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(*_SEED_WORDS) & USES_KERAS_3 & Trigger(_may_seed_in_vain),
    since="3.0",
    only_alone=True,
)
