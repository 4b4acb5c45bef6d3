"""What a helper is that a fix can write out."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

# Modules of Keras 2 that Keras 3 has as well.
STILL_THERE: Final = frozenset(
    {"applications.imagenet_utils", "backend", "initializers", "losses", "models", "utils"}
)
_PACKAGES: Final = frozenset({"applications", "layers", "legacy", *STILL_THERE})


class Helper(Struct, frozen=True):
    """A helper of Keras 2, or of a package that died with it.

    ``code`` is its definition in ``kdoctor.reference``, if there is one.
    ``today`` is where ``keras.src`` has it with the same parameters, ``home`` the module that it is
    best known in, ``leaf`` what it is called there. ``unlike`` is what the definition does not do
    as Keras 2 did: it is not proven then. ``family`` is the definition of the classes that had it
    as their base, which `isinstance` asks for; it may be the only one, and is always proven.
    ``package`` is what had it, other than Keras 2.
    """

    code: str
    home: str
    leaf: str
    today: str = ""
    unlike: str = ""
    family: str = ""
    package: str = ""

    @property
    def error(self) -> str:
        """The exception that its import raises on Keras 3, or how that begins."""
        if self.package:
            return "ModuleNotFoundError: No module named '"
        if self.home in STILL_THERE:
            return f"ImportError: cannot import name '{self.leaf}' from 'keras.{self.home}'"
        above = self.home.split(".")
        ways = (".".join(above[: end + 1]) for end in range(len(above)))
        missing = next(each for each in ways if each not in _PACKAGES)
        return f"ModuleNotFoundError: No module named 'keras.{missing}'"

    @property
    def source(self) -> str:
        """The module that it was imported from."""
        return f"{self.package or 'keras'}.{self.home}"

    @property
    def owner(self) -> str:
        """What had it, as messages say it."""
        return f"`{self.package}`" if self.package else "Keras 2"
