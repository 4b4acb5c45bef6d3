"""The public names of one release under one import root."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from packaging.version import Version

from kdoctor.keras_api.tables import ClassFamily, EntryKind
from tools.api_data.definitions import Definitions
from tools.api_data.packages import Meaning, Package

_UNLISTED = ("Functional", "KerasTensor", "KerasHistory")
_PRIVATE_FOLDERS = {"src", "api"}  # of the top-level package


@dataclass(frozen=True, slots=True)
class Entry:
    """One public name of one release."""

    kind: EntryKind
    home: str
    signature: str | None = None
    family: ClassFamily = ClassFamily.OTHER
    stub: str = ""
    import_only: bool = False


@dataclass(slots=True)
class Surface:
    """All public names of one release under one root, dotted and relative to it."""

    root: str
    version: str
    entries: dict[str, Entry] = field(default_factory=dict)
    open_modules: set[str] = field(default_factory=set)
    classes: dict[str, Meaning] = field(default_factory=dict)


def surfaces_of(package: Package, definitions: Definitions) -> Iterator[Surface]:
    """Read every root that the wheel serves.

    ``keras`` wheels also are what ``tf.keras`` of TensorFlow ≥ 2.6 consists of: their folder
    ``keras/api/_v2/keras`` up to 2.15, ``keras/_tf_keras/keras`` from 3.0.
    """
    distribution, version = package.wheel.distribution, Version(package.wheel.version)
    reader = _Reader(package, definitions)
    if distribution == "keras" and version < Version("2.13"):
        # No public listing then: people import whatever file they find.
        yield reader.read_files("keras")
    else:
        yield reader.read_listing(
            distribution, distribution, lambda module: module.split(".")[1:2] != ["src"]
        )
    if "keras.api._v2.keras" in package.modules:
        base = "keras.api._v2.keras"
        yield reader.read_listing("tf.keras", base, lambda module: module.startswith(base))
    elif "keras._tf_keras.keras" in package.modules:
        yield reader.read_listing(
            "tf.keras", "keras._tf_keras.keras", lambda module: module.split(".")[1:2] != ["src"]
        )


def unlisted_classes(package: Package, definitions: Definitions) -> dict[str, Meaning]:
    """Classes that no public name leads to and whose instances people have in their hands."""
    found: dict[str, Meaning] = {}
    for path, source in package.wheel.files.items():
        for name in _UNLISTED:
            if f"\nclass {name}(" in source or f"\nclass {name}:" in source:
                module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                meaning = package.meaning(module, name)
                if meaning and meaning.kind is EntryKind.CLASS:
                    mro = definitions.mro(meaning)
                    found |= {base.home: base for base in mro if base.kind is EntryKind.CLASS}
    return found


class _Reader:
    def __init__(self, package: Package, definitions: Definitions) -> None:
        self.package = package
        self.definitions = definitions

    def read_files(self, root: str) -> Surface:
        """Take every module of the package, and every name that it binds, as public."""
        surface = Surface(root, self.package.wheel.version)
        for module in sorted(self.package.modules):
            parts = module.split(".")
            if parts[0] != root or parts[1:2] == ["api"] or any(map(_is_private, parts)):
                continue
            prefix = ".".join(parts[1:])
            self._add_module(surface, prefix, module)
            for name in sorted(self.package.bound_names(module)):
                self._add(surface, _join(prefix, name), self.package.meaning(module, name))
        return surface

    def read_listing(self, root: str, base: str, is_listing: Callable[[str], bool]) -> Surface:
        """Walk the generated ``__init__`` files that list the public API, from ``base`` down."""
        surface = Surface(root, self.package.wheel.version)
        self._walk(surface, "", base, is_listing)
        return surface

    def _walk(
        self, surface: Surface, prefix: str, module: str, is_listing: Callable[[str], bool]
    ) -> None:
        self._add_module(surface, prefix, module)
        if module.endswith("_pb2"):  # protobuf builds its names at run time
            surface.open_modules.add(prefix)
            return
        bound = self.package.bound_names(module)
        for name in sorted(bound | set(self.package.submodules(module))):
            if not prefix and name in _PRIVATE_FOLDERS:
                continue
            meaning = self.package.meaning(module, name)
            dotted = _join(prefix, name)
            if meaning and meaning.kind is EntryKind.MODULE and not _is_private(name):
                if is_listing(meaning.home) and dotted not in surface.entries:
                    self._walk(surface, dotted, meaning.home, is_listing)
                    if name not in bound and meaning.home not in self.package.imported:
                        found = surface.entries[dotted]
                        surface.entries[dotted] = dataclasses.replace(found, import_only=True)
                    continue
                surface.open_modules.add(dotted)
            self._add(surface, dotted, meaning)

    def _add_module(self, surface: Surface, name: str, module: str) -> None:
        surface.entries[name] = Entry(EntryKind.MODULE, module)
        if self.package.is_open(module):
            surface.open_modules.add(name)

    def _add(self, surface: Surface, name: str, meaning: Meaning | None) -> None:
        leaf = name.rpartition(".")[2]
        if meaning is None or (_is_private(leaf) and leaf != "__version__"):
            return
        if meaning.kind is EntryKind.CLASS:
            for base in self.definitions.mro(meaning):
                if base.kind is EntryKind.CLASS:
                    surface.classes[base.home] = base
        is_alias = meaning.kind is EntryKind.MODULE and meaning.home != f"{surface.root}.{name}"
        surface.entries.setdefault(
            name,
            Entry(
                EntryKind.ALIAS if is_alias else meaning.kind,
                meaning.home,
                self.definitions.signature(meaning),
                self.definitions.family(meaning),
                self.definitions.stub(meaning),
            ),
        )


def _is_private(name: str) -> bool:
    return name.startswith("_")


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
