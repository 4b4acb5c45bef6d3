"""Language server: the findings and fixes of ``scan`` and ``fix``, in the editor.

=============  ===============================================================================
``text``       text of a document, and positions in it as the editor counts them
``documents``  open documents as the engine's drafts: files, and notebooks of cells
``session``    everything that is open; each document is checked once typing pauses
``problems``   findings as diagnostics
``actions``    fixes as code actions
``hover``      what is known about the name under the cursor
``settings``   what the editor may set
``protocol``   pygls' protocol, without its own handling of documents
``server``     the server of one editor: its state, and when documents are checked
``messages``   handlers of the editor's messages
=============  ===============================================================================

Only the last three know pygls; the others use the protocol's types (lsprotocol).
"""
