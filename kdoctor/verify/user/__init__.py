"""Run the definitions of a file before its fix on Keras 2, after it on Keras 3, and compare.

This process only slices source text and manages processes. User code runs only in ``worker``,
which imports nothing of kdoctor, as it runs on the project's own Python.
"""
