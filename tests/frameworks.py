"""The frameworks that tests compare kdoctor with, each imported when a test first reads it.

TensorFlow has no wheels for some systems and Pythons that kdoctor supports: there, a file's other
tests must still be collected and run. Tests that use these are marked as ``frameworks``.
"""

from __future__ import annotations

import importlib


class _Framework:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name), name)


keras = _Framework("keras")
tf = _Framework("tensorflow")
tf_keras = _Framework("tf_keras")
