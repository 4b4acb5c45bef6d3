"""What is inferred of one variable of a short program."""

HEAD = """
import k, np
from k import Model, Sequential, Input, load
from k.layers import Dense, Layer
"""


def kind_of_y(parse, source, **options):
    """The kind of the owner of `.y`, which stands once in the source."""
    module = parse(HEAD + source, **options)
    found = [use.owner for use in module.members if use.member == "y"]
    assert len(found) <= 1
    return found[0].kind if found else None
