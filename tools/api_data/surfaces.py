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
_TENSORFLOW_KERAS = "tensorflow.python.keras"


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
    """Read every root that the release serves.

    ``keras`` wheels also are what ``tf.keras`` of TensorFlow ≥ 2.6 consists of: their folder
    ``keras/api/_v2/keras`` up to 2.15, ``keras/_tf_keras/keras`` from 3.0. Under ``tf.keras`` they
    follow TensorFlow's own releases, whose numbers they go on with.
    """
    distribution, version = package.wheel.distribution, Version(package.wheel.version)
    reader = _Reader(package, definitions)
    if distribution == "tensorflow":
        yield from _tensorflow_surfaces(reader, version)
        return
    if distribution == "keras" and version < Version("2.13"):
        # No public listing then: people import whatever file they find.
        yield reader.read_files("keras", "keras")
    else:
        yield reader.read_listing(
            distribution, distribution, lambda module: module.split(".")[1:2] != ["src"]
        )
    if "keras.api._v2.keras" in package.modules:
        yield reader.read_below("tf.keras", "keras.api._v2.keras")
        yield reader.read_below("tf.compat.v1.keras", "keras.api._v1.keras")
    for base in ("keras._tf_keras.keras", "keras.api._tf_keras.keras"):  # the latter: 3.3.0
        if base in package.modules:
            yield reader.read_listing(
                "tf.keras", base, lambda module: module.split(".")[1:2] != ["src"]
            )
            break


def _tensorflow_surfaces(reader: _Reader, version: Version) -> Iterator[Surface]:
    """Read TensorFlow's own Keras: ``tf.keras`` up to 2.5, the private copy in every release."""
    copy = "tensorflow.python.keras"
    if version < Version("2.6"):
        mode = "_v1" if version < Version("2") else "_v2"
        yield reader.read_below("tf.keras", f"{copy}.api.{mode}.keras")
        yield reader.read_below("tf.compat.v1.keras", f"{copy}.api._v1.keras")
    if version < Version("2"):
        yield reader.read_below("tf.compat.v2.keras", f"{copy}.api._v2.keras")
        yield reader.read_below("tensorflow.contrib.keras", "tensorflow.contrib.keras.api.keras")
    else:
        yield Surface("tensorflow.contrib.keras", str(version))  # TensorFlow 2 has no contrib
    yield reader.read_files(copy, copy)


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

    def read_files(self, root: str, base: str) -> Surface:
        """Take every module below ``base``, and every name that it binds, as public."""
        surface = Surface(root, self.package.wheel.version)
        for module in sorted(self.package.modules):
            if module != base and not module.startswith(f"{base}."):
                continue
            prefix = module[len(base) + 1 :]
            parts = prefix.split(".")
            if (root == "keras" and parts[0] == "api") or any(map(_is_private, parts)):
                continue
            self._add_module(surface, prefix, module)
            for name in sorted(self.package.bound_names(module)):
                meaning = self.package.meaning(module, name)
                if meaning and not _is_below(meaning.home, base):
                    meaning = _foreign(meaning, root)
                self._add(surface, _join(prefix, name), meaning)
        return surface

    def read_below(self, root: str, base: str) -> Surface:
        """Walk the generated ``__init__`` files of ``base`` and its own subpackages."""
        return self.read_listing(root, base, lambda module: _is_below(module, base))

    def read_listing(self, root: str, base: str, is_listing: Callable[[str], bool]) -> Surface:
        """Walk the generated ``__init__`` files that list the public API, from ``base`` down."""
        surface = Surface(root, self.package.wheel.version)
        self._walk(surface, "", base, is_listing)
        return surface

    def _walk(
        self, surface: Surface, prefix: str, module: str, is_listing: Callable[[str], bool]
    ) -> None:
        self._add_module(surface, prefix, module)
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
        for name in sorted(self.package.scope(module).hidden):
            self._add_hidden(surface, _join(prefix, name), f"{module}.{name}")

    def _add_hidden(self, surface: Surface, prefix: str, module: str) -> None:
        """Add what only ``import`` finds, in a module that another one of that name hides.

        ``tf.keras.metrics`` of Keras 3.0 is ``keras.metrics``, which has no ``mse``, and
        ``from tensorflow.keras.metrics import mse`` works.
        """
        for name in sorted(self.package.bound_names(module)):
            if (dotted := _join(prefix, name)) not in surface.entries:
                self._add(surface, dotted, self.package.meaning(module, name))
                if found := surface.entries.get(dotted):
                    surface.entries[dotted] = dataclasses.replace(found, import_only=True)

    def _add_module(self, surface: Surface, name: str, module: str) -> None:
        surface.entries[name] = Entry(EntryKind.MODULE, module)
        # Protocol buffers build their names when they are imported.
        if module.endswith("_pb2") or self.package.is_open(module):
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


def _foreign(meaning: Meaning, root: str) -> Meaning:
    """What a module imports from elsewhere, unless it is Keras' own (keras 2.4 is tf.keras).

    What TensorFlow's private copy imports from all over TensorFlow is there; from where is no
    one's concern.
    """
    if meaning.kind is not EntryKind.MODULE and _is_below(meaning.home, _TENSORFLOW_KERAS):
        return meaning
    return Meaning(EntryKind.EXTERNAL, meaning.home if root == "keras" else "")


def _is_below(module: str, base: str) -> bool:
    return module == base or module.startswith(f"{base}.")


def _is_private(name: str) -> bool:
    return name.startswith("_")


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
