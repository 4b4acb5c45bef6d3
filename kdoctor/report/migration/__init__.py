"""A migration's overview: as a page for people, as JSON for programs, in a few lines of text."""

from __future__ import annotations

from kdoctor.report.migration.document import write_json
from kdoctor.report.migration.page import html_page
from kdoctor.report.migration.summary import write_summary

__all__ = ["html_page", "write_json", "write_summary"]
