"""Lists, arguments and names: what `generic_utils` and `tf_utils` of Keras 2 did with them."""

import functools
import inspect
import re

import keras


def to_list(x, allow_tuple: bool = False) -> list:
    """Return a list as it is, anything else in a list."""
    if isinstance(x, list):
        return x
    return list(x) if allow_tuple and isinstance(x, tuple) else [x]


def unpack_singleton(x):
    """Return the element of what has only one, anything else as it is."""
    return x[0] if len(x) == 1 else x


def object_list_uid(object_list) -> str:
    """Return the ids of the objects, joined."""
    if not isinstance(object_list, (list, tuple)):
        object_list = [object_list]
    return ", ".join(str(abs(id(each))) for each in object_list)


def has_arg(fn, name: str, accept_all: bool = False) -> bool:
    """Say whether a function takes a keyword."""
    spec = inspect.getfullargspec(fn)
    takes_any = accept_all and spec.varkw is not None
    return takes_any or name in spec.args or name in spec.kwonlyargs


def is_all_none(structure) -> bool:
    """Say whether there is nothing but None in a structure."""
    return all(each is None for each in keras.tree.flatten(structure))


def check_for_unexpected_keys(name: str, input_dict: dict, expected_values) -> None:
    """Refuse keys that nobody expects."""
    unknown = set(input_dict).difference(expected_values)
    if unknown:
        raise ValueError(f"unknown in {name}: {unknown}; known: {expected_values}")


def validate_kwargs(
    kwargs, allowed_kwargs, error_message: str = "Keyword argument not understood:"
) -> None:
    """Refuse keywords that are not allowed."""
    for each in kwargs:
        if each not in allowed_kwargs:
            raise TypeError(error_message, each)


def to_snake_case(name: str) -> str:
    """Return `my_dense` for `MyDense`, as Keras names layers by their classes."""
    words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    snake = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{snake}" if snake[0] == "_" else snake


def make_batches(size: int, batch_size: int) -> list:
    """Return where each batch starts and ends."""
    starts = range(0, size, batch_size)
    return [(start, min(size, start + batch_size)) for start in starts]


def slice_arrays(arrays, start=None, stop=None):
    """Return rows of an array or of each array of a list: a slice, or by places."""
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError("`stop` goes with a number as `start` only")
    places = start.tolist() if hasattr(start, "shape") else start
    if isinstance(arrays, list):
        if hasattr(start, "__len__"):
            return [None if each is None else each[places] for each in arrays]
        has_rows = [hasattr(each, "__getitem__") for each in arrays]
        pairs = zip(arrays, has_rows, strict=True)
        return [each[start:stop] if has else None for each, has in pairs]
    if hasattr(start, "__len__"):
        return arrays[places]
    return arrays[start:stop] if hasattr(start, "__getitem__") else [None]


def model_from_yaml(yaml_string, custom_objects=None):
    """Raise an error, as Keras 2.6 and later do: YAML can make Python run anything."""
    raise RuntimeError("a model is no longer made from YAML: save it as JSON")


def legacy_support(function):
    """Return a method as it is: its arguments are those of Keras 2."""
    return function


def default(method):
    """Mark a method that subclasses may define anew."""
    method._is_default = True
    return method


def is_default(method) -> bool:
    """Say whether a method is marked as one that subclasses may define anew."""
    return getattr(method, "_is_default", False)


def shape_type_conversion(fn):
    """Give a method of a layer its shapes as tuples."""

    def is_size(value):
        return value is None or isinstance(value, int)

    def as_tuples(shape):
        if is_size(shape):
            return shape
        if hasattr(shape, "as_list"):
            return tuple(shape.as_list())
        if isinstance(shape, dict):
            return {name: as_tuples(each) for name, each in shape.items()}
        if all(map(is_size, shape)):
            return tuple(shape)
        return type(shape)(map(as_tuples, shape))

    @functools.wraps(fn)
    def converted(instance, input_shape):
        return as_tuples(fn(instance, as_tuples(input_shape)))

    return converted


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """Call one of two functions: at once where it is known which, else in the graph."""
    if isinstance(pred, (bool, int)):
        return true_fn() if pred else false_fn()
    return keras.ops.cond(pred, true_fn, false_fn)


def is_tensor_or_variable(x) -> bool:
    """Say whether something is a tensor or a variable."""
    return keras.ops.is_tensor(x) or isinstance(x, keras.Variable)


def is_tensor_or_tensor_list(v) -> bool:
    """Say whether the first thing in a structure is a tensor."""
    leaves = keras.tree.flatten(v)
    return bool(leaves) and keras.ops.is_tensor(leaves[0])


def validate_axis(axis, input_shape) -> list:
    """Return axes as a list, counted from the first."""
    rank = len(input_shape)
    if not rank:
        raise ValueError(f"an input of rank 0 has no axis {axis}")
    axes = [axis] if isinstance(axis, int) else list(axis)
    axes = [rank + each if each < 0 else each for each in axes]
    if any(not 0 <= each < rank for each in axes):
        raise ValueError(f"no axis {axis} in {input_shape}")
    if len(axes) != len(set(axes)):
        raise ValueError(f"an axis occurs twice: {axis}")
    return axes


def standardize_args(inputs, initial_state, constants, num_constants) -> tuple:
    """Return inputs, initial states and constants, which may all come as one list."""
    if isinstance(inputs, list):
        if initial_state is not None or constants is not None:
            raise ValueError("states and constants come by their names, or not")
        if num_constants:
            constants, inputs = inputs[-num_constants:], inputs[:-num_constants]
        if len(inputs) > 1:
            initial_state, inputs = inputs[1:], inputs[:1]
        inputs = inputs[0]

    def as_list(x):
        if x is None or isinstance(x, list):
            return x
        return list(x) if isinstance(x, tuple) else [x]

    return inputs, as_list(initial_state), as_list(constants)
