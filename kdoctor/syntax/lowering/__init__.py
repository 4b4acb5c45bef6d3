"""What exists for speed alone: libcst trees built from Python's own, and the spans of their nodes.

One function goes in, ``parse.parse``; what it returns knows its tree, and gives the spans of the
nodes. Nothing else of kdoctor imports from here, but for the switch in ``process``. Without this
room (``KDOCTOR_PLAIN_LIBCST=1``) libcst itself parses, and findings and fixes are the same.

Its price is 2,000 lines. What they buy: a scan of 17 packages for Keras (37,900 lines, one process,
no cache) takes 4.2 s of processor time instead of 7.2 s, and 81 MB instead of 95 MB.

It relies on what libcst does not promise: that nodes are frozen dataclasses with slots whose
``__init__`` does nothing but store and validate, that ``__hash__`` is ``id``, that the classes are
written by ``libcst._nodes``, and that ``libcst.native.parse_module`` is the parser. Each is asked
for before it is used; where libcst or Python has changed, its own way is taken.
"""
