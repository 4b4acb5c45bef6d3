"""A file as code cells and back, byte for byte; which files there are; writing one whole."""

from kdoctor.documents.discovery import Listing, discover, is_excluded, reported
from kdoctor.documents.document import Document, Kind
from kdoctor.documents.ignoring import Patterns
from kdoctor.documents.interrupts import uninterrupted
from kdoctor.documents.reading import read_regular
from kdoctor.documents.unit import Cell, Skipped, Unit
from kdoctor.documents.writing import write_anew, write_atomically

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
    "uninterrupted",
    "write_anew",
    "write_atomically",
]
