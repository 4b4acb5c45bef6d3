"""``%load_ext kdoctor``: the diagnosis under a cell that failed."""

from __future__ import annotations

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
    from kdoctor.report.page import Page  # noqa: PLC0415
    from kdoctor.watch.answering import Failure, answer, versions_loaded  # noqa: PLC0415

    text = "".join(traceback.format_exception(error))
    answer(Failure(text, versions_loaded()), Page(sys.stderr))
