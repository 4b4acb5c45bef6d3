"""pygls' protocol, but for what it does with documents and with messages that make no sense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method


def _handing_on(method: str) -> Any:
    """Return what does with a message only what the server itself does with it."""

    def hand_on(self: Any, params: Any) -> Iterator[Any]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    return lsp_method(method)(hand_on)


class Protocol(LanguageServerProtocol):
    """Keeps no documents: pygls' lines end where those of Python's strings do, not an editor's.

    A request that cannot be understood is answered: an editor that waits for ever seems to hang.
    """

    lsp_text_document__did_open = _handing_on(types.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _handing_on(types.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _handing_on(types.TEXT_DOCUMENT_DID_CLOSE)
    lsp_notebook_document__did_open = _handing_on(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    lsp_notebook_document__did_change = _handing_on(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    lsp_notebook_document__did_close = _handing_on(types.NOTEBOOK_DOCUMENT_DID_CLOSE)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return the message that is in a JSON object, or the object where it is none."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @property
    def was_shut_down(self) -> bool:
        """Whether the editor said that it would end the server."""
        return bool(self._shutdown)
