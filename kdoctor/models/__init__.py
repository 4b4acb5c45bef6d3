"""Saved models: what a file is, by its content, and what keeps a Keras from loading it.

Nothing of a file is run, and no pickle is opened.
"""

from kdoctor.models.contents import Contents
from kdoctor.models.explained import Explained, explained
from kdoctor.models.kinds import FileKind, kind_of
from kdoctor.models.obstacle import Fault, Gravity, Obstacle, Part, Remedy
from kdoctor.models.reading import read_contents
from kdoctor.models.verdict import Verdict, load_arguments, verdict_of

__all__ = [
    "Contents",
    "Explained",
    "Fault",
    "FileKind",
    "Gravity",
    "Obstacle",
    "Part",
    "Remedy",
    "Verdict",
    "explained",
    "kind_of",
    "load_arguments",
    "read_contents",
    "verdict_of",
]
