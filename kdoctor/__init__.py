"""kdoctor: a command-line doctor for Keras code."""

from __future__ import annotations

__version__ = "0.1.0"
