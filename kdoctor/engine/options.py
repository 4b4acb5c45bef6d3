"""The options of a scan or a fix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.errors import UsageProblem
from kdoctor.model import Place
from kdoctor.rules.own import in_use
from kdoctor.target import Target
from kdoctor.value_types import Observation

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kdoctor.documents import Kind

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def each_of(paths: Paths) -> list[str | os.PathLike[str]]:
    """Return the paths as a list; a single string counts as one path.

    >>> each_of("src/"), each_of(["a.py", "b.py"])
    (['src/'], ['a.py', 'b.py'])
    """
    return [paths] if isinstance(paths, str | os.PathLike) else list(paths)


class Options(TypedDict, total=False):
    """The keyword options of ``scan`` and ``fix``; all are optional.

    What is left out, or None, is as the configuration of each file has it.

    ``target``: the Keras that the code must run on, as a ``Target`` or written like
    ``"keras==3.15.1"``; where it is left out, what the project itself says, else the newest known.
    ``select``, ``ignore``: rules by code (``"KD101"``), start of a code (``"KD1"``), name or
    topic (``"freezing"``).
    An empty ``select`` selects none. ``preview``: also those that are in preview.
    ``exclude``: gitignore patterns of files and folders to pass over. ``force_exclude`` passes over
    them, and over environments and caches, also where they are named.
    ``kind``: take every file as this kind of document, whatever its name.
    ``gate``: False looks into every file, also where no rule could fire; the result is the same.
    ``edits``: False leaves ``Fix.edits`` and what goes with them empty, which is smaller.
    ``diffs``: False leaves ``Fix.diff`` empty, which is faster.
    ``replacements``: True fills in ``Fix.replacements``.
    ``anchors``: False is faster, where nobody asks for fingerprints or holds a baseline against it.
    ``jobs``: the greatest number of processes; None for one a core, where the work is worth it.
    ``executor``: any ``concurrent.futures.Executor`` that does the work in the place of own
    processes: a pool, or Dask's ``client.get_executor()``. Its workers have this kdoctor and see
    the files at the same paths. It is not shut down. ``jobs`` does not go with it.
    ``stdin``: the bytes that the path ``-`` stands for. ``stdin_filename``: the file that they are
    to be taken for, whether it exists or not; it is never read or written.
    ``namespace``: the root to import Keras from, ``"keras"`` or ``"tf.keras"``, or ``"keep"`` for
    each file's own.
    ``backend``: the backends that the code must run on: ``"all"``, ``"jax"``, or several names. The
    rules KD8 report what ties it to TensorFlow.
    ``keras_2_helpers``: ``"write"`` helpers of Keras 2 that Keras 3 no longer has into the file, or
    ``"import"`` what ``keras.src`` has today.
    ``project_types``: False takes each file by itself, and follows no types into the project's
    other files.
    ``observations``: what names were seen to hold as the program ran; it counts where the code does
    not tell.
    ``config``: a file with settings that holds for all files, in the place of those beside them.
    ``isolated``: no configuration counts.
    ``cache``: True uses again what earlier runs found, and keeps what this one finds, in the folder
    that ``$KDOCTOR_CACHE_DIR`` or the setting ``cache-dir`` names, else in ``.kdoctor_cache`` where
    the project begins. The result is the same.
    ``within``: names of a module; fixes are applied in the top-level statements that bind one of
    them, and nowhere else. It does not go with ``cache``.
    ``only``: findings of a scan of the same files, by place and code; these are fixed (or ignored)
    and no others. A fix that overlaps another one is left out. It does not go with ``cache``.
    ``trust_rules``: load the rules of one's own that the settings name; they are code. ``rules``
    are files and folders with such rules to load instead: who names them here trusts them.
    ``progress``: called now and then with the numbers of files done and to do.
    """

    target: Target | str | None
    select: Iterable[str] | None
    ignore: Iterable[str] | None
    preview: bool | None
    exclude: Iterable[str] | None
    force_exclude: bool
    kind: Kind | None
    gate: bool
    edits: bool
    diffs: bool
    replacements: bool
    anchors: bool
    jobs: int | None
    executor: Executor | None
    stdin: bytes | None
    stdin_filename: str | None
    progress: Callable[[int, int], None] | None
    namespace: str | None
    backend: str | Iterable[str] | None
    keras_2_helpers: str | None
    project_types: bool | None
    observations: tuple[Observation, ...]
    config: str | os.PathLike[str] | None
    isolated: bool
    cache: bool
    within: frozenset[str] | None
    only: frozenset[tuple[Place, str]] | None
    trust_rules: bool
    rules: Paths | None


def scan_options_of(target: Target, options: Options, *, unsafe: bool = False) -> ScanOptions:
    """Return the scan options before any file's own settings."""
    option = options.get("target")
    return ScanOptions(
        target,
        kind=options.get("kind"),
        gate=options.get("gate", True),
        edits=options.get("edits", True),
        diffs=options.get("diffs", True),
        replacements=options.get("replacements", False),
        anchors=options.get("anchors", True),
        project_types=options.get("project_types") is not False,
        observations=options.get("observations", ()),
        unsafe=unsafe,
        cached=options.get("cache", False),
        is_target_explicit=option is not None
        and not (isinstance(option, Target) and option.inferred),
        within=options.get("within"),
        only=options.get("only"),
        own_rules=in_use().sources,
    )


def workers_of(options: Options) -> int | Executor | None:
    """Return the maximum number of processes (None: one a core), or an executor.

    Raises:
        UsageProblem: both are given.
    """
    jobs, executor = options.get("jobs"), options.get("executor")
    if jobs is not None and executor is not None:
        raise UsageProblem("jobs and executor cannot be combined: pass only one of them")
    return jobs if executor is None else executor
