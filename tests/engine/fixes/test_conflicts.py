"""Which fixes go together in one pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kdoctor.engine.fixes.conflicts import compatible_fixes
from kdoctor.model import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    ImportNeed,
    Place,
    Severity,
    Span,
)
from kdoctor.rewrite import render

CELL = [Span(0, 100)]


def replace(start, end, *parts):
    return Edit(Span(start, end), parts or ("new",))


def finding(*edits, code="KD101", imports=()):
    span = edits[0].span
    fix = Fix("a fix", edits, Applicability.SAFE, imports=imports)
    place = Place("f.py", 0, span, None, 1, span.start + 1, 1, span.end + 1)
    return Finding(
        code, "a-rule", place, "?", Severity.ERROR, Confidence.CERTAIN, "keras.x", fix=fix
    )


def chosen(*findings, kept=(), cells=CELL):
    fixes = compatible_fixes(findings, kept, cells)
    return [each for each in findings if each.fix in fixes]


def test_fixes_apart_go_together_and_touching_counts_as_apart():
    one, two, three = finding(replace(0, 5)), finding(replace(5, 9)), finding(replace(20, 30))
    assert chosen(one, two, three) == [one, two, three]


def test_nothing_goes_right_behind_what_another_fix_takes_out():
    gone, behind = finding(Edit(Span(5, 9), ())), finding(Edit(Span(9, 9), (", x=1",)))
    assert chosen(gone, behind) == [gone]
    assert chosen(finding(replace(5, 9)), behind)[-1] == behind
    before = finding(Edit(Span(5, 5), ("x=1, ",)))
    assert chosen(gone, before) == [gone, before]


def test_of_overlapping_fixes_the_first_in_the_source_wins_whatever_the_order_asked():
    first, second = finding(replace(0, 6)), finding(replace(5, 9))
    assert chosen(first, second) == [first]
    assert chosen(second, first) == [first]


def test_a_fix_inside_a_hole_of_another_goes_with_it():
    outer = finding(replace(0, 20, "f(", Hole(Span(5, 15)), ")"))
    inner, beside = finding(replace(6, 10)), finding(replace(1, 3))
    assert chosen(outer, inner) == [outer, inner]
    assert chosen(outer, beside) == [outer]


def test_an_insertion_at_the_edge_of_a_hole_waits():
    outer = finding(replace(0, 20, "f(", Hole(Span(5, 15)), ")"))
    assert chosen(outer, finding(replace(5, 5))) == [outer]


def test_two_findings_with_one_fix_are_both_cured():
    one, other = finding(replace(0, 5)), finding(replace(0, 5), code="KD102")
    assert chosen(one, other) == [one, other]


def test_two_different_insertions_at_one_place_go_one_after_the_other():
    one, other = finding(replace(3, 3, "a")), finding(replace(3, 3, "b"), code="KD102")
    assert chosen(one, other) == [one]


def test_a_fix_over_a_masked_magic_is_never_chosen():
    assert chosen(finding(replace(0, 9)), kept=[replace(4, 6)]) == []


def test_a_fix_that_reaches_over_the_end_of_a_cell_is_never_chosen():
    assert chosen(finding(replace(3, 8)), cells=[Span(0, 5), Span(6, 20)]) == []


def test_a_fix_that_contradicts_itself_is_never_chosen():
    assert chosen(finding(replace(0, 5), replace(3, 8))) == []


def test_one_name_is_bound_to_one_thing_in_a_pass():
    one = finding(replace(0, 5), imports=(ImportNeed("keras", "ops", "ops"),))
    same = finding(replace(10, 15), imports=(ImportNeed("keras", "ops", "ops"),))
    other = finding(replace(20, 25), imports=(ImportNeed("tensorflow.keras", "ops", "ops"),))
    assert chosen(one, same, other) == [one, same]


def test_one_thing_is_bound_by_one_name_in_a_pass():
    one = finding(replace(0, 5), imports=(ImportNeed("keras", "Input", "Input"),))
    other = finding(replace(10, 15), imports=(ImportNeed("keras", "Input", "keras_Input"),))
    assert chosen(one, other) == [one]


SPANS = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda pair: Span(*sorted(pair)))


@st.composite
def edits(draw):
    span = draw(SPANS)
    inner = draw(SPANS)
    holes = (Hole(inner),) if span.covers(inner) and draw(st.booleans()) else ()
    return Edit(span, (draw(st.sampled_from(["a", "bb", ""])), *holes))


@given(st.lists(st.lists(edits(), min_size=1, max_size=2).map(tuple), max_size=8))
def test_rendering_whatever_is_chosen_raises_nothing(fixes):
    text = "x" * 40
    picked = compatible_fixes([finding(*each) for each in fixes], [], [Span(0, 40)])
    render(text, [edit for fix in picked for edit in fix.edits], Span(0, 40), "\n")
