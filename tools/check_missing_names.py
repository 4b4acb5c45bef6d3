"""Hold kdoctor to a table of names that real code uses and Keras 3 lacks.

    python tools/check_missing_names.py /path/to/missing-names.csv
    python tools/check_missing_names.py names.csv --list            # every name without a safe fix

The table has the columns ``missing_name``, ``occurrences``, ``repos_via_keras`` and
``repos_via_tf.keras``. Each name is written as ``from a.b import c``, as ``a.b.c`` and as
``import a.b as d``, under each root that it was seen with; kdoctor's verdict is held against what
the installed Keras does with these very programs. Then each name is used as old code uses it (a
call with its required arguments, a member of a module), and mended.

Exit code 1 if a verdict is wrong.
"""

from __future__ import annotations

import argparse
import collections
import csv
import dataclasses
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from kdoctor import keras_api
from kdoctor.engine import fix, scan
from kdoctor.keras_api import EntryKind, Signature, split_root
from kdoctor.keras_api.surface import surface_on
from kdoctor.model import Applicability, Finding
from kdoctor.target import Target

RUN = Path(__file__).with_name("run_programs.py")
ATTRIBUTE_OF = {"tensorflow": "tf"}  # how a package is imported before a name is read off it
OLD = ("keras==2.15", "keras==2.10", "keras==2.6", "keras==2.3", "keras==2.2", "keras==2.0")
# How old code calls what must be given more, or otherwise, than its signature says: Keras 2.3 took
# nothing but lists for K.function, and a placeholder has a shape.
TYPICAL = {
    "backend.function": "([inputs], [outputs])",
    "backend.placeholder": "(shape=(None, 3))",
    "backend.set_learning_phase": "(0)",
    "regularizers.l1l2": "(0.1, 0.1)",
}
STATEMENTS = (
    ".set_learning_phase", ".set_session", ".set_image_dim_ordering", ".set_value",
    ".convert_all_kernels_in_model",
)  # fmt: skip
_LAYER = "class Mine(Layer):\n    def call(self, x, training=None):\n        {}"
_GROWTH = "tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))"
# What hangs on where it stands. Each shape has the share that it had of the uses that were counted
# in 110 packages of Keras 2 times; {} is how the name is written.
SHAPES = {
    "backend.in_train_phase": (
        (_LAYER.format("return {}(x * 2, x, training=training)"), 18),
        ("x = {}(a, b)", 6),
    ),
    "backend.learning_phase": (
        (_LAYER.format("training = {}()"), 3),
        ("f = K.function([x, {}()], [y])\nf([data, 0])[0]", 8),
        ("x = {}()", 18),
    ),
    "backend.get_session": (
        ("{}().run(tf.global_variables_initializer())", 4),
        ("x = {}().run(value)", 3),
        ("x = value.eval(session={}())", 3),
        ("sess = {}()", 12),
    ),
    "backend.set_session": ((f"{{}}({_GROWTH})", 7), ("{}(sess)", 6)),
    "tensorflow_backend.set_session": ((f"{{}}({_GROWTH})", 7), ("{}(sess)", 6)),
    "layers.Merge": (("x = {}([a, b], mode='concat')", 1),),
    "topology.Merge": (("x = {}([a, b], mode='concat')", 1),),
    "utils.convert_all_kernels_in_model": (("if K.backend() == 'theano':\n    {}(model)", 1),),
    "layer_utils.convert_all_kernels_in_model": (
        ("if K.backend() == 'theano':\n    {}(model)", 1),
    ),
    "backend.pattern_broadcast": (("if K.backend() == 'theano':\n    x = {}(x, [True])", 1),),
    "keras.initializations": (("x = {}.get('uniform')", 1),),
    "AveragePooling2D": (("x = {}((2, 2))", 1),),
    "AvgPool2D": (("x = {}((2, 2))", 1),),
}
BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclasses.dataclass(frozen=True)
class Row:
    """One name of the table under one root, and how often it occurs there."""

    name: str
    occurrences: float
    read_off: bool = False  # written as an attribute, not in an import

    @property
    def is_backend(self) -> bool:
        """Whether KD101 speaks of it."""
        split = split_root(self.name)
        return split is not None and split[1].startswith("backend.")


@dataclasses.dataclass
class Cure:
    """What becomes of one name: the share of its uses that are mended, and why not all."""

    row: Row
    mended: float
    safe: float
    reasons: tuple[str, ...]


