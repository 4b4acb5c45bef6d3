"""Generate ``kdoctor/keras_api/data`` from the released wheels: ``python -m tools.api_data``."""

from __future__ import annotations

import argparse
import gc
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from packaging.version import Version

from kdoctor.keras_api.config_arguments import FILE as CONFIGS
from kdoctor.keras_api.config_arguments import pack as pack_configs
from kdoctor.keras_api.private_modules import FILE
from kdoctor.keras_api.private_modules import pack as pack_private
from kdoctor.keras_api.tables import DATA, pack
from tools.api_data.config_arguments import read as read_configs
from tools.api_data.definitions import Definitions, attributes_set_from_outside
from tools.api_data.history import ReleasedClasses, classes_table, names_table
from tools.api_data.packages import Package
from tools.api_data.private_modules import read, releases
from tools.api_data.releases import DEFAULT_CACHE, READ_WITH, RELEASES, fetch
from tools.api_data.surfaces import Surface, surfaces_of, unlisted_classes
from tools.api_data.wheels import Wheel, requires_python

DEFAULT_OUT = Path(__file__).parents[2] / "kdoctor" / "keras_api" / DATA


@dataclass(frozen=True, slots=True)
class Release:
    """What one release has: its names under every root that it serves, and its classes."""

    distribution: str
    surfaces: tuple[Surface, ...]
    classes: ReleasedClasses

    @property
    def version(self) -> Version:
        """The release's number, to sort by."""
        return Version(self.classes.version)


def read_release(paths: Sequence[Path]) -> Release:
    """Read the archive ``paths[0]``, with TensorFlow's files beside it where those follow."""
    wheel, *others = map(Wheel.read, paths)
    own = wheel.keras_files
    for tensorflow in others:
        wheel = wheel.beside(tensorflow)
    package = Package(wheel)
    definitions = Definitions(package)
    surfaces = tuple(surfaces_of(package, definitions))
    homes = {home: m for surface in surfaces for home, m in surface.classes.items()}
    homes |= unlisted_classes(package, definitions)
    for surface in surfaces:
        surface.classes.clear()  # syntax trees: much to keep, and read now
    classes = ReleasedClasses(
        wheel.version,
        {home: definitions.read(homes[home]) for home in sorted(homes)},
        attributes_set_from_outside(own),
    )
    return Release(wheel.distribution, surfaces, classes)


def without_equal_first_patches(releases: Iterable[Release]) -> Iterator[Release]:
    """Leave out the patch releases of a minor that have the same names as the next one."""
    ordered = sorted(releases, key=lambda release: (release.distribution, release.version))
    for _, minor in groupby(ordered, key=lambda r: (r.distribution, r.version.release[:2])):
        following = None
        kept = []
        for release in reversed(list(minor)):
            names = [(surface.root, surface.entries.keys()) for surface in release.surfaces]
            if names != following:
                kept.append(release)
            following = names
        yield from reversed(kept)


def tables_of(releases: Iterable[Release]) -> dict[str, bytes]:
    """Return the data files, by name."""
    surfaces: dict[str, list[Surface]] = defaultdict(list)
    classes: dict[str, list[ReleasedClasses]] = defaultdict(list)
    for release in sorted(without_equal_first_patches(releases), key=lambda r: r.version):
        classes[release.distribution].append(release.classes)
        for surface in release.surfaces:
            surfaces[surface.root].append(surface)
    files = {f"{root}.names.bin": pack(names_table(found)) for root, found in surfaces.items()}
    files |= {
        f"{distribution}.classes.bin": pack(classes_table(distribution, found))
        for distribution, found in classes.items()
    }
    return dict(sorted(files.items()))


def known_releases(cache: Path) -> Iterator[list[Path]]:
    """Yield the archives to read for each known release; download those that ``cache`` lacks."""
    for distribution, versions in RELEASES.items():
        for version in versions:
            wanted = [(distribution, version)]
            if wanted[0] in READ_WITH:
                wanted.append(READ_WITH[wanted[0]])
            yield [fetch(*release, cache) for release in wanted]


def main() -> None:
    """Read the releases (downloading those that the cache lacks) and write the data files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder of the wheels")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="folder to write to")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="releases read at once")
    parser.add_argument(
        "--wheels", type=Path, nargs="*", help="read these archives instead of the known releases"
    )
    options = parser.parse_args()
    archives = [[path] for path in options.wheels or ()] or list(known_releases(options.cache))
    options.out.mkdir(parents=True, exist_ok=True)
    # Syntax trees have no cycles, and looking for some takes as long as reading them.
    with ProcessPoolExecutor(options.jobs, initializer=gc.disable) as pool:
        files = tables_of(pool.map(read_release, archives))
    if not options.wheels:
        paths = [fetch("keras", each, options.cache) for each in releases()]
        wheels = [Wheel.read(path) for path in paths]
        files[FILE] = pack_private(read(wheels))
        files[CONFIGS] = pack_configs(read_configs(wheels, [*map(requires_python, paths)]))
    for name, data in files.items():
        (options.out / name).write_bytes(data)
        print(f"{name}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
