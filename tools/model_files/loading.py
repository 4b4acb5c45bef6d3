"""Load the files of the matrix with a Keras 3, and record what it said.

    python loading.py FOLDER PART PARTS [MOST]

The files are taken in an order that has nothing to do with what is in them, ``MOST`` of each
writer.

Each line of ``FOLDER/loaded-PART.jsonl`` is a file, what ``load_model`` said, and with which
arguments it loaded after all.
"""

import gc
import json
import sys
import warnings
import zlib
from pathlib import Path

_TOGETHER = 50  # models
BOTH = {"compile": False, "safe_mode": False}


def main(folder: Path, part: int, parts: int, most: int | None = None) -> None:
    """Load each file of one part."""
    warnings.simplefilter("ignore")
    import keras  # noqa: PLC0415 - it is slow, and warns

    gc.freeze()
    folders = sorted(each for each in folder.iterdir() if each.is_dir())
    files = [each for writer in folders for each in _mixed(writer)[:most]]
    with (folder / f"loaded-{part}.jsonl").open("w") as out:
        for number, path in enumerate(files[part::parts]):
            if not number % _TOGETHER:  # it collects garbage, which takes longer than a model
                keras.backend.clear_session()
            error = _error(keras, path)
            cured = _cure(keras, path) if error else None
            told = {"file": str(path.relative_to(folder)), "error": error, "cured": cured}
            out.write(json.dumps({**told, "keras": keras.__version__}) + "\n")
            out.flush()


def _mixed(folder: Path) -> list[Path]:
    files = [each for each in folder.glob("*") if each.suffix in {".h5", ".keras"}]
    return sorted(files, key=lambda path: zlib.crc32(path.name.encode()))


def _cure(keras: object, path: Path) -> dict[str, bool] | None:
    """Return the fewest arguments with which a file loads; None where it does not."""
    if _error(keras, path, **BOTH):
        return None
    for attempt in ({"compile": False}, {"safe_mode": False}):
        if not _error(keras, path, **attempt):
            return attempt
    return BOTH


def _error(keras: object, path: Path, **given: bool) -> str:
    try:
        keras.models.load_model(path, **given)  # type: ignore[attr-defined]
    except Exception as error:  # noqa: BLE001 - whatever Keras says
        return f"{type(error).__name__}: {str(error)[:4000]}"
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
