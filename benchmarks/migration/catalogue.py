"""The list of packages: ``packages.toml``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchmarks.migration.model import Half, Package

LIST = Path(__file__).with_name("packages.toml")


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Packages that are measured, and libraries that only stand on their path."""

    package: tuple[Package, ...]
    library: tuple[Package, ...] = ()

    @property
    def seen(self) -> tuple[Package, ...]:
        """The packages that may be looked into."""
        return tuple(each for each in self.package if each.half is not Half.UNSEEN)

    def needed_by(self, package: Package) -> list[Package]:
        """Return what must be on the path besides the package itself.

        Raises:
            KeyError: the list has no entry of such a name.
        """
        every = {each.name: each for each in (*self.package, *self.library)}
        return [every[name] for name in package.also_needed]

    def named(self, names: list[str]) -> list[Package]:
        """Return the packages of these names, all without any.

        Raises:
            KeyError: there is no such package.
        """
        known = {each.name: each for each in self.package}
        return [known[name] for name in names] if names else list(self.package)


def read(path: Path = LIST) -> Catalogue:
    """Read the list of packages."""
    return msgspec.toml.decode(path.read_bytes(), type=Catalogue)
