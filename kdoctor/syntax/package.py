"""Interface to the project's modules: exports and classes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from msgspec import Struct

from kdoctor.lazy_regex import pattern


class ClassInfo(Struct, frozen=True):
    """A class of another project module, with what matters of its bases.

    ``base`` is the dotted name of the nearest imported base class, None where there is none.
    ``members`` are the names that the class and its own bases define themselves.
    ``closed`` says that nothing else can define members: every base is known, and there is no
    ``__getattr__``, no decorator but a registry, no metaclass. ``hands_on``: each keyword that it
    is made with gets to ``base``, save what is in ``takes``. ``gives``: what it takes by name and
    what gets to ``base`` all the same, under that name and unchanged. ``path`` is its file.
    """

    name: str
    base: str | None
    members: frozenset[str]
    closed: bool
    takes: frozenset[str] = frozenset()
    hands_on: bool = False
    gives: frozenset[str] = frozenset()
    path: str = ""

    def passes_through(self, keyword: str) -> bool:
        """Say whether a keyword reaches ``base`` unchanged."""
        return keyword in self.gives or (self.hands_on and keyword not in self.takes)


ParameterCallees = Collection[tuple[int, tuple[str, ...], bool]]
"""Positions of parameters, with dotted names: one of these gets it, and whether in each run.

The name is ``AN_OBJECT`` where something is called that nobody knows for a function: it may be a
layer.
"""

AN_OBJECT = "()"
"""What stands for the name of an object that is called."""

KEEP_THE_TYPE = frozenset(
    {"insert", "reshape", "transpose", "copy", "sort", "squeeze", "flip", "tile"}
)
"""Functions of NumPy whose result has the type of their first argument."""
_REGISTRY = pattern(
    r"(?:^|_)(?:register|export)"
    # gin gives arguments of ``__init__``, the others text, warnings, checks or comparisons.
    r"|^(?:configurable|deprecated|experimental|final|typechecked|dataclass|total_ordering)$"
    r"|^add_(?:metaclass|start_docstrings|end_docstrings)$"
)


def is_registry(decorator: str) -> bool:
    """Say whether a decorator adds no member that Keras knows, and takes none away.

    Registries do not: ``@register_custom_object``, ``@LAYERS.register("name")``,
    ``@keras_export("Name")``; nor does ``@gin.configurable``.
    """
    return _REGISTRY.search(decorator) is not None


class Package(Protocol):
    """The project's modules, as seen from one of its files."""

    def exports(self, unit_path: str, module: str, level: int, name: str) -> str | ClassInfo | None:
        """Return what ``from module import name`` binds in ``unit_path``.

        ``level`` is the number of leading dots. A dotted name where it comes from outside of the
        tree, None where the module is not of the tree or the name may mean several things.
        """

    def may_hold(self, unit_path: str, top: str) -> bool:
        """Say whether ``import top.…`` in ``unit_path`` could be of the tree; False is sure."""

    def holds(self, unit_path: str, top: str) -> bool:
        """Say whether ``import top`` in ``unit_path`` is a module of the tree; True is sure."""

    def has_file(self, unit_path: str, relative: str) -> bool:
        """Say whether a relative path is that of a file beside ``unit_path``, or in its project."""

    def parameter_callees(
        self, unit_path: str, module: str, level: int, name: str, *, of_instance: bool
    ) -> ParameterCallees:
        """Return what a function of the tree calls with its parameters.

        Each as the parameter's position, the dotted names of what is called, where that comes from
        outside of the tree, and whether it surely is; nothing of what is no function of the tree.
        ``of_instance``: of a class, what its instances do when they are called.
        """

    def returned_call(self, unit_path: str, module: str, level: int, name: str) -> str | None:
        """Return which call from outside of the tree a function surely returns the result of."""

    def may_be_imported_from(self, unit_path: str, name: str) -> bool:
        """Say whether another file of the project may take a name out of ``unit_path``."""

    def is_written(self, unit_path: str, word: str) -> bool:
        """Say whether a file of the project of ``unit_path`` writes a word, or may."""

    def do_importers_write(self, unit_path: str, word: str) -> bool:
        """Say whether a file that imports ``unit_path``, maybe through others, writes a word."""

    def may_hide_elsewhere(self, unit_path: str, name: str) -> bool:
        """Say whether a new name of a file may hide one of another that takes all of it."""

    def imports_another_root(self, unit_path: str, module: str, level: int) -> bool:
        """Say whether a module of the tree imports another of what is known under the same names.

        What it makes looks the same, and is not.
        """

    def keras_root(self, unit_path: str) -> str | None:
        """Return the root that most files of the project of ``unit_path`` import Keras from.

        None where none is usual there. It is asked for files that import nothing of Keras.
        """

    def is_tried(self, unit_path: str) -> bool:
        """Say whether another file of the project goes on where its import of a file fails."""

    def is_for_a_backend(self, unit_path: str) -> bool:
        """Say whether the files of the project import a file for one backend of Keras alone."""

    def assigned_elsewhere(self, unit_path: str, module: str, level: int) -> Collection[str]:
        """Return what a module of the tree assigns in modules that are not of the tree.

        As dotted names; ``a.b.*`` where it may be any name of ``a.b``.
        """

    def star_names(self, unit_path: str, module: str, level: int) -> Collection[str] | None:
        """Return what ``from module import *`` binds, None where that is not known."""
