"""What the data says that ``from_config`` takes is what the installed Keras takes."""

import importlib
import inspect

import pytest

from kdoctor.keras_api import config_arguments as data
from kdoctor.keras_api.config_arguments import config_arguments, identified, operation
from tests.frameworks import keras
from tests.keras_api.wheels import wheel
from tools.api_data.config_arguments import read
from tools.api_data.wheels import Wheel

KINDS = [each for each in data._table().identifiers if each != "layers"]
FAKE = {
    "keras/__init__.py": "",
    "keras/src/__init__.py": "",
    "keras/src/layers/__init__.py": "from keras.src.layers.conv import Conv, Depth, Other\n",
    "keras/src/losses/__init__.py": """\
        from keras.src.layers.conv import Other as Mean
        def mean_error(x): pass
        ALL_OBJECTS = {Mean, mean_error}
        ALL_OBJECTS_DICT = {each.__name__: each for each in ALL_OBJECTS}
        ALL_OBJECTS_DICT.update({"me": mean_error})
        """,
    "keras/src/layers/conv.py": """\
        class Base:
            def __init__(self, rank, filters, *, name=None, **kwargs):
                shape = kwargs.pop("input_shape", None)
                if kwargs:
                    raise ValueError
            @classmethod
            def from_config(cls, config):
                return cls(**config)
        class Conv(Base):
            def __init__(self, filters, groups=1, **kwargs):
                super().__init__(rank=2, filters=filters, **kwargs)
        class Depth(Base):
            def __init__(self, size, **kwargs):
                super().__init__(2, None, **kwargs)
            @classmethod
            def from_config(cls, config):
                config.pop("old")
                return super().from_config(config)
        class Other(Base):
            def __init__(self, **kwargs):
                self.rest = kwargs
        """,
}


def test_what_a_base_takes_and_what_is_passed_to_it(tmp_path):
    made = read([Wheel.read(wheel(tmp_path, "3.1.0", FAKE))])
    found = {
        home.rpartition(".")[2]: (
            {made.names[each] for each in span.taken},
            {made.names[each] for each in span.required},
            span.is_open,
        )
        for home, (span,) in made.classes.items()
    }
    assert found["Conv"] == ({"filters", "groups", "name", "input_shape"}, {"filters"}, False)
    assert found["Depth"] == ({"size", "name", "input_shape", "old"}, {"size"}, False)
    assert found["Other"][2]
    assert set(made.identifiers["losses"]) == {"Mean", "mean_error", "me"}


@pytest.mark.frameworks
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_string_stands_for_is_what_keras_has(kind):
    known = importlib.import_module(f"keras.src.{kind}").ALL_OBJECTS_DICT
    told = {text: identified(kind, text, keras.__version__) for text in known}
    assert told == {text: f"{each.__module__}.{each.__name__}" for text, each in known.items()}
    assert identified(kind, "no_such", keras.__version__) is None


def classes():
    for module in (keras.layers, keras.optimizers, keras.losses, keras.metrics, keras.initializers):
        for name, each in sorted(vars(module).items()):
            if inspect.isclass(each) and hasattr(each, "from_config"):
                yield name, each


def told_of(cls):
    return config_arguments(f"{cls.__module__}.{cls.__name__}", keras.__version__)


@pytest.mark.frameworks
def test_each_public_class_is_known_with_its_own_parameters():
    for name, cls in classes():
        own = set(inspect.signature(cls.__init__).parameters) - {"self", "args", "kwargs"}
        assert own <= told_of(cls).taken, name


@pytest.mark.frameworks
def test_what_is_called_refused_is_refused():
    """Each class that needs no argument is made with one that no class has."""
    asked = 0
    for _, cls in classes():
        told = told_of(cls)
        if told.required or not told.refuses("no_such_argument"):
            continue
        asked += 1
        try:
            cls.from_config({})
        except Exception:  # noqa: BLE001, S112 - it needs more than can be read
            continue
        with pytest.raises((TypeError, ValueError)):
            cls.from_config({"no_such_argument": 1})
    assert asked > 150


@pytest.mark.frameworks
def test_what_is_called_taken_is_not_called_unknown():
    """Each argument alone, with a value that may be wrong: it is never an unexpected keyword."""
    for name, cls in classes():
        told = told_of(cls)
        if told.is_open or told.required:
            continue
        for argument in sorted(told.taken):
            try:
                cls.from_config({argument: None})
            except Exception as error:  # noqa: BLE001
                text = str(error)
                assert "unexpected keyword argument" not in text, (name, argument)
                assert "Unrecognized keyword" not in text, (name, argument)
                assert "not recognized" not in text, (name, argument)


def test_a_release_before_keras_3_and_an_unknown_class_are_not_told():
    assert config_arguments("keras.src.layers.core.dense.Dense", "2.15.0") is None
    assert config_arguments("keras.src.layers.mine.Mine", "3.15.1") is None
    assert identified("losses", "mse", "2.15.0") is None


def test_an_operation_is_found_by_its_name():
    assert operation("Multiply", "3.15.1") == "keras.src.ops.numpy.Multiply"
    assert operation("Mine", "3.15.1") is None
