"""Parse which Keras name a message reports as missing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from kdoctor.diagnose.tracebacks import Raised

Form = Literal["attribute", "from-import", "import"]


@dataclass(frozen=True, slots=True)
class MissingName:
    """A name that was not there: ``module`` as the message has it, ``qualified`` as people write.

    ``path`` is the file that Python imported the module from, where the message tells;
    ``hint`` what the message itself says besides (a circular import, no package).
    """

    module: str
    name: str
    form: Form
    qualified: str
    path: str = ""
    hint: str = ""

    @property
    def root(self) -> str:
        """The package in which the name was looked up."""
        return self.qualified.partition(".")[0]


# Modules as they call themselves, and the public root that leads to them. Tried in order.
_SPELLINGS: Final = (
    ("keras._tf_keras.keras", "tensorflow.keras"),
    ("keras.api._v2.keras", "tensorflow.keras"),
    ("keras.api._v1.keras", "tensorflow.compat.v1.keras"),
    ("keras.api.keras", "keras"),
    ("keras.api", "keras"),
    ("tf_keras.api._v2.keras", "tf_keras"),
    ("tf_keras.api._v1.keras", "tf_keras"),
    ("tensorflow_core.python.keras.api._v2.keras", "tensorflow.keras"),
    ("tensorflow_core.python.keras.api._v1.keras", "tensorflow.keras"),
    ("tensorflow.python.keras.api._v2.keras", "tensorflow.keras"),
    ("tensorflow.python.keras.api._v1.keras", "tensorflow.keras"),
    ("tensorflow_core._api.v2.keras", "tensorflow.keras"),
    ("tensorflow_core.keras", "tensorflow.keras"),
    ("tensorflow._api.v2.compat.v1.keras", "tensorflow.compat.v1.keras"),
    ("tensorflow._api.v2.compat.v2.keras", "tensorflow.keras"),
    ("tensorflow._api.v2.v2.keras", "tensorflow.keras"),
    ("tensorflow._api.v2.keras", "tensorflow.keras"),
    ("tensorflow._api.v1.keras", "tensorflow.keras"),
    ("tensorflow_core.python.keras", "tensorflow.python.keras"),
    ("tensorflow_core.contrib.keras", "tensorflow.contrib.keras"),
    ("tensorflow_core._api.v2", "tensorflow"),
    ("tensorflow_core._api.v1", "tensorflow"),
    ("tensorflow_core", "tensorflow"),
    ("tensorflow._api.v2.compat.v1", "tensorflow.compat.v1"),
    ("tensorflow._api.v2", "tensorflow"),
    ("tensorflow._api.v1", "tensorflow"),
)
_NAME: Final = r"[A-Za-z_]\w*"
_DOTTED: Final = r"[A-Za-z_](?:[\w.]*\w)?"
_ATTRIBUTE: Final = re.compile(
    rf"(?P<partial>partially initialized )?[Mm]odule ['\"`](?P<module>{_DOTTED})['\"`] has no "
    rf"attribute ['\"`](?P<name>{_NAME})['\"`](?P<rest>.*)"
)
_IMPORT: Final = re.compile(
    rf"cannot import name ['\"`]?(?P<name>{_NAME})['\"`]?"
    rf"(?: from (?P<partial>partially initialized module )?['\"`](?P<module>{_DOTTED})['\"`]?)?"
    r"(?P<rest>.*)"
)
_MODULE: Final = re.compile(rf"No module named ['\"`]?(?P<name>{_DOTTED})['\"`]?(?P<rest>.*)")
_FROM: Final = re.compile(rf"^\s*from\s+(?P<module>{_DOTTED})\s+import\b")
_PATH: Final = re.compile(r"\((?P<path>[^()]*(?:\.pyc?|\.so|\.pyd|unknown location))\)")
_ROOTS: Final = frozenset({"keras", "tf_keras", "keras_core", "tensorflow", "tensorflow_core"})


def missing_name(error: Raised) -> MissingName | None:
    """Return the name of Keras or TensorFlow that an error says is missing; None for any other."""
    first = error.message.partition("\n")[0]
    found = _read(first, error)
    return found if found is not None and _is_told(found) else None


def _is_told(found: MissingName) -> bool:
    return found.root in _ROOTS


def _read(message: str, error: Raised) -> MissingName | None:
    if error.name not in {"AttributeError", "ImportError", "ModuleNotFoundError", ""}:
        return None
    if matched := _ATTRIBUTE.search(message):
        return _missing(matched["module"], matched["name"], "attribute", matched)
    if matched := _IMPORT.search(message):
        module = matched["module"] or _imported_module(error)
        return _missing(module, matched["name"], "from-import", matched) if module else None
    if matched := _MODULE.search(message):
        owner, _, name = matched["name"].rpartition(".")
        return _missing(owner, name, "import", matched)
    return None


def _missing(module: str, name: str, form: Form, matched: re.Match[str]) -> MissingName:
    rest = matched["rest"]
    path = _PATH.search(rest)
    hint = ""
    if "partial" in matched.re.groupindex and matched["partial"]:
        hint = "circular import"
    elif "is not a package" in rest:
        hint = "no package"
    public = public_name(module)
    qualified = f"{public}.{name}" if public else name
    return MissingName(module, name, form, qualified, path["path"] if path else "", hint)


def public_name(module: str) -> str:
    """Return how code writes a module that Python's message names.

    >>> public_name("keras._tf_keras.keras.backend")
    'tensorflow.keras.backend'
    """
    for spelling, public in _SPELLINGS:
        if module == spelling or module.startswith(f"{spelling}."):
            return public + module[len(spelling) :]
    return module


def _imported_module(error: Raised) -> str:
    """Return the module of the import statement, where the message (Python 3.6) leaves it out."""
    for frame in reversed(error.frames):
        if matched := _FROM.match(frame.source):
            return matched["module"]
        if frame.source:
            return ""
    return ""
