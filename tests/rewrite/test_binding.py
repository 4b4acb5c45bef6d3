"""A call is bound to the old signature exactly as Python binds it."""

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.rewrite.binding import bind
from kdoctor.rewrite.pattern import Pattern
from kdoctor.rewrite.refusal import Refused

SUM = "keras.backend.sum(x, axis=None, keepdims=False)"


def bound(signature, arguments):
    """Return parameter -> source of what is passed."""
    call = cst.parse_expression(f"f({arguments})")
    binding = bind(call, Pattern.parse(signature))
    return [
        (each.parameter, cst.Module(()).code_for_node(each.value)) for each in binding.arguments
    ]


def reason(signature, arguments):
    with pytest.raises(Refused) as refused:
        bound(signature, arguments)
    return refused.value.reason


def test_positions_and_keywords_go_to_their_parameters():
    assert bound(SUM, "a, keepdims=True, axis=1") == [
        ("x", "a"),
        ("keepdims", "True"),
        ("axis", "1"),
    ]


def test_star_arguments_are_refused():
    assert "`*…`" in reason(SUM, "*args")
    assert "`**…`" in reason(SUM, "a, **options")


def test_too_many_arguments_are_refused():
    assert "more positional arguments" in reason(SUM, "a, 1, True, 2")


def test_an_unknown_keyword_is_refused_by_name():
    assert reason(SUM, "a, dtype='int32'") == "`keras.backend.sum` has no parameter `dtype`"


def test_a_missing_argument_is_refused_by_name():
    assert "does not pass `x`" in reason(SUM, "axis=1")


def test_an_argument_passed_twice_is_refused_by_name():
    assert reason(SUM, "a, x=b") == "the call passes `x` twice"
    assert reason(SUM, "a, axis=1, axis=2") == "the call passes `axis` twice"


def test_variadic_parameters_take_the_rest():
    assert bound("keras.f(a, *rest, **others)", "1, 2, 3, z=4") == [
        ("a", "1"),
        ("rest", "2"),
        ("rest", "3"),
        ("others", "4"),
    ]


NAMES = "abcde"


class DEFAULT:
    value = -1


@st.composite
def signatures(draw):
    """The text of a parameter list of any kind that Python allows."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
    cut = sorted(draw(st.tuples(*[st.integers(0, len(names))] * 3)))
    groups = [names[: cut[0]], names[cut[0] : cut[1]], names[cut[1] :]]
    defaults = False
    pieces = []
    for number, group in enumerate(groups):
        if number == 1 and groups[0]:
            pieces.append("/")
        if number == 2:
            variadic = draw(st.booleans())
            if variadic:
                pieces.append("*rest")
            elif group:
                pieces.append("*")
            defaults = False
        for name in group:
            defaults = draw(st.booleans()) or (defaults and number < 2)
            pieces.append(f"{name}={DEFAULT.value}" if defaults else name)
    if draw(st.booleans()):
        pieces.append("**others")
    return ", ".join(pieces)


@given(
    signatures(),
    st.integers(0, 4),
    st.lists(st.sampled_from([*NAMES, "z"]), unique=True, max_size=3),
)
def test_binding_agrees_with_python(parameters, positional, keywords):
    namespace = {}
    exec(f"def old({parameters}): return locals()", namespace)  # noqa: S102 - our own text
    values = {name: 10 + number for number, name in enumerate(keywords)}
    written = ", ".join([*map(str, range(positional)), *(f"{k}={v}" for k, v in values.items())])
    try:
        expected = namespace["old"](*range(positional), **values)
    except TypeError:
        with pytest.raises(Refused):
            bound(f"keras.old({parameters})", written)
        return
    found = dict.fromkeys(expected, ())
    for name, source in bound(f"keras.old({parameters})", written):
        found[name] += (int(source),)
    assert found == {name: as_tuple(value) for name, value in expected.items()}


def as_tuple(value):
    """What was passed for a parameter, as a tuple; a default was not passed."""
    match value:
        case tuple():
            return value
        case dict():
            return tuple(value.values())
        case DEFAULT.value:
            return ()
    return (value,)
