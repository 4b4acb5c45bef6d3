"""The import root of a name, and the same name under another root."""

from __future__ import annotations

from msgspec.structs import replace

from kdoctor.keras_api import split_root
from kdoctor.model import ImportNeed

TEMPLATE_ROOT = "keras"
# Where a root's public names are imported from. The private and old facades lead to `tf.keras`.
_IMPORT_PATHS = {
    "keras": "keras",
    "tf.keras": "tensorflow.keras",
    "tf_keras": "tf_keras",
    "keras_core": "keras_core",
}


def import_root(name: str) -> str | None:
    """Return where the public names of a name's root are imported from; None for other packages.

    >>> import_root("tensorflow.python.keras.backend.sum")
    'tensorflow.keras'
    """
    split = split_root(name)
    return None if split is None else _IMPORT_PATHS.get(split[0], "tensorflow.keras")


def key_of(name: str) -> str:
    """Return a name under the templates' root: ``keras.backend.sum``."""
    split = split_root(name)
    if split is None:
        return name
    return f"{TEMPLATE_ROOT}.{split[1]}" if split[1] else TEMPLATE_ROOT


def package_of(name: str) -> str:
    """Return the package of a name; all Keras roots count as one."""
    return TEMPLATE_ROOT if split_root(name) is not None else name.partition(".")[0]


def under_root(name: str, root: str) -> str:
    """Return a name of Keras under another root: ``keras.ops`` → ``tensorflow.keras.ops``."""
    split = split_root(name)
    if split is None:
        return name
    return f"{root}.{split[1]}" if split[1] else root


def need_under_same_root(need: ImportNeed, like: str) -> ImportNeed:
    """Return ``need`` under the Keras root that ``like`` uses."""
    root = import_root(like)
    if root is None or split_root(need.module) is None:
        return need
    return replace(need, module=under_root(need.module, root))
