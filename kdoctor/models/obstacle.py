"""What keeps a target from loading a saved model: one obstacle, and what gets past it."""

from __future__ import annotations

import enum

from msgspec import Struct


class Gravity(enum.StrEnum):
    """What an obstacle does."""

    STOPS = "stops"  # `load_model` raises
    DIFFERS = "differs"  # it loads, and does not do what it did


class Remedy(enum.IntEnum):
    """What gets past an obstacle, the cheapest first. The verdict on a file follows from them."""

    NOTHING = 0  # nothing has to be done
    COMPILE_FALSE = 1  # load_model(…, compile=False)
    CUSTOM_OBJECTS = 2  # load_model(…, custom_objects={subject: …})
    SAFE_MODE_FALSE = 3  # load_model(…, safe_mode=False)
    CONVERT = 4  # `kdoctor model --convert` writes a file without it
    CODE = 5  # code has to be written by hand
    NONE = 6  # no Keras loads it


class Fault(enum.StrEnum):
    """What kind of obstacle it is. ``Obstacle.subject`` is what is named beside it."""

    FILE = "file"  # the kind of the file, or its name
    CLASS = "class"  # the class: gone, moved or renamed
    ARGUMENT = "argument"  # the argument that a class of Keras does not take
    VALUE = "value"  # the argument whose value a class of Keras does not take, or takes otherwise
    OPERATION = "operation"  # the function that `TFOpLambda` and its like recorded
    LAMBDA = "lambda"  # the name of the layer: bytecode
    OWN_CLASS = "own-class"  # the name under which `custom_objects` has to have the user's class
    OWN_FUNCTION = "own-function"  # the same for a function
    STRUCTURE = "structure"  # the form of a configuration: how layers are connected
    WEIGHTS = "weights"  # the name of the layer whose weights do not fit


class Part(enum.StrEnum):
    """Which configuration of a file an obstacle is in."""

    MODEL = "model"  # `model_config`, `config.json`
    TRAINING = "training"  # `training_config`, `compile_config`: read with `compile=True` only
    WEIGHTS = "weights"
    FILE = "file"


class Obstacle(Struct, frozen=True):
    """One thing that the target does not make, why, and what the user can do.

    ``place``: the names of the layers that lead there, with slashes between; "" for the file.
    ``path``: keys and indices that lead to the object in its configuration: the object is a dict
    with ``class_name`` and ``config``, or the string by which a function is named.
    ``became``: what stands for ``subject`` on the target; "" where nothing does, or it is dropped.
    """

    place: str
    cause: str
    cure: str = ""
    fault: Fault = Fault.STRUCTURE
    gravity: Gravity = Gravity.STOPS
    remedy: Remedy = Remedy.CODE
    part: Part = Part.MODEL
    path: tuple[str | int, ...] = ()
    subject: str = ""
    became: str = ""
