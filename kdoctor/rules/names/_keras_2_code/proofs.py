"""The proofs of the definitions: each is an example that compares it with that of Keras 2.

``kdoctor.verify.keras_2_code`` draws the inputs and runs both.
"""

from __future__ import annotations

from functools import cache

from kdoctor.rules.example import Example
from kdoctor.rules.names._keras_2_code.definitions import with_needs
from kdoctor.rules.names._keras_2_code.names import HELPERS


@cache
def proof_of(code: str) -> Example:
    """Return what proves a definition: its code, and the comparison with that of Keras 2."""
    helper = next(each for each in HELPERS.values() if code in (each.code, each.family))
    needed = with_needs(code)
    imports = sorted({each for found in needed for each in found.imports})
    return Example(
        before=f"from keras.{helper.home} import {helper.leaf}\n",
        after="\n".join([*imports, *(each.text for each in needed)]),
        raises=helper.error,
        check=f"from kdoctor.verify.keras_2_code import compare\ncompare({code!r}, {code})\n",
    )


def proofs() -> tuple[Example, ...]:
    """Return the proofs of all definitions that do what Keras 2 did."""
    written = (("" if each.unlike else each.code, each.family) for each in HELPERS.values())
    codes = dict.fromkeys(code for both in written for code in both if code)
    return tuple(map(proof_of, codes))
