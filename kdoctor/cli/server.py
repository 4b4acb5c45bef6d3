"""``kdoctor server``: findings and fixes in the editor."""

from __future__ import annotations

from importlib.util import find_spec

import typer

from kdoctor.cli import options
from kdoctor.errors import UsageProblem


def server(*, trust_rules: options.TrustRules = False) -> None:
    """Serve an editor: findings as you type, fixes, the history of the name under the cursor.

    \b
    kdoctor server                    started by the editor
    python -m pip install 'keras-doctor[lsp]'

    It speaks the Language Server Protocol on standard input and output; editors start it
    themselves. docs/editors.md has the settings for yours.

    Exit code: 0 the editor ended it, 1 the editor went away, 2 pygls is not installed.
    """  # noqa: D301 - \b keeps the lines of the examples
    if find_spec("pygls") is None:
        raise UsageProblem(
            "the language server needs pygls: python -m pip install 'keras-doctor[lsp]', into the "
            "environment of kdoctor"
        )
    from kdoctor.server.messages import serve  # noqa: PLC0415 - imports pygls and the rules

    raise typer.Exit(serve(trust_rules=trust_rules))
