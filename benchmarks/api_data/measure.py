"""Measure the shipped API tables: bytes, time to load, time of a lookup. Prints Markdown.

Run ``python benchmarks/api_data/measure.py``. Loads are those of a process that has read nothing
yet (a fresh one each time). Times are the processor's, and the best of several, because others
use the machine too.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from kdoctor.keras_api import lookup, newest_target, tables

REPEATS = 15
SCAN = {
    "keras (names)": "tables.names_table('keras')",
    "tf.keras (names)": "tables.names_table('tf.keras')",
    "keras (classes)": "tables.classes_table('keras')",
    "all three: a scan for a Keras 3 target": "tables.names_table('keras'), "
    "tables.names_table('tf.keras'), tables.classes_table('keras')",
    "tf_keras (names)": "tables.names_table('tf_keras')",
    "tensorflow.python.keras (names)": "tables.names_table('tensorflow.python.keras')",
    "tensorflow (classes)": "tables.classes_table('tensorflow')",
}


def main() -> None:
    """Print the three tables of the README."""
    folder = Path(tables.__file__).with_name(tables.DATA)
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.bin"))}
    print("| file | bytes |\n| --- | ---: |")
    for name, size in sizes.items():
        print(f"| {name} | {size:,} |")
    print(f"| **all** | **{sum(sizes.values()):,}** |\n")
    print("| loaded in a fresh process | ms |\n| --- | ---: |")
    for what, expression in SCAN.items():
        print(f"| {what} | {min(_fresh(expression) for _ in range(REPEATS)):.1f} |")
    print("\n| a lookup | µs |\n| --- | ---: |")
    for what, microseconds in _lookups().items():
        print(f"| {what} | {microseconds:.1f} |")


def _fresh(expression: str) -> float:
    code = (
        "import time\nfrom kdoctor.keras_api import tables\n"
        f"begun = time.process_time()\n{expression}\nprint(time.process_time() - begun)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout) * 1e3


def _lookups() -> dict[str, float]:
    """Return microseconds a name: names of all releases, so that many are missing."""
    target = newest_target()
    there = [f"keras.{name}" for name in _surface_names()]
    ever = [f"keras.{name}" for name in tables.names_table("keras").names if name]
    lookup("keras.layers.Dense", target)

    def first(names: list[str]) -> Callable[[], None]:
        def ask() -> None:
            lookup.cache_clear()
            for name in names:
                lookup(name, target)

        return ask

    def again() -> None:
        for name in there:
            lookup(name, target)

    return {
        "a name that exists": _best(first(there), len(there)),
        "any name of any release, most of them missing": _best(first(ever), len(ever)),
        "such a name, in a process that has looked up none": min(
            _first_ever() for _ in range(REPEATS)
        ),
        "asked again (cached)": _best(again, len(there)),
    }


def _first_ever() -> float:
    """Return microseconds a name where nothing at all is known yet: rows are decoded, too."""
    code = (
        "import time\nfrom kdoctor.keras_api import lookup, newest_target, tables\n"
        "names = [f'keras.{name}' for name in tables.names_table('keras').names if name]\n"
        "target = newest_target()\nlookup('keras.layers.Dense', target)\n"
        "begun = time.process_time()\nfor name in names:\n    lookup(name, target)\n"
        "print((time.process_time() - begun) / len(names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout) * 1e6


def _surface_names() -> list[str]:
    from kdoctor.keras_api.surface import newest, surface_at  # noqa: PLC0415

    surface = surface_at("keras", newest("keras"))
    assert surface is not None
    return [name for name in surface.names if name]


def _best(ask: Callable[[], None], names: int) -> float:
    seconds = []
    for _ in range(5):
        begun = time.process_time()
        ask()
        seconds.append(time.process_time() - begun)
    return min(seconds) / names * 1e6


if __name__ == "__main__":
    main()
