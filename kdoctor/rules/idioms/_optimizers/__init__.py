"""Rewrite optimizer classes of Keras 2 for Keras 3.

``plan`` collects the edits of one class and what stands in their way; ``shape`` says which class is
one and of which sort; ``start`` rewrites ``__init__``, ``config`` ``get_config``; ``resource`` the
protocol of ``tf.keras`` (``_resource_apply_dense``), ``updates`` that of the older Keras
(``get_updates``); ``names`` looks at every attribute of ``self``.
"""
