"""Reports of a project's target and its evidence, for people and programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from packaging.version import Version

from kdoctor.project import Chain, Evidence, EvidenceSource
from kdoctor.report.output import Page, printable

_NEWEST = "newest Keras 3 known"
_MADE_BY_KERAS = Version("2.6")  # the first TensorFlow whose tf.keras is the package keras


def write_text(chain: Chain, page: Page) -> None:
    """Write the target, what it means, and each place that was checked, in order."""
    target = chain.target
    page.line(f"{page.paint('good', str(target))} ({printable(target.source)})")
    page.line()
    page.line(f"  import keras     {_keras(target.keras_version)}")
    page.line(f"  tf.keras         {_tf_keras(chain)}")
    page.line()
    page.line("Checked in this order:")
    for where, says, counts in _asked(chain):
        mark = page.paint("good", "*") if counts else " "
        page.line(f"  {mark} {page.paint('path', printable(where))}: {printable(says)}")
    if any(counts for *_, counts in _asked(chain)):
        page.line(f"  ({page.paint('good', '*')} decides)")
    if target.inferred and target.is_before_keras_3:
        page.line()
        page.line("To see what Keras 3 breaks: kdoctor scan --target keras==3")


def write_problems(chain: Chain, page: Page) -> None:
    """Write the files that contradict each other, and those that cannot be parsed."""
    for problem in chain.problems:
        page.line(f"kdoctor: {printable(problem.path)}: {printable(problem.why)}")
    for conflict in chain.conflicts:
        page.line(f"kdoctor: {printable(conflict)}")


def write_json(chain: Chain, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    target = chain.target
    document: dict[str, Any] = {
        "target": {"name": target.name, "version": target.version, "source": target.source},
        "keras": target.keras_version or None,
        "tf.keras": target.tf_keras_version or None,
        "tensorflow": chain.tensorflow or None,
        "legacy_keras": None
        if chain.flag is None
        else {"value": chain.flag.value, "place": chain.flag.place, "on": chain.flag.on},
        "asked": [
            {"place": where, "says": says, "counts": counts}
            for where, says, counts in _asked(chain)
        ],
        "evidence": [
            _evidence(each, chain) for source in chain.sources for each in source.evidence
        ],
        "conflicts": list(chain.conflicts),
        "unreadable": [{"path": problem.path, "why": problem.why} for problem in chain.problems],
    }
    page.line(json.dumps(document, indent=2))


def _asked(chain: Chain) -> Iterator[tuple[str, str, bool]]:
    """Yield each place with what it says and whether it decides."""
    yield "--target", chain.explicit or "not given", bool(chain.explicit)
    layer = chain.settings.layer("target")
    written = None if layer is None else layer.config.target
    wanted = written if isinstance(written, str) else ", ".join(written or ())
    place = layer.path if layer else chain.settings.path or "[tool.kdoctor]"
    yield place, wanted or "names no target", bool(wanted) and not chain.explicit
    for source in chain.sources:
        yield source.path, _says(source), any(each in chain.taken for each in source.evidence)
    if chain.flag is not None and chain.flag.path.startswith("$"):
        yield "the shell", f"TF_USE_LEGACY_KERAS={chain.flag.value}", chain.flag.on
    yield "otherwise", _NEWEST, chain.target.source.startswith(_NEWEST)


def _says(source: EvidenceSource) -> str:
    parts = [_requirement(each) for each in source.evidence]
    parts += [f"TF_USE_LEGACY_KERAS={flag.value}{_line(flag.line)}" for flag in source.flags]
    parts += [problem.why for problem in source.problems]
    return "; ".join(parts) or "nothing about Keras"


def _requirement(evidence: Evidence) -> str:
    conditions = " and ".join(filter(None, [evidence.group, evidence.marker]))
    where = f" ({conditions})" if conditions else ""
    return f"{evidence.requirement}{where}{_line(evidence.line)}"


def _line(line: int | None) -> str:
    return "" if line is None else f", line {line}"


def _evidence(evidence: Evidence, chain: Chain) -> dict[str, Any]:
    return {
        "path": evidence.path,
        "line": evidence.line,
        "distribution": evidence.distribution.value,
        "requirement": evidence.requirement,
        "group": evidence.group,
        "marker": evidence.marker,
        "counts": evidence in chain.taken,
    }


def _keras(version: str) -> str:
    return f"keras {version}" if version else "unknown: any may be installed with TensorFlow ≤ 2.5"


def _tf_keras(chain: Chain) -> str:
    version = chain.target.tf_keras_version
    if not version:
        return "unknown: any TensorFlow may be installed with this keras"
    if Version(version) < _MADE_BY_KERAS:
        return f"TensorFlow's own, version {version}"
    if chain.flag is not None and chain.flag.on and version != chain.target.keras_version:
        return f"tf_keras {version} (TF_USE_LEGACY_KERAS={chain.flag.value}, {chain.flag.place})"
    beside = f", with tensorflow {chain.tensorflow}" if chain.tensorflow else ""
    return f"keras {version}{beside}"
