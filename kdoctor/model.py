"""The core data types that all layers share: small frozen structs without behaviour.

Offsets (``Span``) count characters of a unit's Python text, from 0. Places that people see
(``Place``) count lines and columns from 1, and columns count characters.
"""

from __future__ import annotations

import enum

from msgspec import Struct


class Severity(enum.StrEnum):
    """How serious a finding is on the target."""

    ERROR = "error"  # raises on the target
    CHANGE = "change"  # runs, but means something else
    LEGACY = "legacy"  # works, deprecated or private


class Confidence(enum.StrEnum):
    """How certain the resolution of a name is. Guesses are not reported."""

    CERTAIN = "certain"  # bound by import
    LIKELY = "likely"  # bound by local inference


class Applicability(enum.StrEnum):
    """Whether a fix may be applied. ``SAFE`` comes from the proof record alone."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    MANUAL = "manual"  # shown, never written


class Precedence(enum.IntEnum):
    """Operator precedence in Python, loosest first (as in the language reference)."""

    ANY = 0  # an argument, a right-hand side, inside parentheses or brackets
    LAMBDA = 1
    CONDITIONAL = 2
    OR = 3
    AND = 4
    NOT = 5
    COMPARE = 6
    BIT_OR = 7
    BIT_XOR = 8
    BIT_AND = 9
    SHIFT = 10
    SUM = 11
    PRODUCT = 12
    UNARY = 13
    POWER = 14
    AWAIT = 15
    PRIMARY = 16  # call, attribute, subscript
    ATOM = 17  # name, literal, display, parenthesised


class Span(Struct, frozen=True, order=True, array_like=True, gc=False):
    """Characters ``start`` up to, not including, ``end`` of a unit's text."""

    start: int
    end: int

    def covers(self, other: Span) -> bool:
        """Say whether ``other`` lies inside this span (or is the same)."""
        return self.start <= other.start and other.end <= self.end


class Hole(Struct, frozen=True, array_like=True, gc=False):
    """Original source inside an edit: kept, with the edits inside it applied.

    ``required`` is how tightly the new surroundings bind; ``own`` how tightly the source
    expression does. Parentheses are put around it where ``own < required``.
    """

    span: Span
    required: Precedence = Precedence.ANY
    own: Precedence = Precedence.ATOM


class Edit(Struct, frozen=True, array_like=True, gc=False):
    r"""Replace ``span`` by ``parts``: literal text (newlines as ``\n``) and holes.

    ``own`` is how tightly the new text binds, ``required`` what the place where it stands asks for.
    An edit of zero length inserts. Edits nest: an edit inside a hole of another is applied there.
    """

    span: Span
    parts: tuple[str | Hole, ...]
    own: Precedence = Precedence.ATOM
    required: Precedence = Precedence.ANY


class ImportNeed(Struct, frozen=True, order=True, array_like=True, gc=False):
    """A name that fixed code uses and that must be imported at module level.

    ``ImportNeed("keras", "ops", "ops")`` is ``from keras import ops``;
    ``ImportNeed("os", None, "os")`` is ``import os``.
    """

    module: str
    name: str | None
    local: str
    again: bool = False  # as `name as name`: other files may import it from here (PEP 484)


class Region(Struct, frozen=True, order=True, array_like=True, gc=False):
    """A position in the file on disk: for a notebook, in its JSON.

    Lines and columns count from 1, columns in characters behind a byte order mark; the end is not
    part of the region.
    """

    line: int
    column: int
    end_line: int
    end_column: int


class Replacement(Struct, frozen=True, order=True, array_like=True, gc=False):
    """Replace the text in ``region`` by ``text``."""

    region: Region
    text: str


class Fix(Struct, frozen=True, array_like=True, gc=False):
    """The edits that fix one finding, and the imports they need.

    ``drops`` are the spans of import aliases (``Input`` in ``from keras.models import Input``) that
    must go because ``imports`` binds the same local name anew. Import lines that become unused
    need not be listed: the import block sees to them.
    """

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability
    imports: tuple[ImportNeed, ...] = ()
    drops: tuple[Span, ...] = ()
    unsafe_because: str = ""  # what may go wrong, where the fix is not safe
    diff: str = ""  # unified diff of this fix alone; filled in by the engine
    replacements: tuple[Replacement, ...] = ()  # the same for programs; filled in by the engine


class NoFix(Struct, frozen=True):
    """Why there is no fix: ``reason`` is one sentence without a final stop."""

    reason: str


class Place(Struct, frozen=True, order=True, array_like=True, gc=False):
    """A position for people: ``path:line:column``; in a notebook, with its cell."""

    path: str
    unit: int
    span: Span
    cell: int | None  # 1-based position among all cells of a notebook; None elsewhere
    line: int
    column: int
    end_line: int
    end_column: int


class Finding(Struct, frozen=True, array_like=True, gc=False):
    """A reported problem: rule, position, message, and a fix or why there is none."""

    code: str
    name: str
    place: Place
    message: str
    severity: Severity
    confidence: Confidence
    symbol: str  # dotted, as far as it is known: ``keras.backend.sum``, ``Sequential.backend``
    help: str = ""  # what to write instead, one or two sentences
    fix: Fix | None = None
    no_fix_because: str | None = None


class Suppressed(Struct, frozen=True, array_like=True, gc=False):
    """A finding suppressed by a comment, with the comment's reason and position."""

    finding: Finding
    reason: str
    comment: Place


class Unreadable(Struct, frozen=True, array_like=True, gc=False):
    """A file that could not be examined, and why."""

    path: str
    why: str
