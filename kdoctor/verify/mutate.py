"""``python -m kdoctor.verify.mutate --all``: mutation testing of the proofs.

Rewrites that hold are broken by typical mistakes: two arguments swapped, a keyword dropped, a
default or a constant changed, a result of another type, the argument itself in place of a copy.
The proof of each mutant must fail. Equivalent changes (``add(y, x)``, a keyword that passes the
default) are not mutants.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kdoctor import keras_api
from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.target import Target
from kdoctor.verify import pool, proof_jobs, record
from kdoctor.verify.conditions import takes_any_tensor
from kdoctor.verify.jobs import RewriteJob

_NEWEST = Target("keras", "3.15.1", "", "3.15.1", "3.15.1")

# Functions whose first two arguments may be swapped.
_COMMUTE = frozenset(
    {
        *("add", "multiply", "maximum", "minimum", "equal", "not_equal", "logical_and"),
        *("logical_or", "logical_xor", "isclose"),
    }
)
# Arguments that affect nothing that is compared.
_SEEN_BY_NOBODY = frozenset({"name", "seed", "sparse", "ragged"})
# Arguments without effect where rewrites pass them: nearest-pixel resizing is not antialiased, and
# the number of parts is the length of the axis.
_WITHOUT_EFFECT = frozenset({("resize", "antialias"), ("unstack", "num")})


# Guards which ensure that the type of the result does not matter.
_SORT_SEEN_BY_NOBODY = ("statement_position", "made_a_number")
# Functions that are compared only by the state they leave behind.
_WITHOUT_RESULT = frozenset({"set_image_dim_ordering"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rewrite with one change, and the description of the change."""

    row: Rewrite
    change: str


def mutants_of(row: Rewrite) -> list[Mutant]:
    """Return the mutants of a rewrite."""
    changes = [
        *_swapped(row), *_dropped(row), *_other_defaults(row), *_other_constants(row),
        *_of_another_sort(row), *_shared(row),
    ]  # fmt: skip
    found = {row.right}
    mutants = []
    for change, tree in changes:
        right = ast.unparse(tree)
        if right not in found and ast.dump(tree) != ast.dump(_tree(row)):
            found.add(right)
            mutants.append(Mutant(rewrite(row.left, right, row.when), change))
    return mutants


def _tree(row: Rewrite) -> ast.Expression:
    return ast.parse(row.right, mode="eval")


def _swapped(row: Rewrite) -> Iterator[tuple[str, ast.Expression]]:
    calls = list(_calls(_tree(row)))
    # (x - y)² is (y - x)².
    squared = [ast.dump(each.args[0]) for each in calls if _leaf(each) == "square"]
    for number, call in enumerate(calls):
        alike = len(call.args) < 2 or ast.dump(call.args[0]) == ast.dump(call.args[1])
        if not alike and _leaf(call) not in _COMMUTE and ast.dump(call) not in squared:
            yield f"swap the arguments of {_leaf(call)}", _changed(row, number, _swap)


def _swap(call: ast.Call) -> None:
    call.args[0], call.args[1] = call.args[1], call.args[0]


def _dropped(row: Rewrite) -> Iterator[tuple[str, ast.Expression]]:
    tree = _tree(row)
    # A few thousand samples cannot show the precision in which random numbers were drawn.
    compared = {
        each for node in ast.walk(tree) if isinstance(node, ast.Compare)
        for each in (node.left, *node.comparators)
    }  # fmt: skip
    for number, call in enumerate(_calls(tree)):
        for place, keyword in enumerate(call.keywords):
            if keyword.arg in _SEEN_BY_NOBODY or (_leaf(call), keyword.arg) in _WITHOUT_EFFECT:
                continue
            if keyword.arg == "dtype" and call in compared:
                continue
            if _says_the_default(row, call, keyword):
                continue
            yield (
                f"drop {keyword.arg}= of {_leaf(call)}",
                _changed(row, number, partial(_drop, place)),
            )


def _drop(place: int, call: ast.Call) -> None:
    call.keywords.pop(place)


def _says_the_default(row: Rewrite, call: ast.Call, keyword: ast.keyword) -> bool:
    """Say whether a keyword passes the default whenever the guard holds."""
    signature = keras_api.signature(ast.unparse(call.func), _NEWEST)
    parameter = None if signature is None or not keyword.arg else signature.parameter(keyword.arg)
    if parameter is None or parameter.default is None:
        return False
    if isinstance(keyword.value, ast.Name):
        guarded = _is_guarded(row, keyword.value.id)
        return guarded and f"'{keyword.value.id}', {parameter.default})" in str(row.when)
    return ast.unparse(keyword.value) == parameter.default


def _other_defaults(row: Rewrite) -> Iterator[tuple[str, ast.Expression]]:
    """Yield mutants with a wrong default of a parameter."""
    names = {node.id for node in ast.walk(_tree(row)) if isinstance(node, ast.Name)}
    for name, parameter in row.pattern.parameters.items():
        if name not in names or _is_guarded(row, name) or name in _SEEN_BY_NOBODY:
            continue
        if any((_leaf(call), name) in _WITHOUT_EFFECT for call in _calls(_tree(row))):
            continue
        if parameter.default is parameter.empty:
            continue
        try:
            default = ast.literal_eval(parameter.default.node)
        except ValueError:
            continue
        other = _another(default) if default is not None else 0 if name == "axis" else None
        if other is not None:
            tree = _Defaulted(name, default, other).visit(_tree(row))
            yield f"{name}={other!r} by default", ast.fix_missing_locations(tree)


