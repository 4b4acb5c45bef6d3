"""Everything that is settled before the first file is looked into."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kdoctor.engine.gather import Gathered, gather
from kdoctor.engine.options import Options, orders_of
from kdoctor.engine.orders import Orders, Task
from kdoctor.engine.policy import Policy
from kdoctor.engine.targets import Targets


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has to do: each file as a task, with its own target, rules and namespace."""

    targets: Targets
    orders: Orders
    gathered: Gathered
    tasks: Sequence[Task]


def plan_of(
    paths: Iterable[str | os.PathLike[str]], options: Options, *, unsafe: bool | None = None
) -> Plan:
    """Find the files, and what holds for each.

    Raises:
        UsageProblem: a path, rule or target does not exist, or a setting cannot be what it is.
    """
    paths = list(paths)
    policy = Policy(paths, options)
    targets = Targets(policy, options)
    orders = orders_of(targets.main, options, unsafe=policy.unsafe(unsafe))
    gathered = gather(paths, options, policy)
    return Plan(targets, orders, gathered, targets.assigned(policy.assigned(gathered.tasks)))
