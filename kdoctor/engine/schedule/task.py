"""The job description of a scan or fix: small and picklable, sent to each worker."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.config import PROJECT_TYPES, WRITE
from kdoctor.documents.reading import read_regular
from kdoctor.model import Place
from kdoctor.project.code_style import DEFAULT_STYLE, CodeStyle
from kdoctor.rules.own import NO_SOURCES, OwnSources
from kdoctor.target import Target
from kdoctor.value_types import Observation

if TYPE_CHECKING:
    from kdoctor.documents import Kind


class Source(Struct, frozen=True, gc=False):
    """A file to examine. ``data`` is set for standard input, which is read only once."""

    path: str
    data: bytes | None = None

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input, whatever name it has."""
        return self.data is not None

    def read(self, folder: str = "") -> bytes:
        """Return the bytes of the file; a relative path is relative to ``folder``.

        Raises:
            OSError: it cannot be read.
        """
        if self.data is not None:
            return self.data
        return read_regular(os.path.join(folder, self.path))  # noqa: PTH118 - for each file


class Priority(IntEnum):
    """Which of several pending files comes first.

    What a file binds is best read when its tree is there anyway: before somebody asks.
    """

    IMPORTED = 0  # by an importer, which will ask
    USUAL = 1
    IMPORTER = 2  # it does not speak of Keras itself: only what it imports may


class Task(Struct, frozen=True, gc=False):
    """One file to examine.

    ``admitted``: the prefilter found something in it. ``target``: the Keras that it must run on,
    ``codes``: the rules that count in it, ``namespace``: the root that it is to import Keras from,
    ``style``: how its code is written, ``keras_2_helpers``: what fixes do with such helpers,
    ``project_types``: whether types are followed into other files, ``backends``: those beside
    TensorFlow that it must run on, each None where it is that of the orders.
    """

    source: Source
    size: int  # bytes
    admitted: bool = True
    target: Target | None = None
    codes: tuple[str, ...] | None = None
    namespace: str | None = None
    priority: Priority = Priority.USUAL
    style: CodeStyle | None = None
    keras_2_helpers: str | None = None
    project_types: bool | None = None
    backends: tuple[str, ...] | None = None

    # Not by `replace`, which takes longer than all else that is done for a file that is known.
    def with_settings(  # noqa: PLR0913 - the settings of a file
        self,
        codes: tuple[str, ...] | None,
        namespace: str,
        style: CodeStyle,
        keras_2_helpers: str,
        *,
        project_types: bool,
        backends: tuple[str, ...],
    ) -> Task:
        """Return the task with what the settings say of its file."""
        return Task(
            self.source,
            self.size,
            self.admitted,
            self.target,
            codes,
            namespace,
            self.priority,
            style,
            keras_2_helpers,
            project_types,
            backends,
        )

    def with_target(self, target: Target) -> Task:
        """Return the task with its Keras target."""
        return Task(
            self.source,
            self.size,
            self.admitted,
            target,
            self.codes,
            self.namespace,
            self.priority,
            self.style,
            self.keras_2_helpers,
            self.project_types,
            self.backends,
        )


class ScanOptions(Struct, frozen=True):
    """How each file is examined.

    ``codes`` are the rules that count, None for all. ``kind`` forces a kind of document; None goes
    by the name of the file. ``gate`` skips sources in which no rule could fire. ``edits`` keeps of
    a fix what can be applied. ``diffs`` fills in ``Fix.diff``, ``replacements``
    ``Fix.replacements``, ``anchors`` what findings are known again by. ``unsafe`` lets a fix apply
    those that no proof calls safe. ``namespace`` is the root that Keras is to be imported from, ""
    where each file keeps its own. ``folder`` is what relative paths count from, "" for the working
    folder: another process may have another one. ``cached`` results are kept, with what of the file
    system they were made of. ``is_target_explicit``: the target was named, and counts whatever the
    code sets itself. ``within`` are the names of the top-level statements that are fixed, None for
    all; ``only`` the findings, by place and code, that are fixed or ignored, in one pass. ``style``
    is how a fix writes code, ``keras_2_helpers`` what it does with helpers of Keras 2.
    ``project_types``: types are followed into the project's other files. ``observations`` are what
    names were seen to hold as the program ran. ``backends`` are those beside TensorFlow that the
    code must run on. ``own_rules`` is where rules of one's own come from.
    """

    target: Target
    codes: tuple[str, ...] | None = None
    kind: Kind | None = None
    gate: bool = True
    edits: bool = True
    diffs: bool = True
    replacements: bool = False
    anchors: bool = True
    unsafe: bool = False
    namespace: str = ""
    folder: str = ""
    cached: bool = False
    is_target_explicit: bool = False
    within: frozenset[str] | None = None
    only: frozenset[tuple[Place, str]] | None = None
    style: CodeStyle = DEFAULT_STYLE
    keras_2_helpers: str = WRITE
    project_types: bool = PROJECT_TYPES
    backends: tuple[str, ...] = ()
    own_rules: OwnSources = NO_SOURCES
    observations: tuple[Observation, ...] = ()

    def aimed(self, task: Task) -> ScanOptions:
        """Return the options with one file's own settings."""
        return replace(
            self,
            target=self.target if task.target is None else task.target,
            codes=self.codes if task.codes is None else task.codes,
            namespace=self.namespace if task.namespace is None else task.namespace,
            style=self.style if task.style is None else task.style,
            keras_2_helpers=task.keras_2_helpers or self.keras_2_helpers,
            project_types=self.project_types if task.project_types is None else task.project_types,
            backends=self.backends if task.backends is None else task.backends,
        )


def working_folder() -> str:
    """Return the working folder, for :func:`absolute`."""
    return f"{os.getcwd()}{os.sep}"  # noqa: PTH109 - hot, on str


def absolute(path: str, here: str) -> str:
    """Return an absolute path, as ``abspath`` does, but fast below the working folder."""
    if path[:1] in "./" or os.sep != "/":
        return os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
    return here + path
