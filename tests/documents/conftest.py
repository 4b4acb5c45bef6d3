"""What tests of several kinds of document hold to be so."""


def assert_it_comes_back(document, text):
    """A document is what it was, byte for byte, when its sources are put back into it."""
    assert document.replace({unit.index: unit.sources for unit in document.units}) == text.encode()
    for unit in document.units:
        assert_it_is_written_anew_as_it_was(unit, text)


def assert_it_is_written_anew_as_it_was(unit, text):
    """Each cell is rendered, not passed over: so margins and prompts must come back, too."""
    for cell, source in zip(unit.cells, unit.sources, strict=True):
        span = cell.excerpt.span
        assert not source or cell.excerpt.render(source, text) == text[span.start : span.end]
