"""The kind of an error: what is left of it without the names and sizes of one program."""

from __future__ import annotations

import re

from benchmarks.migration.errors import cleaned
from benchmarks.migration.model import Failure

LONGEST = 140
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
# What Keras writes around what a layer raised, and AutoGraph above what a function raised.
IN_A_LAYER = re.compile(
    r"Exception encountered when calling (?:layer .*?\(type \w+\)|[\w.]+\(\))\.\s*(.*)"
)
IN_USER_CODE = re.compile(r"in user code:.*\s((?:\w+\.)*\w*(?:Error|Exception)): (.*)")
AFTERWARDS = re.compile(r" (?:Arguments received by|Received:|Call arguments received|Full ).*")
SENTENCE = re.compile(r"[.:;]\s+(?=[A-Z])")
# What an error is about. Other names in it are those of one program.
ABOUT = re.compile(
    r"(?:no attribute|cannot import name|No module named|unexpected keyword argument"
    r"|got multiple values for argument|required positional arguments?:"
    r"|keyword arguments? passed to \w+: \{|keyword arguments?:? \{?) ?(?=['\"`])"
)
QUOTED = re.compile(r"""(['"`])((?:(?!\1).)*)\1""")
OF_KERAS = re.compile(r"(?:keras|tf_keras|tensorflow|tf)(?:\.\w+)*")
OBJECT = re.compile(r"<(KerasTensor|tf\.Tensor|Variable|[\w.]+)\b[^<>]*>?")
BRACKETS = re.compile(r"[(\[{][^()\[\]{}]+[)\]}]")
NUMBERED = re.compile(r"\b\w+_\d+\b")
NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b")
MEMBER = re.compile(r"\b(?:\w+\.)+(\w+)\(\)")
PASSED_TO = re.compile(r"(passed to|calling) \w+")
WORDS_OF_AN_ASSERTION = 6  # what follows is values


def kind(failure: Failure) -> str:
    """Return the type and the first sentence, with ``…`` in place of what is one program's own."""
    error, message = failure.type, cleaned(ESCAPE.sub("", failure.message))
    message = message.replace("keras._tf_keras.keras", "tf.keras")
    if inner := IN_USER_CODE.search(message):
        error, message = inner[1], inner[2]
    if inner := IN_A_LAYER.search(message):
        message = inner[1]
    message = AFTERWARDS.sub("", message)
    about = ABOUT.search(message)
    named = QUOTED.match(message, about.end()) if about else None
    if named:
        before = _without_names(message[: named.start()])
        return f"{error}: {before}{named[0]}"
    words = _without_names(SENTENCE.split(message)[0]).split(" ")
    if error.endswith("AssertionError"):
        words = words[:WORDS_OF_AN_ASSERTION]
    return f"{error}: {' '.join(words)}"[:LONGEST].rstrip(" :")


def _without_names(message: str) -> str:
    message = OBJECT.sub(r"<\1>", message)
    message = QUOTED.sub(lambda q: q[0] if OF_KERAS.fullmatch(q[2]) else "'…'", message)
    message = PASSED_TO.sub(r"\1 …", MEMBER.sub(r"….\1()", message))
    for _ in range(3):  # brackets in brackets
        message = BRACKETS.sub("…", message)
    return NUMBER.sub("N", NUMBERED.sub("…", message))
