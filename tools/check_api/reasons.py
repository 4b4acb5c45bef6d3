"""Why the table and a run may differ: each reason says which differences it explains.

What no reason here explains is a mistake of the table, and to be mended in its generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kdoctor.keras_api.names import classes_behind
from kdoctor.keras_api.presence import Presence
from kdoctor.keras_api.surface import PRIVATE_ROOT, Surface
from tools.check_api.compare import Difference

_TESTS: Final = {"tests", "integration_test"}
_CHOSEN_BY_VERSION: Final = (
    *("initializers.", "tensorflow.python.keras.initializers.initializers_v2."),
    *("layers.serialization.", "tensorflow.python.keras.layers.recurrent_v2."),
    *("layers.GRU.", "layers.GRUCell.", "layers.LSTM.", "layers.LSTMCell."),
    *("layers.Normalization.", "layers.TextVectorization."),
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a difference is judged by: the table's surface and the probe's whole answer."""

    surface: Surface
    real: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reason:
    """One way in which both can be right."""

    text: str
    explains: Callable[[Difference, Ran], bool]


def explanation(difference: Difference, ran: Ran) -> str:
    """Return the first reason that explains the difference; "" where none does."""
    return next((each.text for each in REASONS if each.explains(difference, ran)), "")


def _prefixes(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(len(parts) + 1))


def _in_open_module(found: Difference, ran: Ran) -> bool:
    return (
        found.aspect == "names"
        and not found.table
        and any(map(ran.surface.is_open, _prefixes(found.name)))
    )


def _of_the_tests(found: Difference, _: Ran) -> bool:
    return found.aspect == "names" and not _TESTS.isdisjoint(found.name.split("."))


def _of_the_listings(found: Difference, ran: Ran) -> bool:
    return found.aspect == "names" and ran.surface.root == "keras" and found.name == "api"


def _of_the_first_import(found: Difference, _: Ran) -> bool:
    leaf = found.name.rpartition(".")[2]
    return found.name.startswith("backend.") and found.aspect == "names" and leaf in {"f", "fh"}


def _a_value(found: Difference, _: Ran) -> bool:
    return found.aspect in {"kinds", "member kinds"} and found.table == "value"


def _wrapped(found: Difference, _: Ran) -> bool:
    return found.is_wrapped


def _from_another_package(found: Difference, ran: Ran) -> bool:
    if found.aspect not in {"members", "attributes"} or found.table:
        return False
    return _presence(found, ran) is Presence.UNKNOWN


def _foreign_private(found: Difference, _: Ran) -> bool:
    private = found.name.rpartition(".")[2].startswith("_")
    return found.aspect == "member kinds" and found.table == "attribute" and private


def _chosen_tensorboard(found: Difference, ran: Ran) -> bool:
    return ran.surface.release == "2.3.1" and (
        found.name == "callbacks.TensorBoard"
        or found.name.startswith("keras.callbacks.tensorboard_v2.TensorBoard.")
    )


def _not_for_tensorflow(found: Difference, ran: Ran) -> bool:
    legacy = ran.surface.root == "tf_keras" and ran.real["module"] != "tf_keras"
    return legacy and found.aspect == "names" and found.name.startswith(("protobuf", "__version__"))


def _mangled(found: Difference, _: Ran) -> bool:
    return found.aspect == "members" and found.name.rpartition(".")[2].startswith("__")


def _of_older_python(found: Difference, _: Ran) -> bool:
    return found.aspect == "names" and found.name == "utils.tf_inspect.ArgSpec"


def _in_a_circle(found: Difference, _: Ran) -> bool:
    return (found.aspect, found.table, found.real) == ("kinds", "external", "module")


def _of_tensorflow_1(found: Difference, ran: Ran) -> bool:
    return ran.surface.root == PRIVATE_ROOT and f"{found.name}.".startswith(_CHOSEN_BY_VERSION)


def _presence(found: Difference, ran: Ran) -> Presence | None:
    classes = classes_behind(ran.surface)
    home, _, member = found.name.rpartition(".")
    info = classes.info(home) if classes else None
    return classes.presence(info, member) if classes and info else None


REASONS: Final = (
    Reason(
        "made when the module runs (protocol buffers, TensorFlow's star imports): the table calls "
        "the module open, and says of no name that it is missing there",
        _in_open_module,
    ),
    Reason("the framework's own tests, which are not read", _of_the_tests),
    Reason("the generated listings, which are read as tf.keras", _of_the_listings),
    Reason(
        "a file handle, bound only while ~/.keras/keras.json is read or written",
        _of_the_first_import,
    ),
    Reason("what an expression gives, which reading cannot tell: the table says `value`", _a_value),
    Reason(
        "TF_USE_LEGACY_KERAS makes tf.keras the listing that tf_keras keeps for TensorFlow, which "
        "leaves these out",
        _not_for_tensorflow,
    ),
    Reason(
        "a decorator without functools.wraps hides the parameters from inspect; "
        "the table has those of the definition",
        _wrapped,
    ),
    Reason(
        "from a class of another package, computed by the class, or set from outside: the table "
        "says of no such member that it is missing",
        _from_another_package,
    ),
    Reason("a name with two underscores, which Python mangles", _mangled),
    Reason("bound only on Python before 3.11", _of_older_python),
    Reason("a module that modules import in a circle, taken for another package's", _in_a_circle),
    Reason(
        "TensorFlow (1.15, 2.4 and 2.10 here) imports its private copy before it turns version 2 "
        "on, so that it holds layers and initializers of version 1; the table tells of 2's",
        _of_tensorflow_1,
    ),
    Reason("a private property of TensorFlow's, assigned by Keras", _foreign_private),
    Reason(
        "keras 2.3 takes another TensorBoard beside TensorFlow 1; the table tells that beside 2",
        _chosen_tensorboard,
    ),
)
