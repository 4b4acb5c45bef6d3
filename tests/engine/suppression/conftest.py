"""Sources in memory: no folder, no process."""

import json

import pytest

from kdoctor import engine

HEAD = "import keras\nfrom keras import backend as K\n"


def notebook(*cells):
    content = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "source": cell.splitlines(keepends=True)}
            | {"execution_count": None, "outputs": []}
            for cell in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    return json.dumps(content, indent=1).encode() + b"\n"


def lines(result):
    """Return (code, line) of each finding that is told."""
    return [(each.code, each.place.line) for each in result.findings]


@pytest.fixture
def scan():
    def run(source, **options):
        data = source if isinstance(source, bytes) else source.encode()
        result = engine.scan(["-"], stdin=data, **{"target": "keras==3.15.1"} | options)
        assert not result.unreadable, result.unreadable
        return result

    return run


@pytest.fixture
def fix():
    def run(source, **options):
        data = source if isinstance(source, bytes) else source.encode()
        result = engine.fix(["-"], stdin=data, **{"target": "keras==3.15.1"} | options)
        assert not result.left_alone, result.left_alone
        return result.files[0].after if result.files else data

    return run
