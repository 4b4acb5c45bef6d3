"""reStructuredText: directives that say Python, and the file's doctest session."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.documents import Document
from kdoctor.model import Span
from tests.documents.conftest import assert_it_comes_back


def parse(text: str) -> Document:
    return Document.parse(text.encode(), "a.rst")


def texts(document: Document) -> list[str]:
    return [unit.text for unit in document.units]


def test_directives_that_say_python_are_units() -> None:
    document = parse(
        """\
.. code-block:: python
   :linenos:
   :caption: A: b

   x = 1

   if x:
       y = 2

Text.

* .. code:: py

     z = 3

.. sourcecode:: ipython3

    %time w = 4
.. testcode:: group

   v = 5

.. code-block:: bash

   ls

.. code-block::

   u = 6

Literal::

   t = 7
"""
    )

    assert texts(document) == ["x = 1\n\nif x:\n    y = 2\n", "z = 3\n", "0000; w = 4\n", "v = 5\n"]
    assert document.skipped == ()


def test_a_directive_goes_on_with_the_code_that_it_needs() -> None:
    document = parse(
        ".. code-block:: python\n\n   from keras import backend as K\n\n"
        "Text.\n\n.. code-block:: python\n\n   K.sum(x)\n\n>>> K.mean(x)\n1\n"
    )

    assert texts(document) == ["from keras import backend as K\n\nK.sum(x)\n\nK.mean(x)"]


def test_places_count_in_the_document() -> None:
    (unit,) = parse("A\n=\n\n.. code:: python\n\n\tx = 1\n\tK.sum(x)").units
    start = unit.text.index("K")

    place = unit.place(Span(start, start + 5))
    assert (place.line, place.column, place.end_line, place.end_column) == (7, 2, 7, 7)
    assert unit.line_of(start) == "\tK.sum(x)"


def test_a_change_keeps_the_indentation() -> None:
    document = parse(".. code:: python\n\n   def f():\n       return 1\n\nText.\n")

    after = document.replace({0: ["import a\n\ndef f():\n    return a\n"]})
    assert after == b".. code:: python\n\n   import a\n\n   def f():\n       return a\n\nText.\n"


def test_all_examples_of_a_file_are_one_session() -> None:
    document = parse(
        """\
>>> from keras import backend as K
>>> x = 1

Text, then::

    >>> K.sum(
    ...     x)
    1

.. code-block:: pycon

   >>> K.mean(x)
   1

.. code-block:: python

   y = 2
"""
    )

    assert texts(document) == [
        "from keras import backend as K\nx = 1\nK.sum(\n    x)\nK.mean(x)",
        "y = 2\n",
    ]
    after = document.replace({0: ["from keras import ops\nx = 1", "ops.sum(x)", "ops.mean(x)"]})
    assert b">>> from keras import ops\n>>> x = 1\n\nText" in after
    assert b"    >>> ops.sum(x)\n    1\n" in after
    assert b"   >>> ops.mean(x)\n   1\n" in after


def test_a_directive_that_is_no_python_is_skipped() -> None:
    document = parse("Text\n\n.. code:: python\n\n   print 'old'\n")

    assert document.units == ()
    assert document.skipped[0].line == 5


@pytest.mark.parametrize(
    "text", [".. code:: python", ".. code:: python\n\nText", ">>>", ">>> ", "", "...", "... x"]
)
def test_an_empty_block_is_no_problem(text: str) -> None:
    document = parse(text)

    assert document.replace({unit.index: unit.sources for unit in document.units}) == text.encode()


LINE = st.sampled_from(
    [
        ".. code-block:: python",
        "   .. code:: pycon",
        ".. testcode::",
        "   x = 1",
        "\ty = 2",
        "",
        "  ",
        ">>> a",
        "... b",
        "   >>> c",
        "   ... d",
        "   out",
        "Text::",
        "   :option: 1",
        ">>>",
        "...",
        "- .. code:: py",
        "     if x:",
        "         y",
    ]
)


@given(st.lists(LINE, max_size=30), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_document_comes_back_byte_for_byte(
    lines: list[str],
    newline: str,
    ends: bool,  # noqa: FBT001
) -> None:
    text = newline.join(lines) + newline * ends
    document = parse(text)

    assert_it_comes_back(document, text)
