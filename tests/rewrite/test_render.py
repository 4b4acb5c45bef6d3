"""Edits compose: nested ones are carried out inside the holes of the outer ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.model import Edit, Hole, Precedence, Span
from kdoctor.rewrite.render import render


def everything(text, *edits, newline="\n"):
    return render(text, edits, Span(0, len(text)), newline)


def span(text, piece):
    start = text.index(piece)
    return Span(start, start + len(piece))


def test_without_edits_the_text_is_returned():
    assert everything("a + b") == "a + b"


def test_edits_are_made_in_order_of_place_whatever_order_they_are_given_in():
    text = "one two"
    edits = [Edit(span(text, "two"), ("2",)), Edit(span(text, "one"), ("1",))]
    assert everything(text, *edits) == "1 2"


def test_only_the_part_asked_for_is_returned():
    text = "one two three"
    assert (
        render(text, [Edit(span(text, "two"), ("2",))], span(text, "two three"), "\n") == "2 three"
    )


def test_an_edit_inside_a_hole_is_made_there():
    text = "f(g(x))"
    outer = Edit(Span(0, 7), ("F[", Hole(span(text, "g(x)")), "]"))
    inner = Edit(span(text, "g"), ("G",))
    assert everything(text, outer, inner) == "F[G(x)]"


def test_a_hole_that_occurs_twice_is_filled_twice():
    text = "f(g)"
    hole = Hole(span(text, "g"))
    assert everything(text, Edit(Span(0, 4), (hole, "+", hole)), Edit(hole.span, ("G",))) == "G+G"


def test_the_same_edit_given_twice_counts_once():
    text = "f(x)"
    edit = Edit(span(text, "f"), ("F",))
    assert everything(text, edit, edit) == "F(x)"


def test_a_hole_gets_parentheses_where_its_place_binds_tighter():
    text = "f(a + b)"
    hole = Hole(span(text, "a + b"), required=Precedence.PRIMARY, own=Precedence.SUM)
    assert everything(text, Edit(Span(0, 8), (hole, ".shape"))) == "(a + b).shape"


def test_an_edit_gets_parentheses_where_its_surroundings_bind_tighter():
    text = "-f(x)"
    edit = Edit(span(text, "f(x)"), ("x + 1",), own=Precedence.SUM, required=Precedence.UNARY)
    assert everything(text, edit) == "-(x + 1)"


def test_what_replaces_a_hole_decides_about_its_parentheses():
    text = "f(g(x))"
    outer = Edit(
        Span(0, 7),
        (Hole(span(text, "g(x)"), required=Precedence.PRIMARY, own=Precedence.PRIMARY), ".y"),
    )
    loose = Edit(span(text, "g(x)"), ("x + 1",), own=Precedence.SUM)
    tight = Edit(span(text, "g(x)"), ("x[1]",), own=Precedence.PRIMARY, required=Precedence.ATOM)
    assert everything(text, outer, loose) == "(x + 1).y"
    assert everything(text, outer, tight) == "x[1].y"


def test_a_wrapper_and_what_it_wraps_may_have_the_same_span():
    text = "f(g)"
    wrapper = Edit(span(text, "g"), ("key=", Hole(span(text, "g"))))
    inner = Edit(span(text, "g"), ("G",))
    assert everything(text, wrapper, inner) == everything(text, inner, wrapper) == "f(key=G)"


def test_insertions_at_one_place_keep_their_order():
    text = "ab"
    first, second = Edit(Span(1, 1), ("1",)), Edit(Span(1, 1), ("2",))
    assert everything(text, first, second) == "a12b"


def test_an_insertion_at_the_edge_of_an_edit_stands_beside_it():
    text = "f(g(x))"
    inner = Edit(span(text, "g(x)"), ("G[", Hole(span(text, "x")), "]"))
    after = Edit(Span(6, 6), (", 1",))
    before = Edit(Span(2, 2), ("0, ",))
    assert everything(text, after, inner, before) == "f(0, G[x], 1)"


def test_an_insertion_at_the_edge_of_a_hole_does_not_get_lost():
    text = "f(x)"
    outer = Edit(Span(0, 4), ("F[", Hole(span(text, "x")), "]"))
    with pytest.raises(ValueError, match="no hole"):
        everything(text, outer, Edit(Span(3, 3), (", 1",)))


@pytest.mark.parametrize(
    ("text", "old", "new", "wanted"),
    [
        ("return(a).b", "(a).b", "f(a)", "return f(a)"),
        ("not(a).b", "(a).b", "_f(a)", "not _f(a)"),
        ("return(a).b", "(a).b", "[a]", "return[a]"),
        ("a.b()if c else d", "a.b()", "a.b", "a.b if c else d"),
        ("a.b[0]or c", "a.b[0]", "a.b[:1]", "a.b[:1]or c"),
        # What was one word, or stood beside no bracket, is as the edit says.
        ("a_b", "b", "c", "a_c"),
        ("(a)", "(a)", "b", "b"),
    ],
)
def test_a_word_does_not_run_into_one_that_a_bracket_kept_apart(text, old, new, wanted):
    assert everything(text, Edit(span(text, old), (new,))) == wanted


def test_new_lines_are_written_as_the_file_writes_them():
    assert everything("a\r\nb", Edit(Span(0, 1), ("1\n2",)), newline="\r\n") == "1\r\n2\r\nb"
    copied = Edit(Span(0, 1), ("1\r\n2",))  # from elsewhere in the file
    assert everything("a\r\nb", copied, newline="\r\n") == "1\r\n2\r\nb"


def test_edits_that_overlap_are_an_error():
    with pytest.raises(ValueError, match="overlaps"):
        everything("abcd", Edit(Span(0, 2), ("x",)), Edit(Span(1, 3), ("y",)))


def test_an_edit_that_would_be_swallowed_is_an_error():
    with pytest.raises(ValueError, match="no hole"):
        everything("abcd", Edit(Span(0, 4), ("x",)), Edit(Span(1, 3), ("y",)))


def test_two_different_edits_of_one_span_are_an_error():
    with pytest.raises(ValueError, match="no hole"):
        everything("abcd", Edit(Span(0, 4), ("x",)), Edit(Span(0, 4), ("y",)))


def test_an_edit_outside_of_the_part_asked_for_is_an_error():
    with pytest.raises(ValueError, match="reaches over"):
        render("abcd", [Edit(Span(0, 2), ("x",))], Span(1, 4), "\n")


@st.composite
def nests(draw, depth=3):
    """A text, edits that wrap its calls in brackets, and what they give."""
    if not depth or draw(st.booleans()):
        name = draw(st.sampled_from("abc"))
        return name, [], name
    parts = draw(st.lists(nests(depth=depth - 1), min_size=1, max_size=3))
    text, edits, holes, expected = "f(", [], [], []
    for inner, inner_edits, inner_expected in parts:
        start = len(text)
        edits += [_moved(edit, start) for edit in inner_edits]
        holes.append(Hole(Span(start, start + len(inner))))
        expected.append(inner_expected)
        text += inner + ", "
    text += ")"
    if draw(st.booleans()):
        reversed_holes = [piece for hole in reversed(holes) for piece in (hole, ";")]
        whole = "[" + "".join(f"{each};" for each in reversed(expected)) + "]"
        return text, [*edits, Edit(Span(0, len(text)), ("[", *reversed_holes, "]"))], whole
    return text, edits, "f(" + "".join(f"{each}, " for each in expected) + ")"


def _moved(edit, by):
    def move(span):
        return Span(span.start + by, span.end + by)

    parts = tuple(
        part if isinstance(part, str) else Hole(move(part.span), part.required, part.own)
        for part in edit.parts
    )
    return Edit(move(edit.span), parts, edit.own, edit.required)


@given(nests(), st.randoms())
def test_nested_edits_come_out_whole_in_whatever_order_they_are_given(nest, random):
    text, edits, expected = nest
    random.shuffle(edits)
    assert everything(text, *edits) == expected
