"""Which saved models an error names that are at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kdoctor.models.at_hand import at_hand
from kdoctor.models.explained import Explained, explained
from kdoctor.models.looking import may_be_text
from kdoctor.target import Target

_MAX_TRIED: Final = 20  # names of one error
# How messages of Keras, h5py and TensorFlow name a file; a sentence may go on behind it.
_IN_MESSAGE: Final = re.compile(
    r"filepath=(?P<filepath>[^,\n]+?)(?=[.,]?\s|[.,]?$)"
    r"|(?P<quote>['\"`])(?P<quoted>[^'\"`\n]+)(?P=quote)"
    r"|(?P<bare>[^\s'\"`=(),]+\.(?:h5|hdf5|keras|pb|tflite|onnx|model|ckpt|index|json))\b"
)
_LOADS: Final = re.compile(
    r"\b(?:load_model|load_weights|TFSMLayer|model_from_\w+|open|File)\s*\(.*?"
    r"(?P<quote>['\"])(?P<path>[^'\"]+)(?P=quote)"
)


def named_files(
    message: str, lines: Iterable[tuple[str, str]], target: Target
) -> Iterator[Explained]:
    """Yield what is known of each saved model that an error names and that is there.

    ``lines`` are the lines of code that led to it, each with the folder of its file: a path counts
    from where one is, else from there.

    Raises:
        FileProblem: one cannot be read, or is damaged.
    """
    here = Path()
    names = [(here, name) for name in _of_message(message)]
    for beside, line in lines:
        paths = [each["path"] for each in _LOADS.finditer(line)]
        names += [(where, name) for name in paths for where in (here, Path(beside))]
    seen = set[Path]()
    for folder, name in list(dict.fromkeys(names))[:_MAX_TRIED]:
        path = at_hand(folder, name)
        if path is None or path.resolve() in seen:
            continue
        seen.add(path.resolve())
        found = explained(path, target)
        if not may_be_text(path, found.kind):
            yield found


def _of_message(message: str) -> Iterator[str]:
    for each in _IN_MESSAGE.finditer(message):
        yield next(filter(None, each.group("filepath", "quoted", "bare")))
