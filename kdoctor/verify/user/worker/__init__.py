"""The process that runs user code on the project's own Python; it imports nothing of kdoctor.

It needs only the standard library, NumPy and the frameworks, on POSIX with Python 3.9 or later. A
saved model may need an older Keras: ``main``, ``sandbox`` and what it imports, ``frameworks``,
``saved_models`` and ``source_files`` run on Python 3.7, too.
"""
