"""IPython extension (``%load_ext kdoctor``): the diagnosis below a cell that failed."""

from __future__ import annotations

import re
import sys
import traceback
from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Look at each cell once it has run. IPython calls this."""
    if _after_a_cell not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", _after_a_cell)


def unload_ipython_extension(shell: Any) -> None:
    """Look no more. IPython calls this for ``%unload_ext kdoctor``."""
    shell.events.unregister("post_run_cell", _after_a_cell)


def _after_a_cell(result: Any = None) -> None:
    """Write under the traceback, which IPython has shown by then."""
    error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
    if not isinstance(error, Exception):
        return
    from kdoctor.report.output import Page  # noqa: PLC0415
    from kdoctor.watch.answering import Failure, answer, versions_loaded  # noqa: PLC0415

    text = _with_cells("".join(traceback.format_exception(error)))
    answer(Failure(text, versions_loaded()), Page(sys.stderr))


def _with_cells(text: str) -> str:
    """Name the cells as the notebook does: their code is in files that nobody ever saw."""
    from IPython import get_ipython  # noqa: PLC0415

    name_of = getattr(get_ipython().compile, "format_code_name", None)  # IPython before 8: none

    def named(frame: re.Match[str]) -> str:
        cell = name_of(frame[0]) if name_of is not None else None
        return " ".join(cell) if cell else frame[0]

    return re.sub(r'(?<=  File ")[^"\n]+(?=", line \d)', named, text)
