"""A file as code cells and back, byte for byte; which files there are; writing one whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_exports import deferred

if TYPE_CHECKING:
    from kdoctor.documents.discovery import Listing, discover, is_excluded, reported
    from kdoctor.documents.document import Document, Kind
    from kdoctor.documents.gitignore import Patterns
    from kdoctor.documents.interrupts import resend_signal_hook, uninterrupted
    from kdoctor.documents.reading import read_regular
    from kdoctor.documents.unit import Cell, Skipped, Unit
    from kdoctor.documents.writing import write_anew, write_atomically

# Most of it is about what stands in a file; to find files needs none of that.
_HOMES = {
    "Listing": "discovery",
    "discover": "discovery",
    "is_excluded": "discovery",
    "reported": "discovery",
    "Document": "document",
    "Kind": "document",
    "Patterns": "gitignore",
    "resend_signal_hook": "interrupts",
    "uninterrupted": "interrupts",
    "read_regular": "reading",
    "Cell": "unit",
    "Skipped": "unit",
    "Unit": "unit",
    "write_anew": "writing",
    "write_atomically": "writing",
}

__all__ = [
    "Cell",
    "Document",
    "Kind",
    "Listing",
    "Patterns",
    "Skipped",
    "Unit",
    "discover",
    "is_excluded",
    "read_regular",
    "reported",
    "resend_signal_hook",
    "uninterrupted",
    "write_anew",
    "write_atomically",
]


def __getattr__(name: str) -> object:
    return deferred(__name__, _HOMES, name)
