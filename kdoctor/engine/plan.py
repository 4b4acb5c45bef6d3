"""Everything that is settled before the first file is looked into."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from kdoctor.engine.gather import Gathered, gather
from kdoctor.engine.options import Options, orders_of, workers_of
from kdoctor.engine.orders import Orders, Task
from kdoctor.engine.policy import Policy
from kdoctor.engine.targets import Targets

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kdoctor.engine.cache.cache import Cache

T = TypeVar("T")

_MUCH = 1000  # files, or tasks: 200 kB


class Plan(Struct, frozen=True):
    """What a run has to do: each file as a task, with its own target, rules and namespace.

    ``workers`` is who does it: a number of processes, None for one a core, or an executor.
    """

    targets: Targets
    orders: Orders
    gathered: Gathered
    workers: int | Executor | None
    cache: Cache | None = None

    @property
    def tasks(self) -> Collection[Task]:
        """The files that are worth a look, in the order of their paths."""
        return self.gathered.tasks


def plan_of(
    paths: Iterable[str | os.PathLike[str]], options: Options, *, unsafe: bool | None = None
) -> Plan:
    """Find the files, and what holds for each.

    Raises:
        UsageProblem: a path, rule or target does not exist, or a setting cannot be what it is.
    """
    workers = workers_of(options)
    paths = list(paths)
    policy = Policy(paths, options)
    targets = Targets(policy, options)
    orders = orders_of(targets.main, options, unsafe=policy.unsafe(unsafe))
    cache = None
    if options.get("cache"):
        # Only where it is wanted.
        from kdoctor.engine.cache.cache import Cache  # noqa: PLC0415
        from kdoctor.engine.cache.place import store_of  # noqa: PLC0415

        cache = Cache(store_of(policy))
    gathered = gather(paths, options, policy, cache)
    gathered.tasks = targets.assigned(policy.assigned(gathered.tasks))
    if cache is None:  # which holds more of each file, and asks for all of them again
        gathered.tasks, gathered.files = _kept(gathered.tasks), _kept(gathered.files)
    return Plan(targets, orders, gathered, workers, cache)


def _kept(things: Collection[T]) -> Collection[T]:
    """Return what stays until the end, as bytes where it is much: memory must not grow with it."""
    if len(things) < _MUCH:
        return things
    # Not for a small scan: pickle takes longer to import.
    from kdoctor.engine.packed import Packed  # noqa: PLC0415

    return Packed(things)
