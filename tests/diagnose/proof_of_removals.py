"""What an answer must have in its text before it may remove, reinstall or go back to anything.

Written by hand, beside what the code asks for: one must not be able to loosen both unseen. The
tests that explain the messages, the recorded errors and those of other libraries hold each of
their answers to it.
"""

from __future__ import annotations

import re
from typing import Final

from kdoctor.diagnose.remedies import takes_away

OF_KERAS: Final = r'File "[^"]*/(?:site|dist)-packages/(?:tf_)?keras/'
OF_TENSORFLOW: Final = r'File "[^"]*/(?:site|dist)-packages/(?:tensorflow|tensorboard|ml_dtypes)'
# What the text must show before the answer may take something away, and why that is enough.
PROVEN: Final = {
    # Keras' own line misses a name that every release with that line has in the file beside it.
    "stale-backend-folder": OF_KERAS,
    "stale-backend-folder-of-2-3": OF_KERAS + "backend/",
    # TensorFlow 2.16 has dropped the name, and Keras up to 2.15 alone asks for it.
    "keras-2-15-with-newer-tensorflow": "register_load_context_function",
    "keras-newer-than-tensorflow": OF_KERAS,
    # NumPy itself says it; the others are raised while TensorFlow or Keras are imported.
    "numpy-2-with-old-tensorflow": "compiled using NumPy 1",
    "numpy-2-with-old-keras": OF_KERAS + "[^!]*removed in the NumPy 2",
    "numpy-2-breaks-bfloat16": OF_TENSORFLOW,
    "protobuf-does-not-fit-tensorflow": OF_TENSORFLOW + "[^!]*Descriptors cannot",
    # Keras' own loader decodes what h5py 2 alone gives.
    "hdf5-by-h5py-3": r"/keras/[^!]*'str' object has no attribute 'decode'",
    "scikeras-for-keras-3-alone": "/scikeras/",
    # The name is nowhere in the newer release: its API is on record.
    "estimators-are-gone": "estimator",
    # The message names the loop of the layer whose fault it is.
    "time-distributed-over-open-time": "time_distributed",
    # The API of each release: the last one that had the name, where nothing has taken its place.
    "has had it in: ": r"has no attribute|cannot import name|No module named",
}


def removing(found):
    return [step for step in found.steps if takes_away(step)]


def guessed(text, found):
    """Return what an answer takes away without evidence."""
    if not removing(found):
        return []
    said = "\n".join(found.evidence)
    known = [needs for name, needs in PROVEN.items() if f"({name})" in said or name in said]
    return [] if any(re.search(needs, text) for needs in known) else removing(found)
