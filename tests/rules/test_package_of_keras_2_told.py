"""Each public name of `tensorflow_addons` has a successor, a definition, or a reason of its own."""

from __future__ import annotations

import pytest

from kdoctor import engine
from kdoctor.rules.environment._addons import _SUCCESSORS
from kdoctor.rules.environment._addons_told import TOLD
from kdoctor.rules.names._definitions.dead_packages import ADDONS

STANDS = {
    **{each.name: "successor" for each in _SUCCESSORS},
    **{
        each: "definition"
        for each in ADDONS.recorded.names
        if ADDONS.of(f"tensorflow_addons.{each}")
    },
    **dict.fromkeys(TOLD, "told"),
}
OPEN: frozenset[str] = frozenset()
"""Names that nothing is known of yet."""


def test_of_each_public_name_it_is_known_what_stands_for_it() -> None:
    nothing = sorted({*ADDONS.recorded.names} - {*STANDS})
    assert nothing == sorted(OPEN)


def test_what_is_told_is_public_and_has_nothing_that_stands_for_it() -> None:
    assert {*TOLD} <= {*ADDONS.recorded.names}
    assert not {each for each in TOLD if ADDONS.of(f"tensorflow_addons.{each}")}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told_is_told_however_it_is_imported(name: str) -> None:
    home, _, leaf = name.rpartition(".")
    file = ADDONS.recorded.names[name].file
    sources = (
        f"import tensorflow_addons as tfa\ntfa.{name}()\n",
        f"from {f'tensorflow_addons.{home}'.rstrip('.')} import {leaf}\n{leaf}()\n",
        f"from tensorflow_addons.{file} import {leaf} as other\nother()\n",
    )
    for source in sources:
        how = {"target": "keras==3.15.1", "isolated": True, "select": ["KD704"]}
        (finding,) = engine.scan(["-"], stdin=source.encode(), **how).findings
        assert TOLD[name] in finding.help, source
        assert "uninstall" not in finding.help
