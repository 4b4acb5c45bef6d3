"""Generate ``kdoctor/keras_api/data`` from the released wheels: ``python -m tools.api_data``."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from kdoctor.keras_api.tables import DATA, pack
from tools.api_data.definitions import Definitions, attributes_set_from_outside
from tools.api_data.history import ReleasedClasses, classes_table, names_table
from tools.api_data.packages import Package
from tools.api_data.surfaces import Surface, surfaces_of, unlisted_classes
from tools.api_data.wheels import DEFAULT_CACHE, RELEASES, Wheel, fetch

DEFAULT_OUT = Path(__file__).parents[2] / "kdoctor" / "keras_api" / DATA


def generate(wheels: Iterable[Wheel]) -> dict[str, bytes]:
    """Return the data files, by name, for ``wheels`` (each distribution's oldest first)."""
    surfaces: dict[str, list[Surface]] = defaultdict(list)
    classes: dict[str, list[ReleasedClasses]] = defaultdict(list)
    for wheel in wheels:
        package = Package(wheel)
        definitions = Definitions(package)
        found = list(surfaces_of(package, definitions))
        for surface in found:
            surfaces[surface.root].append(surface)
        homes = {home: m for surface in found for home, m in surface.classes.items()}
        homes |= unlisted_classes(package, definitions)
        classes[wheel.distribution].append(
            ReleasedClasses(
                wheel.version,
                {home: definitions.read(homes[home]) for home in sorted(homes)},
                attributes_set_from_outside(wheel.files.values()),
            )
        )
    files = {f"{root}.names.bin": pack(names_table(found)) for root, found in surfaces.items()}
    files |= {
        f"{distribution}.classes.bin": pack(classes_table(distribution, releases))
        for distribution, releases in classes.items()
    }
    return dict(sorted(files.items()))


def main() -> None:
    """Read the wheels (downloading those that the cache lacks) and write the data files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder of the wheels")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="folder to write to")
    parser.add_argument(
        "--wheels", type=Path, nargs="*", help="read these wheels instead of the known releases"
    )
    options = parser.parse_args()
    paths = options.wheels or [
        fetch(distribution, version, options.cache)
        for distribution, versions in RELEASES.items()
        for version in versions
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    for name, data in generate(map(Wheel.read, paths)).items():
        (options.out / name).write_bytes(data)
        print(f"{name}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
