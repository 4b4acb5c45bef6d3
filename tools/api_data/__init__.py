"""Read the public API of released Keras into ``kdoctor/keras_api/data`` (development only).

Everything is read with ``ast``; no framework is imported. ``make api-data`` does it all:

1. ``releases`` lists what is read, and brings what the cache lacks (``~/.cache/kdoctor/wheels``)
   with pip: wheels, source archives of the oldest, and TensorFlow's wheels, of which only the
   Python files are kept.
2. ``wheels`` reads an archive's Python files, ``scopes`` what a module binds, ``packages`` what a
   name stands for, ``definitions`` signatures and members, ``surfaces`` the names of each root.
3. ``history`` joins the releases into one table a root (names) and one a distribution (classes).

A new Keras release is one entry in ``releases.RELEASES`` (a new patch takes the place of its
minor's last one, beside the first), ``make api-data``, and a look at the difference:
``tests/keras_api`` compares the tables with the frameworks that are installed. The same archives
give the same bytes. TensorFlow's own ``tf.keras`` is finished (2.5 was the last); its later
releases are read for ``tensorflow.python.keras``, the copy that stayed behind.
"""
