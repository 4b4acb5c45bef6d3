"""Spell a name as the file would: by its root, aliases and habits.

``from tensorflow.keras import backend as K`` asks for ``ops.square`` and
``from tensorflow.keras import ops``; ``keras.backend.square`` asks for ``keras.ops.square`` and
nothing new.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.keras_api.surface import PRIVATE_ROOT
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import ImportNeed
from kdoctor.rewrite.refusal import Refused
from kdoctor.rewrite.roots import TEMPLATE_ROOT, import_root, under_root
from kdoctor.rewrite.visibility import readable_import
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind
from kdoctor.syntax.scopes import ScopeKind

# Keras' own guides import these modules by name (`from keras import layers, ops`) and write the
# others out (`keras.config.floatx()`).
_BY_NAME = ("layers", "ops")
# The same object under another name of the same root, in every release of Keras 3.
TWINS = {
    "Input": "layers.Input",
    "InputSpec": "layers.InputSpec",
    "Layer": "layers.Layer",
    "Model": "models.Model",
    "Sequential": "models.Sequential",
}
# Plain attribute access does not reach them (`tf.keras.saving.load_model`): they are imported.
HIDDEN_MODULES = frozenset({"tensorflow.keras.saving"})
_USUAL_NAMES = {"numpy": "np", "tensorflow": "tf"}
# What hands on the same `keras` as `tensorflow`.
_TENSORFLOWS = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
# Who binds names that no one can read may bind any word: `globals().update(vars(arguments))`.
_BINDS_ANY = pattern(
    r"\b(?:globals|vars|locals)\(\)(?:\.(?:update|setdefault)\b|\[[^\]]*\]\s*=(?!=))|\bexec\("
    r"|setattr\(\s*sys\.modules"
)


class Speller:
    """Spells names for one place of one file.

    ``like`` is the dotted name that is replaced at ``node``, and ``binding`` the import by which it
    is read: they show root and habit. "" is like nothing of Keras. ``renews`` says that the import
    goes, so that one of the same thing may take its place and its name.
    """

    def __init__(
        self,
        module: Module,
        node: cst.CSTNode,
        like: str,
        binding: ImportBinding | None = None,
        *,
        renews: bool = False,
    ) -> None:
        self.module = module
        self.node = node
        self.like = like
        self.binding = binding
        self.renews = renews

    @classmethod
    def at(cls, module: Module, reference: Reference, *, renews: bool = False) -> Speller:
        """Return the speller for what replaces a reference.

        In place of another package's name Keras is spelled as elsewhere in the file.
        """
        habit = reference if import_root(reference.name) else _some_use_of_keras(module)
        if habit is None:
            own = reference.binding
            return cls(module, reference.node, reference.name, own, renews=renews)
        # The private copy of Keras 2, which another branch imports, has no `ops`.
        others = (each for each in habit.names if each != habit.name)
        private = any(each.startswith(PRIVATE_ROOT) for each in others)
        shown = None if private else habit.binding
        return cls(module, reference.node, habit.name, shown, renews=renews)

    def spell(self, name: str) -> tuple[str, ImportNeed | None]:
        """Return how to write a name, and the import it needs, if any.

        Raises:
            Refused: a builtin is hidden by a name of the file.
        """
        if "." not in name and hasattr(builtins, name):
            if self.module.scope_of(self.node).owner(name) is not None:
                raise Refused(f"`{name}` means something else in this file")
            return name, None
        name = self.under_the_files_root(name)
        if self.renews and (need := self._in_place_of_the_import(name)) is not None:
            return need.local, need
        written = (
            self._by_existing_import(name)
            or self._by_package_path(name)
            or self._by_equivalent_import(name)
        )
        if written is not None:
            return written, None
        return self._by_new_import(name)

    def under_the_files_root(self, name: str) -> str:
        """Return a template's name under the root that the replaced name was written with.

        Where that is none of Keras, the rest of the project shows which one is usual.
        """
        if name.partition(".")[0] != TEMPLATE_ROOT:
            return name
        root = import_root(self.like) or self.module.keras_root_of_project()
        return name if root is None else under_root(name, root)

    def _in_place_of_the_import(self, name: str) -> ImportNeed | None:
        """Import the same thing from where it is now: `from keras.utils import to_categorical`."""
        own = self.binding
        if own is None or own.alias is None:
            return None
        parent, _, leaf = name.rpartition(".")
        if leaf != own.imported.rpartition(".")[2] or split_root(parent) is None:
            return None
        return need_replacing(own, name)

    def _by_existing_import(self, name: str) -> str | None:
        """Use an import of the name itself or of the module that it stands in."""
        for prefix, rest in _splits(name)[:2]:
            binding = self._binding_above(name, prefix)
            if binding is not None and (rest or split_root(prefix) != (TEMPLATE_ROOT, "")):
                return self._read_from(binding, prefix, rest)
        return None

    def _by_package_path(self, name: str) -> str | None:
        """Write the name out from the package, where that is how this file writes it."""
        if name.rpartition(".")[0] in HIDDEN_MODULES:
            return None
        writes_out = self.binding is not None and _is_package(self.binding)
        module = name.rpartition(".")[0].rpartition(".")[2]
        if not writes_out and module in _BY_NAME:
            return None
        for prefix, rest in _splits(name)[1:]:
            binding = self._binding_above(name, prefix)
            if binding is not None:
                return self._read_from(binding, prefix, rest)
        return None

    def _read_from(self, binding: ImportBinding, prefix: str, rest: str) -> str:
        """Write a name out from an import, or from the other package that is read here already.

        `tf.keras.backend.sum` becomes `tf.keras.ops.sum`, be `keras` imported from it as well.
        """
        own, name = self.binding, f"{prefix}{rest}"
        if (
            own is not None
            and own.local != binding.local
            and _is_package(own)
            and _is_package(binding)
            and name.startswith(f"{own.name}.")
            and self._binding_of(own.name) is own
        ):
            return f"{own.local}{name.removeprefix(own.name)}"
        return f"{binding.local}{rest}"

    def _by_equivalent_import(self, name: str) -> str | None:
        """Use an import of the same object by another name: `keras.layers.Input`."""
        root, _, leaf = name.rpartition(".")
        if leaf not in TWINS or import_root(name) != root:
            return None
        binding = self._binding_of(f"{root}.{TWINS[leaf]}")
        return binding.local if binding is not None else None

    def _by_new_import(self, name: str) -> tuple[str, ImportNeed]:
        if split_root(name) is None:
            package, dot, rest = name.partition(".")
            local = self._free_name(_USUAL_NAMES.get(package, package))
            return f"{local}{dot}{rest}", ImportNeed(package, None, local)
        parent, _, leaf = name.rpartition(".")
        if parent == import_root(name):
            local = self._free_name(leaf)
            return local, ImportNeed(parent, leaf, local)
        above, _, module = parent.rpartition(".")
        # `random.normal` would read as the standard library's.
        hides = module in sys.stdlib_module_names
        local = self._free_name(f"keras_{module}" if hides else module)
        return f"{local}.{leaf}", ImportNeed(above, module, local)

    def _binding_above(self, name: str, prefix: str) -> ImportBinding | None:
        """Return an import of what stands above a name, be it by way of `tensorflow.compat.v1`.

        By that way only where the replaced name is read by it, too: each of these packages finds
        out for itself, and when it is first asked, which Keras its `keras` is. Where a library
        such as tensorflow_model_optimization sets ``TF_USE_LEGACY_KERAS``, `tf.keras` of
        `import tensorflow.compat.v2 as tf` is tf_keras, beside `from tensorflow.keras import …`.
        """
        package, dot, rest = prefix.partition(".")
        if package != "tensorflow" or split_root(name) is None:
            return self._binding_of(prefix)
        found = (self._binding_of(f"{each}{dot}{rest}") for each in self._handing_on)
        return next((each for each in found if each is not None), None)

    @property
    def _handing_on(self) -> tuple[str, ...]:
        """The packages whose `keras` is what the replaced name is read from."""
        own = self.binding
        if own is not None and own.name.removesuffix(".keras") in _TENSORFLOWS:
            return (own.name.removesuffix(".keras"),)
        return _TENSORFLOWS[:1]

    def _binding_of(self, name: str) -> ImportBinding | None:
        return readable_import(self.module, name, self.node, self.binding)

    def _free_name(self, wanted: str) -> str:
        """Return a name that can be bound at module level and read wherever Keras is used."""
        bare = wanted.removeprefix("keras_")
        usual = () if _BINDS_ANY.search(self.module.text) else (wanted,)
        more = (f"keras_{bare}_{n}" for n in range(2, 100))
        return next(
            each
            for each in chain(usual, (f"keras_{bare}",), more)
            # Where it can be read wherever something imported is, one import does.
            if each not in _names_at_uses(self.module) and self.module.is_free(each, [self.node])
        )


def need_replacing(binding: ImportBinding, name: str) -> ImportNeed:
    """Return the import need that replaces a binding."""
    alias = binding.alias
    parent, _, leaf = name.rpartition(".")
    again = alias is not None and (
        alias.asname is not None and alias.evaluated_name == binding.local
    )
    return ImportNeed(parent or leaf, leaf if parent else None, binding.local, again)


def _is_package(binding: ImportBinding) -> bool:
    """Say whether an import binds a root of Keras or what stands above it."""
    split = split_root(binding.name)
    return (split is not None and not split[1]) or binding.name in _TENSORFLOWS


@once
def _some_use_of_keras(module: Module) -> Reference | None:
    """Return the first use of something of Keras, else the first import."""
    uses = [each for each in module.references if import_root(each.name) is not None]
    loads = [each for each in uses if each.kind is ReferenceKind.LOAD]
    return next(iter([*loads, *uses]), None)


@once
def _names_at_uses(module: Module) -> frozenset[str]:
    """Return the names that are bound where something imported is imported or used."""
    scopes = {module.scope_of(each.node) for each in module.references}
    # What a class body binds is not seen in what is inside it.
    around = {
        each
        for scope in scopes
        for each in scope.enclosing()
        if each is scope or each.kind is not ScopeKind.CLASS
    }
    return frozenset(name for scope in around for name in scope.bindings)


@lru_cache(maxsize=256)
def _splits(name: str) -> tuple[tuple[str, str], ...]:
    """Return the prefixes of a dotted name with what follows, the longest first."""
    return tuple(_prefixes(name))


def _prefixes(name: str) -> Iterator[tuple[str, str]]:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        rest = parts[length:]
        yield ".".join(parts[:length]), "".join(f".{part}" for part in rest)
