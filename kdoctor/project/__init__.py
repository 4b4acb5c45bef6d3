"""Which Keras a project runs on, read from its own files. Nothing of the project is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_exports import deferred

if TYPE_CHECKING:
    from kdoctor.project.chain import Chain as Chain
    from kdoctor.project.chain import Projects as Projects
    from kdoctor.project.chain import find_target as find_target
    from kdoctor.project.chain import show_chain as show_chain
    from kdoctor.project.evidence import Distribution as Distribution
    from kdoctor.project.evidence import Evidence as Evidence
    from kdoctor.project.evidence import EvidenceSource as EvidenceSource
    from kdoctor.project.evidence import Flag as Flag
    from kdoctor.project.root import start_of as start_of
    from kdoctor.project.settings import Configs as Configs
    from kdoctor.project.settings import Layer as Layer
    from kdoctor.project.settings import Settings as Settings

# Where the target is given, nothing that finds it is needed.
_HOMES = {
    "Chain": "chain",
    "Projects": "chain",
    "find_target": "chain",
    "show_chain": "chain",
    "Distribution": "evidence",
    "Evidence": "evidence",
    "Flag": "evidence",
    "EvidenceSource": "evidence",
    "start_of": "root",
    "Configs": "settings",
    "Layer": "settings",
    "Settings": "settings",
}

__all__ = [
    "Chain",
    "Configs",
    "Distribution",
    "Evidence",
    "EvidenceSource",
    "Flag",
    "Layer",
    "Projects",
    "Settings",
    "find_target",
    "show_chain",
    "start_of",
]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
