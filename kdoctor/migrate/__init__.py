"""The way of a project from Keras 2 to Keras 3: what there is to do, in which order.

Built on what ``progress`` counts; knows nothing of terminals.
"""

from __future__ import annotations

from kdoctor.migrate.owners import Share
from kdoctor.migrate.plan import Plan, Step, StepKind, plan, target_of

__all__ = ["Plan", "Share", "Step", "StepKind", "plan", "target_of"]
