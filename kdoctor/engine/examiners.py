"""This process's examiners, one for each target and rule selection."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kdoctor.engine.schedule.task import Priority, ScanOptions, Source, Task
from kdoctor.target import Target

if TYPE_CHECKING:
    from kdoctor.engine.examine import Examiner
    from kdoctor.modules.exports import ProjectPackage
    from kdoctor.value_types import Observation

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
_packages: list[ProjectPackage] = []  # that this process has made


def forget() -> None:
    """Drop cached project modules: they may have changed since the last call.

    What refers to itself would stay until a collector comes: it is emptied.
    """
    while _packages:
        _packages.pop().forget()
    _examiner_for.cache_clear()
    _package_for.cache_clear()


def forget_trees() -> None:
    """Drop the trees of the files that were examined last."""
    for each in _packages:
        each.forget_trees()


def examiner_of(scan_options: ScanOptions, task: Task) -> Examiner:
    """Return the examiner for one file, with the file prefetched."""
    examiner = examiner_for(scan_options.aimed(task))
    if task.priority is Priority.IMPORTED:
        examiner.prefetch(task.source.path)
    return examiner


def examiner_for(scan_options: ScanOptions) -> Examiner:
    """Return this process's examiner for these options.

    It is the same for all projects that have the same release, wherever each of them names it.
    """
    examiner = _examiner_for(replace(scan_options, target=scan_options.target.as_examined))
    examiner.evict_if_large()
    return examiner


@lru_cache(maxsize=32)  # one a target and choice of rules; a run with more makes some anew
def _examiner_for(scan_options: ScanOptions) -> Examiner:
    # Imported when the first file is worth it: libcst takes longer than a scan without Keras.
    from kdoctor.syntax.lowering.libcst_import_patch import import_libcst  # noqa: PLC0415

    import_libcst()
    from kdoctor.engine.examine import Examiner  # noqa: PLC0415

    return Examiner(
        scan_options,
        _package_for(
            scan_options.target,
            scan_options.folder,
            cached=scan_options.cached,
            follows_types=scan_options.project_types,
            observations=scan_options.observations,
        ),
    )


def preload(scan_options: ScanOptions) -> None:
    """Load what nearly every file needs: rules, libcst, API tables.

    What files before have left is forgotten: each process would have to copy it to let it go.
    """
    # First: it imports libcst the lean way, which the rules would not.
    examiner = examiner_for(scan_options)
    examiner.forget()
    from kdoctor.rules import all_rules  # noqa: PLC0415

    all_rules()  # in many files there is a word for each
    examiner.scan(Task(Source("usual.py", _USUAL), len(_USUAL)))


@lru_cache(maxsize=8)
def _package_for(
    target: Target,
    folder: str,
    *,
    cached: bool,
    follows_types: bool,
    observations: tuple[Observation, ...],
) -> ProjectPackage:
    """Return the project's modules for one target, shared by all rule selections."""
    from kdoctor.keras_api import oracle  # noqa: PLC0415
    from kdoctor.modules.exports import ProjectPackage  # noqa: PLC0415

    stars = oracle(target).star_names
    package = ProjectPackage(
        stars,
        start=folder,
        listens=cached,
        follows_types=follows_types,
        observations=observations,
    )
    _packages.append(package)
    return package
