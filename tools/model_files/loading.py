"""Load the files of the matrix with a Keras 3, and record what it said.

    python loading.py FOLDER PART PARTS

Each line of ``FOLDER/loaded-PART.jsonl`` is a file, what ``load_model`` said, and with which
arguments it loaded after all.
"""

import json
import sys
import warnings
from pathlib import Path

BOTH = {"compile": False, "safe_mode": False}


def main(folder: Path, part: int, parts: int) -> None:
    """Load each file of one part."""
    warnings.simplefilter("ignore")
    import keras  # noqa: PLC0415 - it is slow, and warns

    files = sorted(each for each in folder.rglob("*") if each.suffix in {".h5", ".keras"})
    with (folder / f"loaded-{part}.jsonl").open("w") as out:
        for path in files[part::parts]:
            error = _error(keras, path)
            cured = _cure(keras, path) if error else None
            told = {"file": str(path.relative_to(folder)), "error": error, "cured": cured}
            out.write(json.dumps({**told, "keras": keras.__version__}) + "\n")
            out.flush()


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
    finally:
        keras.backend.clear_session()  # type: ignore[attr-defined]
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
