"""A fix of a project is a fixpoint: a second one finds nothing to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdoctor.documents.reading import as_if_written, read_regular
from kdoctor.engine import fix
from kdoctor.engine.fixes import rounds

PRIVATE = "from tensorflow.python import keras as k\n"
READS = "\n\ndef f(x):\n    return k.backend.int_shape(x)\n"
FIXED = "\n\ndef f(x):\n    return tuple(x.shape)\n"
HOLDS = PRIVATE + "\n\ndef g(x):\n    return k.layers.Dense(1)(x)\n"


def written(folder: Path, sources: dict[str, str]) -> None:
    for name, source in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)


def fixed_once(folder: Path, **options) -> dict[str, str]:
    result = fix([folder], apply=True, unsafe=True, target="keras==3.15.1", **options)
    assert not result.left_alone
    return {Path(each.path).relative_to(folder).as_posix(): each.diff for each in result.files}


CHAIN = {
    "pk/__init__.py": "",
    "pk/low.py": HOLDS,
    "pk/high.py": f"{PRIVATE}from .low import *\n{READS}",
}


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    "sources",
    [
        CHAIN,
        # By way of a module that only hands it on.
        CHAIN
        | {
            "pk/middle.py": "from .low import *\n",
            "pk/high.py": f"{PRIVATE}from .middle import *\n{READS}",
        },
        # The last one is fixed when the one before it is, and not before.
        CHAIN | {"pk/top.py": f"{PRIVATE}from .high import *\n{READS}"},
    ],
    ids=["star", "handed-on", "chain"],
)
def test_a_second_fix_finds_nothing(tmp_path, sources, cache, monkeypatch):
    monkeypatch.setenv("KDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    written(folder, {"pyproject.toml": "", **sources})
    first = fixed_once(folder, cache=cache)
    assert {name for name in sources if "high" in name or "top" in name} <= first.keys()
    assert (folder / "pk/high.py").read_text().endswith(FIXED)
    assert fixed_once(folder, cache=cache) == {}


def test_without_rounds_a_second_fix_is_needed(tmp_path, monkeypatch):
    """What the tests above show, they show because of it."""
    monkeypatch.setattr(rounds, "settled", lambda _options, _tasks, fixes: fixes)
    written(tmp_path, CHAIN)
    fixed_once(tmp_path)
    assert "pk/high.py" in fixed_once(tmp_path)


def test_the_diff_and_what_was_fixed_are_of_all_rounds(tmp_path):
    written(tmp_path, CHAIN)
    result = fix([tmp_path], unsafe=True, target="keras==3.15.1")
    (high,) = (each for each in result.files if each.path.endswith("high.py"))
    assert high.before == CHAIN["pk/high.py"].encode()
    assert {each.code for each in high.applied} == {"KD104", "KD121"}
    assert "-from tensorflow.python import keras as k" in high.diff
    assert "+    return tuple(x.shape)" in high.diff
    assert not [each for each in result.left.findings if each.place.path.endswith("high.py")]
    assert {each.code for each in result.found.findings} == {"KD104"}


def test_who_takes_nothing_that_changed_is_not_looked_at_again(tmp_path, monkeypatch):
    again: list[str] = []
    inner = rounds._fixed_again

    def noted(options, tasks, texts):
        again.extend(Path(each.source.path).name for each in tasks.values())
        return inner(options, tasks, texts)

    monkeypatch.setattr(rounds, "_fixed_again", noted)
    by_name = f"{PRIVATE}from .low import g\n{READS}"
    written(tmp_path, {**CHAIN, "pk/by_name.py": by_name, "pk/apart.py": f"{PRIVATE}{READS}"})
    fixed_once(tmp_path)
    assert again == ["high.py"]


def test_what_was_read_as_if_written_is_read_from_the_disk_afterwards(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"1")
    with as_if_written({str(path): b"2"}):
        assert read_regular(path) == b"2"
    assert read_regular(path) == b"1"
