"""The process that runs user code on the project's own Python; it imports nothing of kdoctor.

It needs only the standard library, NumPy and the frameworks, on POSIX with Python 3.9 or later.
"""
