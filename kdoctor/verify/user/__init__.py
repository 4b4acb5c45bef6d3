"""Run the definitions of a file before its fix on Keras 2, after it on Keras 3, and compare.

What this process does is pure (slicing) or about processes (running); user code runs only in
``worker``, which needs nothing of kdoctor: it runs on the project's own Python.
"""
