"""The names by which the gate looks for a class are all that any release has."""

from __future__ import annotations

import pytest

from kdoctor.keras_api import surface, tables
from kdoctor.keras_api.class_aliases import names_of_class
from kdoctor.keras_api.keras_oracle import KINDS
from kdoctor.keras_api.tables import EntryKind


@pytest.mark.parametrize("root", surface.TABLES)
def test_each_name_of_a_class_is_its_own_or_an_alias(root: str) -> None:
    table = tables.names_table(root)
    unknown = set()
    for name, spans in table.all_spans():
        for span in spans:
            if span.kind is EntryKind.CLASS and span.family in KINDS:
                home = table.homes[span.home].rpartition(".")[2]
                cls = "Functional" if home == "Model" else home  # as the oracle says it
                if name.rpartition(".")[2] not in names_of_class(cls):
                    unknown.add((cls, name))
    assert not unknown


def test_a_class_without_another_name_has_its_own() -> None:
    assert names_of_class("Dropout") == ("Dropout",)
    assert "Model" in names_of_class("Functional")
