"""Explain errors as they happen: in programs, notebooks and pytest.

A healthy program must not notice. What is here costs nothing until something is raised: modules of
kdoctor, and all that they need, are imported then and not before.
"""
