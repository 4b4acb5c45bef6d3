"""Generate what stands in ``keras.src``: ``python -m tools.api_data.private_modules``.

``python -m tools.api_data`` writes it with all else; this needs the wheels of Keras 3 alone.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.version import Version

from kdoctor.keras_api.private_modules import FILE, ROOT, PrivateModules, Spans, pack
from kdoctor.keras_api.tables import DATA
from tools.api_data.packages import Package
from tools.api_data.releases import DEFAULT_CACHE, RELEASES, fetch
from tools.api_data.wheels import Wheel

OUT = Path(__file__).parents[2] / "kdoctor" / "keras_api" / DATA
_FIRST = Version("3.0")
_FEW = 3  # modules: what more of them bind is an import of all over Keras


def releases() -> list[str]:
    """Return the releases of Keras 3, oldest first."""
    return [each for each in RELEASES["keras"] if Version(each) >= _FIRST]


def read(wheels: Sequence[Wheel]) -> PrivateModules:
    """Read the modules of some releases of Keras, oldest first."""
    modules: dict[str, list[int]] = {}
    opened: dict[str, list[int]] = {}
    names: dict[str, dict[str, list[int]]] = {}
    for number, wheel in enumerate(wheels):
        package = Package(wheel)
        for module in sorted(package.modules):
            if not f"{module}.".startswith(f"{ROOT}."):
                continue
            name = module.removeprefix(ROOT).lstrip(".")
            modules.setdefault(name, []).append(number)
            if package.is_open(module):
                opened.setdefault(name, []).append(number)
            of_module = names.setdefault(name, {})
            for each in sorted(package.bound_names(module)):
                if not each.startswith("_"):
                    of_module.setdefault(each, []).append(number)
    often = Counter(name for found in names.values() for name in found)
    common = tuple(sorted(name for name, count in often.items() if count > _FEW))
    own = {
        module: {
            name: numbers
            for name, numbers in found.items()
            if name not in common and f"{module}.{name}".lstrip(".") not in modules
        }
        for module, found in sorted(names.items())
    }
    last = len(wheels) - 1
    return PrivateModules(
        tuple(wheel.version for wheel in wheels),
        _spans_of(modules, last),
        {module: _spans_of(found, last) for module, found in own.items()},
        common,
        _spans_of(opened, last),
    )


def _spans_of(numbers: dict[str, list[int]], last: int) -> dict[str, Spans]:
    return {name: _spans(found, last) for name, found in sorted(numbers.items())}


def _spans(numbers: Iterable[int], last: int) -> Spans:
    spans: list[int] = []
    for number in numbers:
        if spans and spans[-1] == number - 1:
            spans[-1] = number
        else:
            spans += [number, number]
    return spans[0] if len(spans) == 2 and spans[1] == last else spans


def main() -> None:
    """Read the releases of Keras 3, downloading those that the cache lacks; write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder of the wheels")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    options = parser.parse_args()
    wheels = [Wheel.read(fetch("keras", each, options.cache)) for each in releases()]
    data = pack(read(wheels))
    (options.out / FILE).write_bytes(data)
    print(f"{FILE}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
