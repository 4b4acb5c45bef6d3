"""The process that runs user code, on the project's own Python: it imports nothing of kdoctor.

Needs the standard library, NumPy and the frameworks only; Python 3.9 or later, on POSIX.
"""
