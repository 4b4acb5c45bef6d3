"""Readers, one per kind of file. ``READERS`` lists them in order of precedence."""

from __future__ import annotations

from kdoctor.project.readers.file import File as File
from kdoctor.project.readers.table import READERS as READERS
from kdoctor.project.readers.table import Reader as Reader
from kdoctor.project.readers.table import file_names as file_names
from kdoctor.project.readers.table import reader_of as reader_of

__all__ = ["READERS", "File", "Reader", "file_names", "reader_of"]
