"""What tests told of errors, as facts for a scan: by the function that they came out of."""

from __future__ import annotations

import pytest

from kdoctor.migrate.junit import Test
from kdoctor.migrate.seen_errors import errors_seen

SOURCE = """\
import keras


class Trains:
    def fit(self):
        def batches():
            yield 1

        for each in range(2):
            self.model.fit(batches())


keras.run()
"""
TEXT = """\
Traceback (most recent call last):
  File "{path}", line {line}, in some
    self.model.fit(batches())
  File "/env/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
TypeError: found <class 'list'> which is not.
"""


@pytest.fixture
def seen(tmp_path):
    """Tell what was seen of an error at a line of the source."""
    path = tmp_path / "train.py"
    path.write_text(SOURCE)

    def told(line, at=path):
        tests = {"test": Test("failed", TEXT.format(path=at, line=line))}
        return list(errors_seen({"test"}, tests, tmp_path))

    return told


@pytest.mark.parametrize(
    ("line", "function"), [(10, "Trains.fit"), (7, "Trains.fit.<locals>.batches"), (13, "")]
)
def test_an_error_is_known_by_the_function_that_it_came_out_of(seen, line, function):
    [(fact, sentence)] = seen(line)
    assert (fact.function, fact.raised) == (
        function,
        "TypeError: found <class 'list'> which is not.",
    )
    assert fact.raised in sentence
    assert function in sentence


def test_what_no_frame_of_the_project_saw_is_no_fact(seen):
    assert seen(3, at="/elsewhere/train.py") == []