class _Defaulted(ast.NodeTransformer):
    """Replace a parameter that has its default by ``other``."""

    def __init__(self, name: str, default: object, other: object) -> None:
        self._name = name
        self._read = ast.parse(
            f"({other!r} if {name} is None else {name})"
            if default is None
            else f"({other!r} if {name} == {default!r} else {name})",
            mode="eval",
        ).body

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._read) if node.id == self._name else node


def _other_constants(row: Rewrite) -> Iterator[tuple[str, ast.Expression]]:
    constants = [node for node in ast.walk(_tree(row)) if isinstance(node, ast.Constant)]
    for number, constant in enumerate(constants):
        other = _another(constant.value)
        if other is None or _is_a_default(row, constant):
            continue
        tree = _tree(row)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        found[number].value = other
        yield f"{other!r} instead of {constant.value!r}", tree


def _is_a_default(row: Rewrite, constant: ast.Constant) -> bool:
    """Say whether a constant has no visible effect: ignored or too small."""
    if isinstance(constant.value, float) and abs(constant.value) < 1e-5:
        return True
    return any(
        keyword.arg in _SEEN_BY_NOBODY and ast.dump(keyword.value) == ast.dump(constant)
        for call in _calls(_tree(row))
        for keyword in call.keywords
    )


def _another(value: object) -> bool | int | float | None:
    """Return a similar value of the same type, or None."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return 0 if value == -1 else value + 1
    if isinstance(value, float):
        return value * 2 + 0.5
    return None


def _of_another_sort(row: Rewrite) -> Iterator[tuple[str, ast.Expression]]:
    """Yield mutants with a result of another type: a tensor, a number or an array."""
    function = row.left.partition("(")[0].rpartition(".")[2]
    unseen = any(question in str(row.when) for question in _SORT_SEEN_BY_NOBODY)
    if unseen or function in _WITHOUT_RESULT:
        return
    yield "an array of it", ast.parse(f"keras.ops.convert_to_numpy({row.right})", mode="eval")


def _shared(row: Rewrite) -> Iterator[tuple[str, ast.Expression]]:
    """Yield mutants that return the original in place of a copy, and vice versa.

    Of a symbolic tensor the copy is no other value: nothing changes it in place.
    """
    if not takes_any_tensor(row.left, ()):
        return
    for number, node in enumerate(ast.walk(_tree(row))):
        change = _shared_instead(node)
        if change is not None:
            tree = _tree(row)
            old = list(ast.walk(tree))[number]
            new = ast.parse(change, mode="eval").body
            yield f"{change} instead of {ast.unparse(node)}", _Replaced(old, new).visit(tree)


def _shared_instead(node: ast.AST) -> str | None:
    match node:
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[])):
            return ast.unparse(value)
        case ast.Call(func=ast.Attribute(attr="copy"), args=[value], keywords=[]):
            return ast.unparse(value)
        case ast.Call(func=ast.Attribute(attr="asarray")):
            return ast.unparse(node).replace(".asarray(", ".array(", 1)
    return None


class _Replaced(ast.NodeTransformer):
    """Replace one node by another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        """Replace the node, and visit all others."""
        return self._new if node is self._old else super().visit(node)


def _is_guarded(row: Rewrite, name: str) -> bool:
    return row.when is not None and f"'{name}'" in str(row.when)


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _leaf(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _changed(row: Rewrite, number: int, change: Callable[[ast.Call], object]) -> ast.Expression:
    tree = _tree(row)
    change(_calls(tree)[number])
    return tree


def all_mutants() -> list[Mutant]:
    """Return the mutants of all rewrites that the record lists as proven."""
    known = record.read()
    return [
        mutant
        for row in proof_jobs.rewrites_of_rules()
        if known.get(row.id, {}).get("holds") and known[row.id].get("cases")
        for mutant in mutants_of(row)
    ]


def random_mutants(count: int, seed: int) -> list[Mutant]:
    """Return one mutant for each of ``count`` random rewrites."""
    rng = random.Random(seed)  # noqa: S311
    by_row: dict[str, list[Mutant]] = {}
    for mutant in all_mutants():
        by_row.setdefault(f"{mutant.row.left} {mutant.row.when}", []).append(mutant)
    rows = rng.sample(sorted(by_row), min(count, len(by_row)))
    return [rng.choice(by_row[row]) for row in rows]


def survivors(mutants: Sequence[Mutant], seed: int, workers: int) -> list[Mutant]:
    """Return the mutants that pass their proof."""
    jobs: list[RewriteJob] = [
        replace(
            proof_jobs.rewrite_job(each.row, seed=seed),
            id=f"{number} {each.row.id}",
            until_failure=True,
        )
        for number, each in enumerate(mutants)
    ]
    held = {outcome.id for outcome in pool.run_all(jobs, workers) if outcome.holds}
    return [each for each, job in zip(mutants, jobs, strict=True) if job.id in held]


def main(arguments: Sequence[str] | None = None) -> int:
    """Test mutants; return the exit status, 1 if one survives."""
    parser = argparse.ArgumentParser(prog="python -m kdoctor.verify.mutate", description=__doc__)
    parser.add_argument(
        "--sample", type=int, default=30, metavar="N", help="mutate N rewrites (default: 30)"
    )
    parser.add_argument("--all", action="store_true", help="test every mutant of every rewrite")
    parser.add_argument(
        "--seed", type=int, metavar="S", help="seed for the rewrites and inputs (default: random)"
    )
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args(arguments)
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    mutants = all_mutants() if options.all else random_mutants(options.sample, seed)
    left = survivors(mutants, seed, options.workers)
    print(f"{len(mutants) - len(left)} of {len(mutants)} mutants are caught, --seed {seed}")
    for mutant in left:
        print(f"survives ({mutant.change}): {mutant.row.id}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
