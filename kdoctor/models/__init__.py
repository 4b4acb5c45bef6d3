"""Saved models: what a file is, by its content, and what keeps a Keras from loading it.

Nothing of a file is run, and no pickle is opened.
"""

from kdoctor.models.explained import Explained, explained
from kdoctor.models.kinds import FileKind, kind_of
from kdoctor.models.obstacles import Obstacle
from kdoctor.models.reading import Configurations, read_configurations

__all__ = [
    "Configurations",
    "Explained",
    "FileKind",
    "Obstacle",
    "explained",
    "kind_of",
    "read_configurations",
]
