"""Scan many files: paths in, one result out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, Unpack

from msgspec.structs import replace

from kdoctor.engine.cache.recorder import Noted, noted
from kdoctor.engine.options import Options, Paths, each_of
from kdoctor.engine.result import FileScan, ScanResult
from kdoctor.engine.schedule.dispatch import run
from kdoctor.engine.schedule.jobs import Orders, Source, Task, Turn
from kdoctor.engine.schedule.plan import Plan
from kdoctor.target import Target

if TYPE_CHECKING:
    from kdoctor.engine.examine import Examiner
    from kdoctor.modules.exports import ProjectPackage

# Code that asks for most of what is read or made when it is first needed.
_USUAL = b"""\
import keras.backend as K
import tensorflow as tf
from keras.layers import Dense
from keras.optimizers import SGD

def loss(y_true, y_pred):
    return K.mean(K.square(y_pred - y_true), axis=-1)

model = tf.keras.Sequential([Dense(1, input_dim=1)])
model.compile(SGD(lr=0.1), loss=loss)
model.fit_generator(batches, nb_epoch=1)
"""
_NOTHING: Final = FileScan()


def scan(paths: Paths, **options: Unpack[Options]) -> ScanResult:
    """Return what is wrong with the files at or below ``paths``. Nothing is written or run.

    One path may stand by itself.

    A file that cannot be read or parsed is named in the result; the others go on.

    >>> scan(["train.py"], target="keras==3.15.1").findings        # doctest: +SKIP
    (Finding(code='KD101', …),)

    Raises:
        UsageProblem: a path, rule or target does not exist.
    """
    plan = Plan(each_of(paths), options)
    forget()
    run_all = partial(
        run, workers=plan.workers, progress=options.get("progress"), get_ready=get_ready
    )
    if plan.cache is None:
        scans = run_all(_scan, plan.orders, plan.as_found())
    else:
        scans = plan.cache.through(
            plan.orders,
            plan.tasks,
            partial(run_all, _scan_noted, plan.orders),
            of_scan=lambda scan: scan,
            scan_of=lambda scan: scan,
        )
    return collected(plan, scans)


def collected(plan: Plan, scans: Sequence[FileScan]) -> ScanResult:
    """Put the results of the files together, in the order of their paths."""
    gathered = plan.gathered
    scans = [scan for scan in scans if scan != _NOTHING]  # most are
    unreadable = [*gathered.unreadable, *(scan.unreadable for scan in scans if scan.unreadable)]
    uses = plan.targets.uses(plan.tasks)
    return ScanResult(
        target=uses[0].target,
        findings=tuple(finding for scan in scans for finding in scan.findings),
        lines={place: line for scan in scans for place, line in scan.lines.items()},
        regions={place: region for scan in scans for place, region in scan.regions.items()},
        read=gathered.read,
        files=tuple(gathered.files),
        skipped=tuple(part for scan in scans for part in scan.skipped),
        unreadable=tuple(sorted(unreadable, key=lambda file: (file.path, file.why))),
        project=plan.notes,
        targets=uses,
        anchors={place: anchor for scan in scans for place, anchor in scan.anchors.items()},
        suppressed=tuple(each for scan in scans for each in scan.suppressed),
        own_targets=tuple(scan.own_target for scan in scans if scan.own_target),
    )


def _scan(orders: Orders, tasks: Sequence[Task]) -> list[FileScan]:
    return [examiner_of(orders, task).scan(task) for task in tasks]


def _scan_noted(orders: Orders, tasks: Sequence[Task]) -> list[Noted[FileScan]]:
    noted_ones = []
    for task in tasks:
        examiner = examiner_of(orders, task)
        noted_ones.append(
            noted(task.source, orders.folder, examiner.trace, partial(examiner.scan, task))
        )
    return noted_ones


def forget() -> None:
    """Forget what is known of the project's modules: they may have changed since the last call."""
    _examiner_for.cache_clear()
    _package_for.cache_clear()


def examiner_of(orders: Orders, task: Task) -> Examiner:
    """Return the examiner for one file, of which it knows already what others will ask."""
    examiner = examiner_for(orders.aimed(task))
    if task.turn is Turn.IMPORTED:
        examiner.foresee(task.source.path)
    return examiner


def examiner_for(orders: Orders) -> Examiner:
    """Return this process's examiner, which keeps some of what it learns between files.

    It is the same for all projects that have the same release, wherever each of them names it.
    """
    examiner = _examiner_for(replace(orders, target=orders.target.without_source))
    examiner.forget_much()
    return examiner


@lru_cache(maxsize=32)  # one a target and choice of rules; a run with more makes some anew
def _examiner_for(orders: Orders) -> Examiner:
    # Imported when the first file is worth it: libcst takes longer than a scan without Keras.
    from kdoctor.syntax.lowering.libcst_import_patch import import_libcst  # noqa: PLC0415

    import_libcst()
    from kdoctor.engine.examine import Examiner  # noqa: PLC0415

    return Examiner(orders, _package_for(orders.target, orders.folder, orders.cached))


def get_ready(orders: Orders) -> None:
    """Make what nearly every file needs: rules, libcst, the tables of Keras' names and classes.

    What files before have left is forgotten: each process would have to copy it to let it go.
    """
    examiner = examiner_for(orders)  # it imports libcst the lean way, which the rules would not
    examiner.forget()
    from kdoctor.rules import all_rules  # noqa: PLC0415

    all_rules()  # in many files there is a word for each
    examiner.scan(Task(Source("usual.py", _USUAL), len(_USUAL)))


@lru_cache(maxsize=8)
def _package_for(target: Target, folder: str, cached: bool) -> ProjectPackage:  # noqa: FBT001
    """Return the project's modules as seen on one target, the same for all choices of rules."""
    from kdoctor.keras_api import knowledge  # noqa: PLC0415
    from kdoctor.modules.exports import ProjectPackage  # noqa: PLC0415

    return ProjectPackage(knowledge(target).star_names, start=folder, listens=cached)