def main() -> int:
    """Read the table, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--list", action="store_true", help="also list what has no safe fix")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    arguments = parser.parse_args()
    rows = [row for row in rows_of(arguments.table) if arguments.only in row.name]
    wrong = list(wrong_verdicts(rows))
    for line in wrong:
        print(line)
    print(f"{len(rows)} names (by root), {len(wrong)} wrong verdicts")
    report([cure(row, rows) for row in rows], everything=arguments.list)
    return 1 if wrong else 0


def rows_of(table: Path) -> list[Row]:
    """Return the names of the table, one for each root that they were seen with."""
    found = []
    with table.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            name = line["missing_name"].rstrip(".")
            name = f"tensorflow{name[2:]}" if name.startswith("tf.") else name
            weights = {name: int(line["repos_other_root"])}
            if name.startswith("keras."):
                weights[name] += int(line["repos_via_keras"])
                weights[f"tensorflow.{name}"] = int(line["repos_via_tf.keras"])
            total = sum(weights.values())
            found += [
                Row(
                    written,
                    int(line["occurrences"]) * repositories / total,
                    line["k3_error"] == "AttributeError",
                )
                for written, repositories in weights.items()
                if repositories
            ]
    return found


# The verdicts


def wrong_verdicts(rows: list[Row]) -> Iterator[str]:
    """Yield a line for each program on which kdoctor and the installed Keras do not agree."""
    programs = list(dict.fromkeys(each for row in rows for each in programs_for(row.name)))
    for program, raised in zip(programs, run(programs), strict=True):
        errors = [each for each in findings(program) if each.severity == "error"]
        shown = program.replace("\n", "; ")
        if raised is None and errors:
            yield f"FALSE ALARM {shown}: {errors[0].message}"
        elif raised is not None and not errors:
            yield f"MISSED {shown}: {raised.splitlines()[0]}"
        elif raised is not None and not any(_tells(each, raised) for each in errors):
            yield f"OTHER REASON {shown}: {raised.splitlines()[0]} | {errors[0].message}"


def _tells(finding: Finding, raised: str) -> bool:
    kind, _, text = raised.splitlines()[0].partition(": ")
    # Behind it stands the path of the file; a sentence is long enough to be known by its start.
    text = text.partition(" (/")[0].partition(" (unknown location")[0][:60]
    return kind in finding.message and text in finding.message


def programs_for(name: str) -> Iterator[str]:
    """Yield the ways of getting at a dotted name."""
    parent, _, leaf = name.rpartition(".")
    package, _, rest = name.partition(".")
    if not parent:
        yield f"import {name}"
        return
    yield f"from {parent} import {leaf}"
    yield f"import {parent} as d\nd.{leaf}"
    alias = ATTRIBUTE_OF.get(package)
    yield f"import {package} as {alias}\n{alias}.{rest}" if alias else f"import {package}\n{name}"


def findings(program: str) -> list[Finding]:
    """Return what kdoctor says about the names of a program."""
    found = scan(["-"], stdin=f"{program}\n".encode(), select=["KD1"], diffs=False).findings
    return list(found)


def run(programs: list[str]) -> list[str | None]:
    """Run programs on the installed frameworks; return the exception of each, or None."""
    done = subprocess.run(
        [sys.executable, str(RUN)], input=json.dumps(programs), text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    answers: list[str | None] = json.loads(done.stdout.splitlines()[-1])
    return answers


# The cures


def cure(row: Row, rows: list[Row]) -> Cure:
    """Use a name as old code does, mend it, and see what is left."""
    mended, safe, total, reasons = 0.0, 0.0, 0.0, []
    for use, weight in uses_of(row, rows):
        found = [each for each in findings(use) if each.severity == "error"]
        fixes = [each.fix for each in found if each.fix is not None]
        whole = found and len(fixes) == len(found) and not left_in(use)
        total += weight
        mended += weight * bool(whole)
        safe += weight * (bool(whole) and all(e.applicability is Applicability.SAFE for e in fixes))
        reasons += [_why(each) for each in found if each.fix is None]
        reasons += [each.unsafe_because for each in fixes if each.unsafe_because and whole]
        reasons += ["not reported"] * (not found)
    return Cure(row, mended / total, safe / total, tuple(dict.fromkeys(reasons)))


def _why(finding: Finding) -> str:
    return f"{finding.no_fix_because or ''} [{finding.help}]"


def left_in(use: str) -> list[Finding]:
    """Return the errors that are left when all fixes are made."""
    result = fix(["-"], stdin=f"{use}\n".encode(), select=["KD1"], unsafe=True)
    after = result.files[0].after.decode() if result.files else use
    return [each for each in findings(after) if each.severity == "error"]


def uses_of(row: Row, rows: list[Row]) -> Iterator[tuple[str, float]]:
    """Yield programs that use a name, and how much each counts.

    A module is used by what the table has below it; without such rows by all that its last release
    has there.
    """
    below = {
        each.name: each.occurrences
        for each in rows
        if each.name.startswith(f"{row.name}.") and not is_module(each.name)
    }
    if is_module(row.name) and not below:
        below = dict.fromkeys(members_of(row.name), 1.0)
    for member, weight in (below or {row.name: 1.0}).items():
        shapes = next((SHAPES[each] for each in SHAPES if f".{member}".endswith(f".{each}")), ())
        total = sum(share for _, share in shapes)
        for shape, share in shapes:
            yield written(row, member, shape), weight * share / total
        if not shapes:
            result = "" if member.endswith(STATEMENTS) else "x = "
            yield written(row, member, f"{result}{{}}{arguments(member)}"), weight


def written(row: Row, member: str, shape: str) -> str:
    """Return a program that uses ``member``, which is the row's name or stands below it."""
    parent, _, leaf = row.name.rpartition(".")
    below = member.removeprefix(row.name)
    needs = [
        line
        for word, line in (
            ("tf.", "import tensorflow as tf\n"),
            ("K.", f"from {root_of(row.name)} import backend as K\n"),
            ("(Layer)", f"from {root_of(row.name)}.layers import Layer\n"),
        )
        if word in shape
    ]
    if not parent:
        imported, name = f"import {row.name}", row.name
    elif row.read_off:
        package, _, rest = row.name.partition(".")
        alias = ATTRIBUTE_OF.get(package, package)
        imported, name = f"import {package} as {alias}", f"{alias}.{rest}"
    else:
        imported, name = f"from {parent} import {leaf}", leaf
    return f"{imported}\n{''.join(needs)}{shape.replace('{}', name + below)}"


