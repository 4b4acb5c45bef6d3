"""pygls' protocol, without its handling of documents, and with answers to malformed requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method


def _pass_through(method: str) -> Any:
    """Return a handler that only calls the server's own handler."""

    def pass_through(self: Any, params: Any) -> Iterator[Any]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    return lsp_method(method)(pass_through)


class Protocol(LanguageServerProtocol):
    """Keep no documents: pygls splits lines as Python's strings do, not as editors do.

    A malformed request gets an answer: an editor that waits forever seems to hang.
    """

    lsp_text_document__did_open = _pass_through(types.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _pass_through(types.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _pass_through(types.TEXT_DOCUMENT_DID_CLOSE)
    lsp_notebook_document__did_open = _pass_through(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    lsp_notebook_document__did_change = _pass_through(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    lsp_notebook_document__did_close = _pass_through(types.NOTEBOOK_DOCUMENT_DID_CLOSE)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return the message in a JSON object, or the object if there is none."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @property
    def was_shut_down(self) -> bool:
        """Whether the editor has sent a shutdown request."""
        return bool(self._shutdown)
