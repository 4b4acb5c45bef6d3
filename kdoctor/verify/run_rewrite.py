"""Prove one rewrite: generate inputs, run both sides, compare."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kdoctor.verify.accepted_refusals import EXCEPTIONS, limits_of
from kdoctor.verify.aliasing import compare_links, links
from kdoctor.verify.backends import Backend, this_backend
from kdoctor.verify.bind_inputs import used_part
from kdoctor.verify.callables import Callables, read_callables
from kdoctor.verify.compare import Bounds, coarser, difference, same_distribution
from kdoctor.verify.conditions import (
    Conditions,
    UnknownGuard,
    allowances,
    read,
    takes_any_tensor,
)
from kdoctor.verify.frameworks import NEW, OLD, run
from kdoctor.verify.generators import FLAVOURS, OMITTED, Scene, draw, dtypes_under
from kdoctor.verify.jobs import DEFAULT_BACKEND, Outcome, RewriteJob
from kdoctor.verify.old_results import Contradicted
from kdoctor.verify.other_frameworks import as_framework_has, framework_of, run_on_framework
from kdoctor.verify.references import NEW_STATE, OBSERVE, OLD_STATE, floats_of, reset_state
from kdoctor.verify.results import Different, Ran, to_result
from kdoctor.verify.values import TOLERANCES, Array, Role, arrays_in, with_arrays

# The least number of runs in a proof.
MIN_CASES = 8
_MAX_DRAWS = 10  # tries for each requested case, as the old side may reject most of them
RANDOM = frozenset({
    "dropout", "normal", "random_bernoulli", "random_binomial", "random_normal", "random_uniform",
    "truncated_normal", "uniform",
})  # fmt: skip
_RUNS_AGAIN = 4  # repetitions, until values from uninitialised memory show
_SLOW = 4  # every n-th case also runs in a graph and symbolically
_SET = 6  # every n-th case sets another default float dtype
_AXES = frozenset({"axis", "dim", "dims"})
_RARE = {"function_sizes": 2}  # every n-th of those runs in these modes


class RewriteProver:
    """Runs the cases of one rewrite and counts the results.

    ``backend`` runs the new side; by default, that of this process.
    """

    def __init__(self, job: RewriteJob, sides: Callables, backend: Backend | None = None) -> None:
        self.job = job
        self.sides = sides
        self.framework = framework_of(job.left)
        self.limits = limits_of(sides.function, self.framework)
        self.backend = backend or this_backend(self.framework)
        self.met: set[str] = set()  # the explained differences of one run
        self._ran: tuple[dict[str, Any], Ran] | None = None  # of a framework, once for all modes
        self.outcome = Outcome(
            job.id,
            backend=job.backend,
            oracle=sides.oracle.source,
            allowed=allowances(job.guard),
            exception=EXCEPTIONS.get(sides.function, ""),
            limits=tuple(limit.text for limit in self.limits),
        )
        self.cases: Counter[str] = Counter()
        self.kinds: Counter[tuple[str, str]] = Counter()

    def prove(self) -> Outcome:
        """Run all cases and return the outcome."""
        reset_state()
        try:
            for number, (scene, arguments) in enumerate(self._drawn()):
                if number >= self.job.cases and self._are_enough():
                    break
                self._case(scene, arguments, number)
                if self.job.until_failure and self.outcome.failures:
                    break
        except KeyError as unknown:
            return _unproven(self.outcome, f"nobody has said how to draw {unknown}")
        except UnknownGuard as unknown:
            return _unproven(self.outcome, f"nobody has said what inputs {unknown} means")
        outcome = self.outcome
        outcome.cases = dict(self.cases)
        outcome.failing = sum(self.kinds.values())
        if not self._are_enough():
            total = sum(self.cases.values())
            return _unproven(outcome, f"the old side worked in {total} cases only")
        outcome.holds = not outcome.failures
        return outcome

    def _are_enough(self) -> bool:
        return sum(self.cases.values()) >= min(MIN_CASES, self.job.cases // 8)

    def _drawn(self) -> Iterator[tuple[Scene, dict[str, Any]]]:
        digest = hashlib.sha256(f"{self.job.seed} {self.job.id}".encode()).digest()
        seed = int.from_bytes(digest[:8])
        rng = random.Random(seed)  # noqa: S311 - test data
        numbers = np.random.default_rng(seed)
        kinds = dtypes_under(self._conditions(rng))
        plan = list(itertools.product(kinds, range(5), FLAVOURS))
        rng.shuffle(plan)
        for dtype, rank, flavour in itertools.islice(
            itertools.cycle(plan), _MAX_DRAWS * self.job.cases
        ):
            conditions = self._conditions(rng)
            # An axis that is known is one of the tensor's.
            has_axes = conditions.known("axis", "whole_numbers") or (
                self.framework and not _AXES.isdisjoint(self.sides.defaults)
            )
            least = 1 if has_axes else 0
            scene = Scene(
                self.sides.function, rng, numbers, conditions, dtype, max(rank, least), flavour
            )
            scene.framework = self.framework
            for name, default in self.sides.defaults.items():
                scene.values[name] = draw(scene, name, default)
            yield scene, {k: self._narrowed(v) for k, v in scene.values.items()}

    def _narrowed(self, value: Any) -> Any:
        return self.backend.narrowed(as_framework_has(self.framework, value))

    def _conditions(self, rng: random.Random) -> Conditions:
        conditions = read(self.job.guard, rng)
        if not takes_any_tensor(self.job.left, conditions.facts):
            conditions.keep_to_symbolic()
        return conditions

    def _case(self, scene: Scene, arguments: dict[str, Any], number: int) -> None:
        arrays = [array for value in arguments.values() for array in arrays_in(value)]
        is_sparse = any(array.role is Role.SPARSE for array in arrays)
        if is_sparse and self.backend.name != DEFAULT_BACKEND:
            return  # sparse tensors are TensorFlow's
        with floats_of(self._floatx(scene.conditions, number)):
            self._in_each_mode(scene, arguments, number)

    def _floatx(self, conditions: Conditions, number: int) -> str:
        """Return the default float dtype of the program: usually float32."""
        is_asked = "floatx_is_default" in conditions.facts or self.backend.name != DEFAULT_BACKEND
        return "float32" if is_asked or number % _SET else "float64"

    def _in_each_mode(self, scene: Scene, arguments: dict[str, Any], number: int) -> None:
        arrays = [array for value in arguments.values() for array in arrays_in(value)]
        is_sparse = any(array.role is Role.SPARSE for array in arrays)
        for mode in scene.conditions.modes:
            if mode not in self.backend.modes:
                continue
            # Keras 2 has no symbolic tensors without axes.
            flat = any(array.role is Role.TENSOR and not array.data.shape for array in arrays)
            if mode != "eager" and (
                not any(array.role in (Role.TENSOR, Role.SPARSE) for array in arrays)
                or ((flat or is_sparse) and mode.startswith("symbolic"))
                or (number % _SLOW and "eager" in scene.conditions.modes)
                or number // _SLOW % _RARE.get(mode, 1)
                or self.sides.function in RANDOM
            ):
                continue
            self.try_mode(scene.conditions, mode, arguments)

    def try_mode(self, conditions: Conditions, mode: str, arguments: dict[str, Any]) -> None:
        """Run both sides in a mode, and record how they compare."""
        try:
            old = self.old(conditions, mode, arguments)
        except Exception:  # noqa: BLE001 - Keras 2 rejects these inputs
            self.outcome.outside += 1
            return
        self.cases[mode] += 1
        try:
            self.met.clear()
            apart = self._compare_with_new(old, conditions, mode, arguments)
            if mode == "eager" and self.backend.name == DEFAULT_BACKEND:
                self._compare_links(conditions, arguments)
            self._explain(self.met)
            self.outcome.largest_difference = max(self.outcome.largest_difference, apart)
        except Different as different:
            why = self.backend.explains(different, arguments)
            if why := why or self._only_in_16_bits(conditions, mode, arguments):
                self._explain([why])
            elif self._contradicts_itself(old, conditions, mode, arguments) or (
                different.what == "gradient" and self._loses_bits(old, conditions, mode, arguments)
            ):
                self.cases[mode] -= 1
                self.outcome.outside += 1
            else:
                self._fail(mode, arguments, different.what, str(different))
        except Exception as error:  # noqa: BLE001 - any error of Keras 3 is a failure
            if any(each.covers(error, mode, arguments) for each in self.limits):
                self.outcome.refused += 1
            elif why := self.backend.explains(error, arguments):
                self._explain([why])
            else:
                text = " ".join(str(error).split())[:200]
                self._fail(mode, arguments, type(error).__name__, f"{type(error).__name__}: {text}")

    def _compare_with_new(
        self, old: Ran, conditions: Conditions, mode: str, arguments: dict[str, Any]
    ) -> float:
        """Run the new side, and return its difference from the old one."""
        call = self._seen(self.sides.call_new, NEW_STATE, conditions)
        new = self.backend.run(mode, call, arguments)
        if not self.backend.derives(mode):
            old = replace(old, gradients=())
        return self._compare(old, new, conditions, arguments)

    def _compare_links(self, conditions: Conditions, arguments: dict[str, Any]) -> None:
        if self.sides.function in RANDOM or self.framework:
            return
        old = self._seen(self.sides.call_old, OLD_STATE, conditions)
        new = self._seen(self.sides.call_new, NEW_STATE, conditions)
        compare_links(links(OLD, old, arguments), links(NEW, new, arguments))

    def _explain(self, reasons: Iterable[str]) -> None:
        counts = Counter(self.outcome.explained) + Counter(reasons)
        self.outcome.explained = dict(counts)

    def old(self, conditions: Conditions, mode: str, arguments: dict[str, Any]) -> Ran:
        """Run the old side; its errors propagate."""
        if self.framework:
            if self._ran is None or self._ran[0] is not arguments:
                call = self._seen(self.sides.call_old, OLD_STATE, conditions)
                self._ran = arguments, run_on_framework(self.framework, call, arguments)
            return self._ran[1]
        return run(OLD, mode, self._seen(self.sides.call_old, OLD_STATE, conditions), arguments)

    def _contradicts_itself(
        self, old: Ran, conditions: Conditions, mode: str, arguments: dict[str, Any]
    ) -> bool:
        """Say whether the old side gives a different result when it runs again.

        Some TensorFlow kernels leave gradients uninitialised. A result that differs only in a graph
        is what users get, so it is compared.
        """
        if self.sides.function in RANDOM:
            return False
        for _ in range(_RUNS_AGAIN):
            try:
                # Uninitialised memory shows if it held something else before.
                with contextlib.suppress(Exception):
                    self.backend.run(mode, self.sides.call_new, arguments)
                other = self.old(conditions, mode, arguments)
                if not old.gradients:
                    other = replace(other, gradients=())
                self._compare(old, other, conditions, arguments)
            except Different:
                return True
            except Exception:  # noqa: BLE001, S112 - it rejects these inputs now
                continue
        return False

    def _loses_bits(
        self, old: Ran, conditions: Conditions, mode: str, arguments: dict[str, Any]
    ) -> bool:
        """Say whether the old side's 16-bit gradients differ from its 32-bit ones.

        A bfloat16 convolution sums hundreds of products in bfloat16 if Keras 2 transposes the image
        for it.
        """
        try:
            exact = self.old(conditions, mode, _widened(arguments)).gradients
        except Exception:  # noqa: BLE001 - Keras 2 rejects 32 bits here
            return False
        narrow = tuple(
            one and seen and replace(one, dtype=seen.dtype, data=one.data.astype(seen.data.dtype))
            for one, seen in zip(exact, old.gradients, strict=True)
        )
        try:
            self._compare(old, replace(old, gradients=narrow), conditions, arguments)
        except Different:
            return True
        return False

    def _only_in_16_bits(self, conditions: Conditions, mode: str, arguments: dict[str, Any]) -> str:
        """Return why the backend differs in float16 although it agrees in 32 bits."""
        why = self.backend.explains_in_16_bits(arguments)
        if not why:
            return ""
        wide = _widened(arguments)
        try:
            self._compare_with_new(self.old(conditions, mode, wide), conditions, mode, wide)
        except Exception:  # noqa: BLE001 - it also differs there, or one side rejects 32 bits
            return ""
        return why

    def _seen(
        self,
        call: Callable[[dict[str, Any]], Any],
        states: dict[str, Callable[[], Any]],
        conditions: Conditions,
    ) -> Callable[[dict[str, Any]], Any]:
        function = self.sides.function

        def seen(arguments: dict[str, Any]) -> Any:
            if function in RANDOM:
                tf.random.set_seed(self.job.seed)
                keras.utils.set_random_seed(self.job.seed % 2**32)
            result = call(arguments)
            if function in OBSERVE:
                result = OBSERVE[function](result)
            if function in states:
                result = states[function]()
            return used_part(result, conditions.facts)

        return seen

    def _compare(
        self, old: Ran, new: Ran, conditions: Conditions, arguments: dict[str, Any]
    ) -> float:
        if self.sides.function in RANDOM:
            return same_distribution(old.result, new.result, self._bounds())
        coarsest = self.backend.coarsest
        for value in arguments.values():
            for array in arrays_in(value):
                if array.dtype in TOLERANCES:
                    coarsest = coarser(coarsest, array.dtype)
        bounds = self._bounds(frozenset(conditions.facts), coarsest)
        apart = difference(old.result, new.result, bounds)
        for one, other in zip(old.variables, new.variables, strict=True):
            apart = max(apart, difference(one, other, bounds))
        # A gradient is no more precise than the result that it is of.
        coarsest = coarser(coarsest, old.result.dtype)
        return max(apart, self._compare_gradients(old, new, coarsest, arguments))

    def _bounds(self, allowed: frozenset[str] = frozenset(), coarsest: str = "float64") -> Bounds:
        return Bounds(allowed, coarsest, self.backend.retyped, self.met)

    def _compare_gradients(
        self, old: Ran, new: Ran, coarsest: str, arguments: dict[str, Any]
    ) -> float:
        apart = 0.0
        for one, other in itertools.zip_longest(old.gradients, new.gradients):
            known = one or other
            if known is None:
                continue
            # A missing gradient and a gradient of zeros are equivalent in training.
            zeros = to_result(tf.zeros(np.shape(known.data), known.dtype))
            self.outcome.gradients += 1
            try:
                found = difference(one or zeros, other or zeros, self._bounds(coarsest=coarsest))
            except Different as different:
                why = self.backend.explains(different, arguments, (one or zeros, other or zeros))
                if not why:
                    raise Different("gradient", str(different)) from None
                self.met.add(why)
                continue
            apart = max(apart, found)
        return apart

    def _fail(self, mode: str, arguments: dict[str, Any], what: str, detail: str) -> None:
        self.kinds[mode, what] += 1
        if any(failure["mode"] == mode for failure in self.outcome.failures):
            return  # one for each mode is enough to see the problem
        shown = ", ".join(
            f"{name}={value!r}" for name, value in arguments.items() if value is not OMITTED
        )
        self.outcome.failures.append({"mode": mode, "what": detail, "input": shown[:300]})


def prove_rewrite(job: RewriteJob) -> Outcome:
    """Prove one rewrite, if it can be run."""
    if "(" not in job.left:
        return _unproven(Outcome(job.id, job.backend), "a change of name has no two sides to run")
    try:
        sides = read_callables(job.left, job.right)
    except Contradicted as contradicted:
        return _unproven(Outcome(job.id, job.backend), str(contradicted))
    if sides is None:
        return _unproven(Outcome(job.id, job.backend), "nobody here knows what the old name did")
    return RewriteProver(job, sides).prove()


def _widened(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with 16-bit arrays widened to 32 bits."""
    return {name: with_arrays(each, _widened_array) for name, each in arguments.items()}


def _widened_array(array: Array) -> Array:
    narrow = array.dtype in ("float16", "bfloat16")
    return replace(array, data=array.data.astype("float32")) if narrow else array


def _unproven(outcome: Outcome, why: str) -> Outcome:
    outcome.holds = False
    outcome.failing = max(outcome.failing, 1)
    outcome.failures.append({"mode": "", "what": why, "input": ""})
    return outcome