def root_of(name: str) -> str:
    """Return ``tensorflow.keras`` of ``tensorflow.keras.backend.sum``."""
    return "tensorflow.keras" if name.startswith("tensorflow") else "keras"


def is_module(name: str) -> bool:
    """Say whether a name was a module, as far as old releases or the table tell."""
    found = old_lookup(name)
    if found is None:
        return name == "tensorflow.python" or name.rpartition(".")[2].islower()
    return found[0].kind in (EntryKind.MODULE, EntryKind.ALIAS)


def old_lookup(name: str) -> tuple[keras_api.Lookup, Target] | None:
    """Return what a name was in the newest old release that had it."""
    # Code reads private modules off `tf.keras`, too, where they never were.
    for each in (name, name.replace("tensorflow.keras.", "keras.", 1)):
        for spec in OLD:
            target = keras_api.resolve_target(spec, "")
            found = keras_api.lookup(each, target)
            if found.presence is keras_api.Presence.EXISTS:
                return found, target
    return None


def members_of(module: str) -> list[str]:
    """Return the functions and classes that an old module had, in its own modules, too."""
    found = old_lookup(module)
    split = split_root(module)
    if found is None or split is None:
        return []
    old, target = found
    surface = surface_on(old.root or "keras", target)
    assert surface is not None
    home = surface.canonical(split[1])
    spelling = module.removesuffix(split[1])
    names = []
    for name in surface.names:
        entry = surface.entry(name)
        if (
            name.startswith(f"{home}.")
            and not name.rpartition(".")[2].startswith("_")
            and entry is not None
            and entry.kind in (EntryKind.CLASS, EntryKind.FUNCTION)
            # What a file of Keras 2 imports from elsewhere is not what it is imported for.
            and (
                surface.home(entry).startswith(old.home)
                or "keras.api" in old.home
                or target.keras_version >= "2.13"
            )
        ):
            names.append(f"{spelling}{split[1]}{name.removeprefix(home)}")
    return names


def arguments(name: str) -> str:
    """Return ``(a, b)`` with the required arguments of a callable, "" for anything else."""
    for typical, call in TYPICAL.items():
        if name.endswith(f".{typical}"):
            return call
    found = old_lookup(name)
    if found is None or found[0].kind not in (EntryKind.CLASS, EntryKind.FUNCTION):
        return ""
    signature = keras_api.signature(found[0].qualified, found[1])
    return f"({', '.join(_required(signature))})" if signature else "()"


def _required(signature: Signature) -> list[str]:
    return [
        each.name if each.kind in BY_POSITION else f"{each.name}={each.name}"
        for each in signature.parameters
        if each.default is None
        and each.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]


# The report


def report(cures: list[Cure], *, everything: bool) -> None:
    """Print the shares, and what has no fix, by reason."""
    backend = [each for each in cures if each.row.is_backend]
    others = [each for each in cures if not each.row.is_backend]
    for title, part in (("keras.backend.*", backend), ("other names", others), ("all", cures)):
        total = sum(each.row.occurrences for each in part) or 1
        mended = sum(each.row.occurrences * each.mended for each in part) / total
        safe = sum(each.row.occurrences * each.safe for each in part) / total
        print(f"{title}: {len(part)} names, {total:.0f} occurrences, "
              f"{mended:.1%} rewritten, {safe:.1%} safely")  # fmt: skip
    grouped: dict[str, list[Cure]] = collections.defaultdict(list)
    for each in cures:
        if each.mended < 1 or (everything and each.safe < 1):
            grouped["; ".join(each.reasons)[:300]].append(each)
    for reason, group in sorted(
        grouped.items(), key=lambda pair: -sum(each.row.occurrences for each in pair[1])
    ):
        print(f"\n{sum(each.row.occurrences for each in group):.0f} times: {reason}")
        for each in sorted(group, key=lambda one: -one.row.occurrences):
            print(f"    {each.row.occurrences:6.1f} {each.row.name}"
                  f" (rewritten {each.mended:.0%}, safe {each.safe:.0%})")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
