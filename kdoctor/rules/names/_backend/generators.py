"""Random functions with a seed: each call draws the next numbers, as in Keras 2.

An int given to a function of ``keras.random`` makes the same numbers at each call: one mask of
dropout for ever. A ``keras.random.SeedGenerator`` goes on, so one is kept for each seed.
"""

from __future__ import annotations

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import passed
from kdoctor.model import Edit, Fix, Hole, NoFix, Span
from kdoctor.rules.fixes.helper_definition import spelled_helper
from kdoctor.syntax import Module, Reference, ReferenceKind

NAME = "seed_generator"
HELPER = '''@{cache}
def seed_generator(seed):
    """Return the generator of a seed: each call draws its next numbers."""
    return {generator}(seed)'''
_NAMES = {"cache": "functools.cache", "generator": "keras.random.SeedGenerator"}
_POSITIONS = {
    **dict.fromkeys(("random_normal", "random_uniform", "truncated_normal"), 4),
    **dict.fromkeys(("dropout", "random_bernoulli", "random_binomial"), 3),
}
_OTHER_NUMBERS = (
    "a seed gives other numbers than on Keras 2, and calls with the same seed share one sequence"
)


def with_generator(module: Module, reference: Reference, leaf: str, fix: Fix) -> Fix | NoFix:
    """Return a fix with a generator in place of the seed that it passes on, if it has one."""
    seed = _seed(module, leaf, reference.call)
    if seed is None:
        return fix
    seeded: list[cst.CSTNode] = [*_seeded(module)] or [reference.node]
    helper = spelled_helper(module, reference, seeded, NAME, (HELPER, _NAMES))
    if helper is None:
        return NoFix(
            "an int `seed` gives the same numbers at each call of `keras.random`: keep a "
            f"`keras.random.SeedGenerator(seed)` and pass it (`{NAME}`, which a fix would add, "
            "cannot be added to this file)"
        )
    return replace(
        fix,
        edits=(*helper.edits, *_with_seed_in_it(fix.edits, module.span(seed))),
        imports=tuple(dict.fromkeys([*fix.imports, *helper.imports])),
        unsafe_because=_OTHER_NUMBERS,
    )


def _with_seed_in_it(edits: tuple[Edit, ...], span: Span) -> tuple[Edit, ...]:
    """Return the edits with the seed handed to the function that gives its generator."""
    taken_over = [
        replace(
            edit,
            parts=tuple(
                part
                for each in edit.parts
                for part in (
                    (f"{NAME}(", each, ")")
                    if isinstance(each, Hole) and each.span == span
                    else (each,)
                )
            ),
        )
        for edit in edits
    ]
    if taken_over != [*edits]:
        return tuple(taken_over)
    # The seed stays where it is, and the call around it is changed in place.
    start, end = Span(span.start, span.start), Span(span.end, span.end)
    return (*edits, Edit(start, (f"{NAME}(",)), Edit(end, (")",)))


def _seeded(module: Module) -> list[cst.Call]:
    """Return the calls of the module that are given a seed."""
    return [
        each.call
        for each in module.references
        if each.kind is ReferenceKind.LOAD
        and ".backend." in each.name
        and each.call is not None
        and _seed(module, each.name.rpartition(".")[2], each.call) is not None
    ]


def _seed(module: Module, leaf: str, call: cst.Call | None) -> cst.BaseExpression | None:
    """Return what a call gives for a seed, other than None and what is a generator already."""
    if call is None or leaf not in _POSITIONS:
        return None
    given = passed(call, "seed", _POSITIONS[leaf])
    if given is None or (isinstance(given, cst.Name) and given.value == "None"):
        return None
    made = given.func if isinstance(given, cst.Call) else None
    is_generator = made is not None and (module.qualified(made) or "").endswith("SeedGenerator")
    return None if is_generator else given
