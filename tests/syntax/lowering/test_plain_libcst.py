"""The room for speed can be taken away, and no program sees it that imports kdoctor."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from kdoctor.rules import all_rules
from kdoctor.syntax.lowering.parse import parse
from kdoctor.syntax.lowering.process import PLAIN

_FIXTURES = Path(__file__).parents[3] / "fixtures"
_SAMPLED = 300  # examples, of some thousands

# What a program of somebody else's sees of libcst after it had kdoctor scan and fix.
_LIBRARY = """
import abc, sys
from pathlib import Path

if sys.argv[2] == "first":
    import libcst
    from libcst import metadata
import kdoctor

path = Path(sys.argv[1], "old.py")
path.write_text("from keras import backend as K\\n\\ny = K.sum(x)\\n")
assert len(kdoctor.scan([path], target="keras==3.15.1").findings) == 1
assert kdoctor.fix([path], target="keras==3.15.1", unsafe=True).files
import libcst
from libcst import metadata

methods = ("__init__", "__setattr__", "__delattr__")
changed = []
for name, kind in vars(libcst).items():
    if not isinstance(kind, type) or not issubclass(kind, libcst.CSTNode):
        continue
    if type(kind) is not abc.ABCMeta or kind.__hash__ is object.__hash__:
        changed.append(name)
    for method in (vars(kind).get(each) for each in methods):
        if "kdoctor" in (getattr(method, "__module__", None) or ""):
            changed.append((name, method))
assert not changed, changed[:5]
assert type(metadata) is type(sys), type(metadata)
assert type(sys.modules["libcst._parser.detect_config"]) is type(sys)
print("unpatched")
"""


def _write_examples(folder: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print("seed", seed)  # what a failure shows
    codes = [code for rule in all_rules() for code in rule.valid]
    codes += [example.before for rule in all_rules() for example in rule.invalid]
    for number, code in enumerate(random.Random(seed).sample(codes, _SAMPLED)):  # noqa: S311
        (folder / f"example_{number}.py").write_text(code, "utf-8")
    for path in _FIXTURES.rglob("*.py"):
        (folder / f"fixture_{path.stem}.py").write_bytes(path.read_bytes())


def _output(command: list[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "kdoctor", *command, "--target", "keras==3.15.1"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def test_findings_and_fixes_are_the_same_without_the_room(tmp_path):
    _write_examples(tmp_path)
    for command in (["scan", ".", "--no-cache", "--format", "json"], ["fix", ".", "--unsafe"]):
        usual = _output(command, tmp_path)
        plain = _output(command, tmp_path, **{PLAIN: "1"})
        if command[0] == "scan":
            found, others = json.loads(usual)["findings"], json.loads(plain)["findings"]
            assert len(found) > _SAMPLED // 4
            assert [each for each in others if each not in found] == []
        assert plain == usual


def test_without_the_room_libcst_parses(monkeypatch):
    assert parse("x = 1\n").built is not None
    monkeypatch.setenv(PLAIN, "1")
    assert parse("x = 1\n").built is None


def test_a_program_that_imports_kdoctor_sees_libcst_unpatched(tmp_path):
    for order in ("first", "later"):
        done = subprocess.run(
            [sys.executable, "-c", _LIBRARY, str(tmp_path), order],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.strip() == "unpatched", done.stderr
