"""Queries: what a rule looks for, said once.

A query is data. It yields the candidates that a rule's ``check`` is given, from the exact tree, and
answers the gate's question whether a file may hold any, from Python's own tree:

    LOSS = calls("compile", on=Instance(Kind.MODEL, cls="Sequential")).argument("loss", 1)

Candidates are what every rule would ask for by hand: not in code that is guarded, not hidden by
``*args`` or ``**kwargs``, not of a member that the user's own class defines.
"""

from __future__ import annotations

from kdoctor.analysis.queries.call_query import CallQuery, Instance
from kdoctor.analysis.queries.calls import (
    any_calls,
    applications,
    builtins,
    called,
    calls,
    constructs,
)
from kdoctor.analysis.queries.classes import classes, methods
from kdoctor.analysis.queries.imported_calls import calls_of, functions, imported, imported_calls
from kdoctor.analysis.queries.matches import (
    Argument,
    Call,
    Class,
    File,
    Match,
    Method,
    Name,
    Read,
    Store,
)
from kdoctor.analysis.queries.members import reads, stores
from kdoctor.analysis.queries.positions import calls_by_position
from kdoctor.analysis.queries.query import Query, files
from kdoctor.analysis.queries.references import references
from kdoctor.analysis.queries.subclasses import Subclass, subclasses

__all__ = [
    "Argument",
    "Call",
    "CallQuery",
    "Class",
    "File",
    "Instance",
    "Match",
    "Method",
    "Name",
    "Query",
    "Read",
    "Store",
    "Subclass",
    "any_calls",
    "applications",
    "builtins",
    "called",
    "calls",
    "calls_by_position",
    "calls_of",
    "classes",
    "constructs",
    "files",
    "functions",
    "imported",
    "imported_calls",
    "methods",
    "reads",
    "references",
    "stores",
    "subclasses",
]
