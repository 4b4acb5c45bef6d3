"""Spell a name as the file itself would: under its root, by its aliases, in its habit.

``from tensorflow.keras import backend as K`` asks for ``ops.square`` and
``from tensorflow.keras import ops``; ``keras.backend.square`` asks for ``keras.ops.square`` and
nothing new.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator

from kdoctor.keras_api import split_root
from kdoctor.model import ImportNeed
from kdoctor.rewrite.refusal import Refused
from kdoctor.rewrite.roots import TEMPLATE_ROOT, import_root, under_root
from kdoctor.rewrite.visibility import readable_import
from kdoctor.syntax import ImportBinding, Module, Reference

# Keras' own guides import these modules by name (`from keras import layers, ops`) and write the
# others out (`keras.config.floatx()`).
_BY_NAME = ("layers", "ops")


class Speller:
    """Spells names for one place of one file.

    ``reference`` is the use that is replaced: its import shows root and habit.
    """

    def __init__(self, module: Module, reference: Reference) -> None:
        self.module = module
        self.reference = reference

    def spell(self, name: str) -> tuple[str, ImportNeed | None]:
        """Return how to write a builtin or a dotted name, and the import that it needs, if any.

        Raises:
            Refused: a builtin is hidden by a name of the file.
        """
        if "." not in name and hasattr(builtins, name):
            if self.module.scope_of(self.reference.node).owner(name) is not None:
                raise Refused(f"`{name}` means something else in this file")
            return name, None
        name = self.under_the_files_root(name)
        written = self._by_import_at_hand(name) or self._in_the_same_way(name)
        if written is not None:
            return written, None
        return self._by_new_import(name)

    def under_the_files_root(self, name: str) -> str:
        """Return a template's name under the root that the replaced name was written with."""
        root = import_root(self.reference.name)
        if name.partition(".")[0] != TEMPLATE_ROOT or root is None:
            return name
        return under_root(name, root)

    def _by_import_at_hand(self, name: str) -> str | None:
        """Use an import of the name itself or of the module that it stands in."""
        for prefix, rest in _splits(name)[:2]:
            binding = self._binding_of(prefix)
            if binding is not None and (rest or split_root(prefix) != (TEMPLATE_ROOT, "")):
                return f"{binding.local}{rest}"
        return None

    def _in_the_same_way(self, name: str) -> str | None:
        """Write the name out from the package, where that is how this file writes it."""
        leaves_out_no_module = self.reference.binding is not None and self._is_package(
            self.reference.binding
        )
        module = name.rpartition(".")[0].rpartition(".")[2]
        if not leaves_out_no_module and module in _BY_NAME:
            return None
        for prefix, rest in _splits(name)[1:]:
            binding = self._binding_of(prefix)
            if binding is not None:
                return f"{binding.local}{rest}"
        return None

    def _by_new_import(self, name: str) -> tuple[str, ImportNeed]:
        parent, _, leaf = name.rpartition(".")
        if not parent or name.count(".") == 1 and split_root(name) is None:
            package = parent or name
            local = self._free_name(package, package)
            return (f"{local}.{leaf}" if parent else local), ImportNeed(package, None, local)
        root = import_root(name)
        if parent == root:
            local = self._free_name(leaf, leaf)
            return local, ImportNeed(parent, leaf, local)
        above, _, module = parent.rpartition(".")
        local = self._free_name(module, module)
        return f"{local}.{leaf}", ImportNeed(above, module, local)

    def _is_package(self, binding: ImportBinding) -> bool:
        """Say whether an import binds a root of Keras or what stands above it."""
        split = split_root(binding.name)
        return (split is not None and not split[1]) or binding.name == "tensorflow"

    def _binding_of(self, name: str) -> ImportBinding | None:
        return readable_import(self.module, name, self.reference)

    def _free_name(self, wanted: str, module: str) -> str:
        """Return a name that can be bound at module level and read wherever Keras is used."""
        nodes = [self.reference.node, *(each.node for each in self.module.references)]
        candidates = [wanted, f"keras_{wanted}", *(f"keras_{wanted}_{n}" for n in range(2, 100))]
        if module in sys.stdlib_module_names and wanted != "math":
            candidates = candidates[1:]  # `random.normal` would read as the standard library's
        return next(each for each in candidates if self.module.is_free(each, nodes))


def _splits(name: str) -> list[tuple[str, str]]:
    """Return the prefixes of a dotted name with what follows, the longest first."""
    return list(_prefixes(name))


def _prefixes(name: str) -> Iterator[tuple[str, str]]:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        rest = parts[length:]
        yield ".".join(parts[:length]), "".join(f".{part}" for part in rest)
