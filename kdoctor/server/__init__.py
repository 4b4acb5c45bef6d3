"""A language server: what ``scan`` and ``fix`` say, while the code is being typed.

=============  ===================================================================================
``text``       the text of a document, and positions in it as the editor counts them
``sheets``     what the editor has open, as drafts for the engine: files, and notebooks of cells
``desk``       everything that is open, each examined when it has come to rest
``problems``   findings as diagnostics
``actions``    fixes as code actions
``hover``      what is known of the name under the cursor
``settings``   what the editor may set
``protocol``   pygls' protocol, but for what it does with documents
``program``    one editor's server: what it is told, and when
``messages``   which message leads to what
=============  ===================================================================================

Only the last three know pygls; the others speak in the protocol's types (lsprotocol).
"""
