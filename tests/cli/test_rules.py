"""``kdoctor rules``: the pages of the rules."""

from __future__ import annotations


def test_a_quoted_error_that_ends_in_a_sentence_goes_on(project):
    page = project.kdoctor("rules", "KD309").out
    assert (
        "raises ValueError: Argument `learning_rate` should be float, or an instance of …" in page
    )
    assert not [line for line in page.splitlines() if line.endswith(" ")]
