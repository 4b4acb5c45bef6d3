"""What the rule on pins is called, for whoever needs no more of it."""

from __future__ import annotations

from typing import Final

CODE: Final = "KD712"
NAME: Final = "pin-of-keras-2"
